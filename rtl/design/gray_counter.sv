// Counts events in one clock, and shows the count in another.
//
// The count there is a true past value, at most 3 of its cycles old, however the clocks lie: one
// bit changes at a time. Counts modulo 2^Bits. Reset: both sides together, as async_fifo.
module gray_counter #(
    parameter int Bits = 8
) (
    input  logic            event_clk_i,
    input  logic            event_rst_ni,
    input  logic            event_i,
    input  logic            clk_i,
    output logic [Bits-1:0] count_o
);
  logic [Bits-1:0] count_q, next, gray_q, gray;

  assign next = count_q + 1'b1;

  always_ff @(posedge event_clk_i) begin
    if (!event_rst_ni) begin
      count_q <= '0;
      gray_q <= '0;
    end else if (event_i) begin
      count_q <= next;
      gray_q <= next ^ (next >> 1);
    end
  end

  synchronizer #(.Bits(Bits)) u_gray (.clk_i(clk_i), .d_i(gray_q), .q_o(gray));

  // Bit i of the count: the parity of the Gray code's bits from i up.
  always_comb for (int i = 0; i < Bits; i++) count_o[i] = ^(gray >> i);
endmodule
