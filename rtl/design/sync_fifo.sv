// A first-in first-out queue within one clock.
//
// Stream law at both ends: once valid, valid stays and data stay as they are until ready.
// Latency: 1 cycle from a write into an empty queue to valid_o. Throughput: one word a cycle.
// Overflow: a full queue is not ready; nothing is lost. Reset empties it.
module sync_fifo #(
    parameter int Bits  = 32,
    parameter int Depth = 4  // a power of two
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      valid_i,
    output logic                      ready_o,
    input  logic [          Bits-1:0] data_i,
    output logic                      valid_o,
    input  logic                      ready_i,
    output logic [          Bits-1:0] data_o,
    output logic [$clog2(Depth):0] used_o
);
  localparam int IndexBits = $clog2(Depth);

  initial if (Depth < 2 || (1 << IndexBits) != Depth) $fatal(1, "sync_fifo: Depth: want a power of two");

  logic [Bits-1:0] words[0:Depth-1];
  logic [IndexBits:0] write_q, read_q;  // one bit more than an index: full and empty differ

  assign used_o  = write_q - read_q;
  assign ready_o = !used_o[IndexBits];
  assign valid_o = write_q != read_q;
  assign data_o  = words[read_q[IndexBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) words[write_q[IndexBits-1:0]] <= data_i;
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (valid_i && ready_o) write_q <= write_q + 1'b1;
      if (valid_o && ready_i) read_q <= read_q + 1'b1;
    end
  end
endmodule
