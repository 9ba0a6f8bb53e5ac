// What waits beside a pipeline without back-pressure: pushed where an item enters the pipeline,
// popped where it comes out, in order.
//
// Latency: data_o is the oldest word, from the cycle after its push. Throughput: one word a cycle.
// Overflow: none as long as the pipeline holds at most Depth items; that is who uses it to see to.
// Reset empties it.
module side_queue #(
    parameter int Bits  = 32,
    parameter int Depth = 16  // a power of two
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            push_i,
    input  logic [Bits-1:0] data_i,
    input  logic            pop_i,
    output logic [Bits-1:0] data_o
);
  localparam int IndexBits = $clog2(Depth);

  initial if (Depth < 2 || (1 << IndexBits) != Depth) $fatal(1, "side_queue: Depth: want a power of two");

  logic [Bits-1:0] words[0:Depth-1];
  logic [IndexBits-1:0] write_q, read_q;

  assign data_o = words[read_q];

  always_ff @(posedge clk_i) begin
    if (push_i) words[write_q] <= data_i;
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (push_i) write_q <= write_q + 1'b1;
      if (pop_i) read_q <= read_q + 1'b1;
    end
  end
endmodule
