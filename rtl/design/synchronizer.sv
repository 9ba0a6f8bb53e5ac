// Brings levels of another clock over: two flops a bit.
//
// Each bit alone is safe; several bits may come a cycle apart, so a bus must be Gray-coded or still.
// Latency: 2 to 3 cycles. No reset: the output follows the input.
module synchronizer #(
    parameter int Bits = 1
) (
    input  logic            clk_i,
    input  logic [Bits-1:0] d_i,
    output logic [Bits-1:0] q_o
);
  logic [Bits-1:0] first_q;

  always_ff @(posedge clk_i) begin
    first_q <= d_i;
    q_o <= first_q;
  end
endmodule
