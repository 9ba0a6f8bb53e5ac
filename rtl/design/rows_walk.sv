// Reads the words of several rows from vector memory, in one of two orders, and says of each word
// that comes back which one it is.
//
// start_i (while busy_o is low) takes the walk's bounds; then one request a cycle while go_i allows
// it, row by row or, with word_major_i, word by word over all rows. A word from `readable_i` on
// does not exist: the last one is read in its place, and word_o says that it lies outside. Latency:
// 1 cycle from the start to the first request. Throughput: one word a cycle. A request once made
// stays until it is granted, whatever go_i does. At most 8 words may be under way between grant and
// data. Reset stops the walk and forgets what is under way.
module rows_walk (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,
    input  logic [ 1:0] kind_i,        // handed through to kind_o
    input  logic        word_major_i,
    input  logic [15:0] base_i,
    input  logic [15:0] stride_i,
    input  logic [ 5:0] rows_i,        // 1 to 32
    input  logic [15:0] words_i,       // of a row, at least 1
    input  logic [15:0] readable_i,    // of these, those that exist
    output logic        busy_o,        // requests are still to be made or granted
    output logic [ 4:0] next_row_o,    // of the next request
    input  logic        go_i,
    output logic        issued_o,      // a request was taken up in this cycle
    output logic        vm_read_valid_o,
    input  logic        vm_read_ready_i,
    output logic [15:0] vm_read_address_o,
    input  logic        vm_data_valid_i,
    output logic [ 1:0] kind_o,        // of the word that comes now
    output logic [ 4:0] row_o,
    output logic [15:0] word_o,
    output logic        last_row_o,
    output logic        last_word_o
);
  localparam int TagBits = 2 + 5 + 16 + 1 + 1;

  logic active_q, word_major_q, request_q;
  logic [1:0] kind_q;
  logic [15:0] stride_q, words_q, readable_q;
  logic [5:0] rows_q;
  logic [15:0] outer_q, address_q, request_address_q;
  logic [4:0] row_q;
  logic [15:0] word_q;
  logic [TagBits-1:0] request_tag_q, data_tag;

  logic last_row, last_word, issue, next_word_exists;
  logic unused_ready, unused_valid;
  logic [3:0] unused_used;

  assign last_row         = {1'b0, row_q} + 6'd1 == rows_q;
  assign last_word        = word_q + 16'd1 == words_q;
  assign next_word_exists = word_q + 16'd1 < readable_q;
  assign issue            = active_q && go_i && (!request_q || vm_read_ready_i);

  assign issued_o          = issue;
  assign busy_o            = active_q || request_q;
  assign next_row_o        = row_q;
  assign vm_read_valid_o   = request_q;
  assign vm_read_address_o = request_address_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      active_q     <= 1'b1;
      kind_q       <= kind_i;
      word_major_q <= word_major_i;
      stride_q     <= stride_i;
      rows_q       <= rows_i;
      words_q      <= words_i;
      readable_q   <= readable_i;
      outer_q      <= base_i;
      address_q    <= base_i;
      row_q        <= '0;
      word_q       <= '0;
    end else if (issue) begin
      if (word_major_q) begin
        row_q     <= last_row ? '0 : row_q + 5'd1;
        address_q <= last_row ? outer_q + {15'd0, next_word_exists} : address_q + stride_q;
        if (last_row) begin
          word_q   <= word_q + 16'd1;
          outer_q  <= outer_q + {15'd0, next_word_exists};
          active_q <= !last_word;
        end
      end else begin
        word_q    <= last_word ? '0 : word_q + 16'd1;
        address_q <= last_word ? outer_q + stride_q : address_q + {15'd0, next_word_exists};
        if (last_word) begin
          row_q    <= row_q + 5'd1;
          outer_q  <= outer_q + stride_q;
          active_q <= !last_row;
        end
      end
    end
    if (issue) begin
      request_q         <= 1'b1;
      request_address_q <= address_q;
      request_tag_q     <= {kind_q, row_q, word_q, last_row, last_word};
    end else if (vm_read_ready_i) begin
      request_q <= 1'b0;
    end
    if (!rst_ni) begin
      active_q  <= 1'b0;
      request_q <= 1'b0;
    end
  end

  sync_fifo #(
      .Bits (TagBits),
      .Depth(8)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .valid_i(request_q && vm_read_ready_i),
      .ready_o(unused_ready),
      .data_i (request_tag_q),
      .valid_o(unused_valid),
      .ready_i(vm_data_valid_i),
      .data_o (data_tag),
      .used_o (unused_used)
  );

  assign {kind_o, row_o, word_o, last_row_o, last_word_o} = data_tag;
endmodule
