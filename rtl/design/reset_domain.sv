// A reset (active low) of any clock, as a clock of its own sees it.
//
// rst_no follows within 2 to 3 cycles, both ways; it needs the clock to run, as all resets here are
// synchronous. in_reset_o rises when the reset has lasted for 4 cycles (what async_fifo wants) and
// falls when it has been over for 12 (what pulse_crossing wants).
module reset_domain (
    input  logic clk_i,
    input  logic rst_ni,
    output logic rst_no,
    output logic in_reset_o
);
  logic [3:0] lasted_q;  // cycles that rst_no has stood as it does
  logic before_q;

  synchronizer #(.Bits(1)) u_reset (.clk_i, .d_i(rst_ni), .q_o(rst_no));

  always_ff @(posedge clk_i) begin
    before_q <= rst_no;
    if (before_q != rst_no) lasted_q <= 4'd0;
    else if (lasted_q != 4'd12) lasted_q <= lasted_q + 4'd1;
    if (!before_q && lasted_q == 4'd4) in_reset_o <= 1'b1;
    else if (before_q && lasted_q == 4'd12) in_reset_o <= 1'b0;
  end
endmodule
