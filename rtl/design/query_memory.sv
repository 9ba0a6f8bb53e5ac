// Query memory: words of 32 int16, and an exponent of each head; one write and one read port each.
//
// Data 2 cycles after a read; they stay until the next read of the port. What is written is read
// from the next cycle on. Reset does nothing.
module query_memory #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic         clk_i,
    input  logic         write_valid_i,
    input  logic [ 15:0] write_address_i,
    input  logic [511:0] write_data_i,
    input  logic         write_exponent_valid_i,
    input  logic [ 15:0] write_exponent_address_i,
    input  logic [  7:0] write_exponent_i,
    input  logic         read_valid_i,
    input  logic [ 15:0] read_address_i,
    output logic [511:0] read_data_o,
    input  logic         read_exponent_valid_i,
    input  logic [ 15:0] read_exponent_address_i,
    output logic [  7:0] read_exponent_o
);
  localparam int Words = Config.query_words;
  localparam int AddressBits = $clog2(Words);

  logic [511:0] words[0:Words-1];
  logic [7:0] exponents[0:Words-1];
  logic [511:0] data_q;
  logic [7:0] exponent_q;
  logic valid_q, exponent_valid_q, unused_address;

  assign unused_address = ^{write_address_i, write_exponent_address_i, read_address_i,
                            read_exponent_address_i};

  always_ff @(posedge clk_i) begin
    if (write_valid_i) words[write_address_i[AddressBits-1:0]] <= write_data_i;
    if (read_valid_i) data_q <= words[read_address_i[AddressBits-1:0]];
    if (valid_q) read_data_o <= data_q;
    valid_q <= read_valid_i;
    if (write_exponent_valid_i) begin
      exponents[write_exponent_address_i[AddressBits-1:0]] <= write_exponent_i;
    end
    if (read_exponent_valid_i) begin
      exponent_q <= exponents[read_exponent_address_i[AddressBits-1:0]];
    end
    if (exponent_valid_q) read_exponent_o <= exponent_q;
    exponent_valid_q <= read_exponent_valid_i;
  end
endmodule
