// A first-in first-out queue from one clock to another: Gray-coded pointers over two flops, and a
// register behind the memory, so that the memory is read as block RAM is.
//
// Stream law at both ends: once valid, valid stays and data stay as they are until ready.
// Holds Depth words and one more in the output register. Latency: about 3 cycles of the read clock.
// Throughput: one word a cycle of the slower clock. Overflow: a full queue is not ready; nothing is
// lost. Reset empties it: both sides must be in reset together for three cycles of each clock, and may
// then leave it in any order.
module async_fifo #(
    parameter int Bits  = 32,
    parameter int Depth = 16  // a power of two, at least 4
) (
    input  logic            write_clk_i,
    input  logic            write_rst_ni,
    input  logic            valid_i,
    output logic            ready_o,
    input  logic [Bits-1:0] data_i,
    input  logic            read_clk_i,
    input  logic            read_rst_ni,
    output logic            valid_o,
    input  logic            ready_i,
    output logic [Bits-1:0] data_o
);
  localparam int IndexBits = $clog2(Depth);
  localparam int PointerBits = IndexBits + 1;  // one bit more than an index: full and empty differ

  initial if (Depth < 4 || (1 << IndexBits) != Depth) $fatal(1, "async_fifo: Depth: want a power of two from 4 on");

  logic [Bits-1:0] words[0:Depth-1];

  // Write side.
  logic [PointerBits-1:0] write_q, write_next, write_gray_q, read_gray_there;

  assign write_next = write_q + 1'b1;
  // Full: the pointers differ by Depth, in Gray code in the two highest bits alone.
  assign ready_o = write_gray_q != (read_gray_there ^ {2'b11, {(PointerBits - 2) {1'b0}}});

  always_ff @(posedge write_clk_i) begin
    if (valid_i && ready_o) words[write_q[IndexBits-1:0]] <= data_i;
    if (!write_rst_ni) begin
      write_q <= '0;
      write_gray_q <= '0;
    end else if (valid_i && ready_o) begin
      write_q <= write_next;
      write_gray_q <= write_next ^ (write_next >> 1);
    end
  end

  // Read side.
  logic [PointerBits-1:0] read_q, read_next, read_gray_q, write_gray_here;
  logic load;

  assign read_next = read_q + 1'b1;
  assign load = read_gray_q != write_gray_here && (!valid_o || ready_i);

  always_ff @(posedge read_clk_i) begin
    if (load) data_o <= words[read_q[IndexBits-1:0]];
    if (!read_rst_ni) begin
      read_q <= '0;
      read_gray_q <= '0;
      valid_o <= 1'b0;
    end else begin
      if (load) begin
        read_q <= read_next;
        read_gray_q <= read_next ^ (read_next >> 1);
      end
      if (load) valid_o <= 1'b1;
      else if (ready_i) valid_o <= 1'b0;
    end
  end

  synchronizer #(.Bits(PointerBits)) u_write (
      .clk_i(read_clk_i),
      .d_i(write_gray_q),
      .q_o(write_gray_here)
  );
  synchronizer #(.Bits(PointerBits)) u_read (
      .clk_i(write_clk_i),
      .d_i(read_gray_q),
      .q_o(read_gray_there)
  );
endmodule
