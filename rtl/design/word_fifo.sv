// A first-in first-out queue of wide words, each with a tag, in block memory, its output in a
// register.
//
// Stream law at both ends: once valid, valid stays and data stay as they are until ready. Latency:
// 2 cycles from a write into an empty queue to valid_o. Throughput: one word a cycle. Overflow: a
// full queue is not ready; nothing is lost. Holds Depth words and the one at the output. Reset
// empties it.
module word_fifo #(
    parameter int Bits    = 1024,
    parameter int TagBits = 1,
    parameter int Depth   = 32  // a power of two
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               valid_i,
    output logic               ready_o,
    input  logic [   Bits-1:0] data_i,
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    input  logic               ready_i,
    output logic [   Bits-1:0] data_o,
    output logic [TagBits-1:0] tag_o
);
  localparam int IndexBits = $clog2(Depth);

  initial begin
    if (Depth < 2 || (1 << IndexBits) != Depth) $fatal(1, "word_fifo: Depth: want a power of two");
  end

  logic [Bits-1:0] words[0:Depth-1];
  logic [TagBits-1:0] tags[0:Depth-1];
  logic [IndexBits:0] write_q, read_q, used;  // one bit more than an index: full and empty differ
  logic [Bits-1:0] data_q;
  logic [TagBits-1:0] tag_q;
  logic valid_q, move;

  assign used    = write_q - read_q;
  assign ready_o = !used[IndexBits];
  assign move    = used != '0 && (!valid_q || ready_i);
  assign valid_o = valid_q;
  assign data_o  = data_q;
  assign tag_o   = tag_q;

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) begin
      words[write_q[IndexBits-1:0]] <= data_i;
      tags[write_q[IndexBits-1:0]]  <= tag_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) begin
      data_q <= words[read_q[IndexBits-1:0]];
      tag_q  <= tags[read_q[IndexBits-1:0]];
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) write_q <= write_q + 1'b1;
    if (move) read_q <= read_q + 1'b1;
    valid_q <= move || (valid_q && !ready_i);
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      valid_q <= 1'b0;
    end
  end
endmodule
