// Counts the cycles of one clock for a reader in another.
//
// The measured clock drives five Gray-coded bits alone; the reader's side adds up the differences,
// so the count needs no hand-over and stands still, at its last value, when the measured clock does.
// Right as long as fewer than 32 cycles of the measured clock pass in one of the reader's.
// Reset clears the sum.
module clock_counter (
    input  logic        measured_clk_i,
    input  logic        clk_i,
    input  logic        rst_ni,
    output logic [63:0] cycles_o
);
  logic [4:0] free_q, gray_q, gray, now, last_q;
  logic [4:0] next, step;

  assign next = free_q + 1'b1;

  always_ff @(posedge measured_clk_i) begin
    free_q <= next;
    gray_q <= next ^ (next >> 1);
  end

  synchronizer #(.Bits(5)) u_gray (.clk_i(clk_i), .d_i(gray_q), .q_o(gray));

  assign now = {gray[4], ^gray[4:3], ^gray[4:2], ^gray[4:1], ^gray};

  assign step = now - last_q;

  always_ff @(posedge clk_i) begin
    last_q <= now;
    if (!rst_ni) cycles_o <= '0;
    else cycles_o <= cycles_o + 64'(step);
  end
endmodule
