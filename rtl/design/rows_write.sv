// What the rows unit writes: words of rows in order, cut at the row's end, their peaks, and a queue
// in front of the vector memory's write port.
//
// start_i takes the bounds. Then words come row by row, words_i of them each, either from the
// scaled values or as a half of a super-beat; lanes from the row's last column on become +0.
// store_i says whether they are written to vector memory; cut words go to gain memory from word_*
// in any case. Words come without back-pressure: whoever sends them holds one of Depth credits for
// each, and gets it back with credit_o when the word has been written (or, with store_i low, has
// passed). Latency: 4 cycles from a word to the write request, 7 from a row's last word to its
// peak. Throughput: one word a cycle. Write requests stay until granted. Overflow: none as long as
// the credits are kept. Reset forgets what is under way.
module rows_write #(
    parameter int Depth = 32
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    input  logic                              start_i,
    input  logic                              store_i,
    input  logic [                      15:0] destination_i,
    input  logic [                      15:0] stride_i,
    input  logic [                      15:0] words_i,            // of a row, at least 1
    input  logic [                       5:0] last_lanes_i,       // of a row's last word, 1 to 32
    input  logic                              beat_valid_i,
    input  logic                              beat_half_i,
    input  logic [engine_pkg::StreamBits-1:0] beat_i,
    input  logic                              scaled_valid_i,     // not with beat_valid_i
    input  logic [  engine_pkg::WordBits-1:0] scaled_i,
    output logic                              credit_o,
    output logic                              peak_valid_o,       // rows in order
    output logic [                      30:0] peak_o,
    output logic                              word_valid_o,
    output logic [                      15:0] word_address_o,
    output logic [  engine_pkg::WordBits-1:0] word_o,
    output logic                              vm_write_valid_o,
    input  logic                              vm_write_ready_i,
    output logic [                      15:0] vm_write_address_o,
    output logic [    engine_pkg::Slices-1:0] vm_write_slices_o,
    output logic [  engine_pkg::WordBits-1:0] vm_write_data_o
);
  localparam int Lanes = engine_pkg::Lanes;
  localparam int WordBits = engine_pkg::WordBits;

  logic store_q;
  logic [15:0] stride_q, words_q, row_address_q, address_q, word_q;
  logic [5:0] last_lanes_q, lanes;
  logic valid, last_word;

  // The word, cut.
  logic valid1_q, last1_q;
  logic [15:0] address1_q;
  logic [WordBits-1:0] data1_q;

  logic unused_ready, fifo_valid;

  assign valid     = beat_valid_i || scaled_valid_i;
  assign last_word = word_q + 16'd1 == words_q;
  assign lanes     = last_word ? last_lanes_q : 6'd32;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      store_q       <= store_i;
      stride_q      <= stride_i;
      words_q       <= words_i;
      last_lanes_q  <= last_lanes_i;
      row_address_q <= destination_i;
      address_q     <= destination_i;
      word_q        <= '0;
    end else if (valid) begin
      word_q    <= last_word ? '0 : word_q + 16'd1;
      address_q <= last_word ? row_address_q + stride_q : address_q + 16'd1;
      if (last_word) row_address_q <= row_address_q + stride_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (scaled_valid_i) begin
      for (int k = 0; k < Lanes; k++) begin
        data1_q[k*32+:32] <= lanes > 6'(k) ? scaled_i[k*32+:32] : 32'd0;
      end
    end else if (beat_valid_i && !beat_half_i) begin
      for (int k = 0; k < Lanes; k++) begin
        data1_q[k*32+:32] <= lanes > 6'(k) ? beat_i[k*32+:32] : 32'd0;
      end
    end else if (beat_valid_i) begin
      for (int k = 0; k < Lanes; k++) begin
        data1_q[k*32+:32] <= lanes > 6'(k) ? beat_i[WordBits+k*32+:32] : 32'd0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid) begin
      last1_q    <= last_word;
      address1_q <= address_q;
    end
    valid1_q <= valid && rst_ni;
  end

  assign word_valid_o   = valid1_q;
  assign word_address_o = address1_q;
  assign word_o         = data1_q;

  peak_tree #(
      .Lanes(Lanes)
  ) u_peak (
      .clk_i,
      .rst_ni,
      .valid_i(valid1_q),
      .last_i (last1_q),
      .data_i (data1_q),
      .valid_o(peak_valid_o),
      .peak_o
  );

  word_fifo #(
      .Bits   (WordBits),
      .TagBits(16),
      .Depth  (Depth)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(valid1_q && store_q),
      .ready_o(unused_ready),
      .data_i (data1_q),
      .tag_i  (address1_q),
      .valid_o(fifo_valid),
      .ready_i(vm_write_ready_i),
      .data_o (vm_write_data_o),
      .tag_o  (vm_write_address_o)
  );

  assign vm_write_valid_o  = fifo_valid;
  assign vm_write_slices_o = '1;
  assign credit_o          = store_q ? fifo_valid && vm_write_ready_i : valid1_q;
endmodule
