// A reset (active low) of any clock, as a clock of its own sees it.
//
// rst_no follows within 2 to 3 cycles, both ways; it needs the clock to run, as all resets here are
// synchronous. in_reset_o says that the reset has lasted for 4 cycles (what async_fifo wants) and
// falls with it.
module reset_domain (
    input  logic clk_i,
    input  logic rst_ni,
    output logic rst_no,
    output logic in_reset_o
);
  logic [2:0] lasted_q;

  synchronizer #(.Bits(1)) u_reset (.clk_i, .d_i(rst_ni), .q_o(rst_no));

  always_ff @(posedge clk_i) begin
    lasted_q <= rst_no ? 3'd0 : {lasted_q[1:0], 1'b1};
    in_reset_o <= lasted_q[2] && !rst_no;
  end
endmodule
