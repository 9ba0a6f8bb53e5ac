// Rotary memory: for each row of the pass 4 words of 32 pairs (pair p of a word: cosine at [64p +:
// 32], sine at [64p + 32 +: 32]); one write and one read port. Word w of row r lies at 4r + w.
//
// Data 2 cycles after a read; they stay until the next read. A word written is read from the next
// cycle on. Reset does nothing.
module rotary_memory #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic          clk_i,
    input  logic          write_valid_i,
    input  logic [   6:0] write_address_i,
    input  logic [2047:0] write_data_i,
    input  logic          read_valid_i,
    input  logic [   6:0] read_address_i,
    output logic [2047:0] read_data_o
);
  localparam int Words = 4 * Config.rows;
  localparam int AddressBits = $clog2(Words);

  logic [2047:0] words[0:Words-1];
  logic [2047:0] data_q;
  logic valid_q, unused_address;

  assign unused_address = ^{write_address_i, read_address_i};

  always_ff @(posedge clk_i) begin
    if (write_valid_i) words[write_address_i[AddressBits-1:0]] <= write_data_i;
    if (read_valid_i) data_q <= words[read_address_i[AddressBits-1:0]];
    if (valid_q) read_data_o <= data_q;
    valid_q <= read_valid_i;
  end
endmodule
