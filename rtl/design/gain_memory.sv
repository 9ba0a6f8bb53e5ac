// Gain memory: words of 32 binary32; one write port and two read ports (rows unit, heads unit).
//
// Data 2 cycles after a read; they stay until the next read of the port. A word written is read
// from the next cycle on. Each read port is a copy of the block memory in hardware. Reset does
// nothing.
module gain_memory #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                            clk_i,
    input  logic                            write_valid_i,
    input  logic [                    15:0] write_address_i,
    input  logic [engine_pkg::WordBits-1:0] write_data_i,
    input  logic                            rows_read_valid_i,
    input  logic [                    15:0] rows_read_address_i,
    output logic [engine_pkg::WordBits-1:0] rows_read_data_o,
    input  logic                            heads_read_valid_i,
    input  logic [                    15:0] heads_read_address_i,
    output logic [engine_pkg::WordBits-1:0] heads_read_data_o
);
  localparam int WordBits = engine_pkg::WordBits;
  localparam int Words = Config.gain_words;
  localparam int AddressBits = $clog2(Words);

  logic [WordBits-1:0] words[0:Words-1];
  logic [WordBits-1:0] rows_q, heads_q;
  logic rows_valid_q, heads_valid_q, unused_address;

  assign unused_address = ^{write_address_i, rows_read_address_i, heads_read_address_i};

  always_ff @(posedge clk_i) begin
    if (write_valid_i) words[write_address_i[AddressBits-1:0]] <= write_data_i;
    if (rows_read_valid_i) rows_q <= words[rows_read_address_i[AddressBits-1:0]];
    if (rows_valid_q) rows_read_data_o <= rows_q;
    if (heads_read_valid_i) heads_q <= words[heads_read_address_i[AddressBits-1:0]];
    if (heads_valid_q) heads_read_data_o <= heads_q;
    rows_valid_q  <= rows_read_valid_i;
    heads_valid_q <= heads_read_valid_i;
  end
endmodule
