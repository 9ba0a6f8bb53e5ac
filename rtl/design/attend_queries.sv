// The query buffer: queries and exponents of two pairs, four heads side by side. Columns after the
// head's last count as 0 whatever they were.
//
// Latency: the word and the exponents that are asked for stand in registers one cycle later.
// Throughput: one write and one read a cycle. Nothing to reset: what is read was written before.
module attend_queries (
    input  logic          clk_i,
    input  attend_pkg::shape_t shape_i,
    input  logic          write_valid_i,
    input  logic          write_exponent_valid_i,
    input  logic          write_parity_i,
    input  logic [   3:0] write_head_i,
    input  logic [   2:0] write_word_i,
    input  logic [ 511:0] write_data_i,
    input  logic [   7:0] write_exponent_i,
    input  logic          read_valid_i,
    input  logic          read_parity_i,
    input  logic [   1:0] read_set_i,
    input  logic [   2:0] read_word_i,
    output logic [2047:0] read_data_o,      // head q of the set at [512q +: 512]
    output logic [  31:0] read_exponents_o  // head q of the set at [8q +: 8]
);
  logic partial;  // the last word has columns to spare
  assign partial = write_word_i == shape_i.last_word && shape_i.spare != 5'd0;

  for (genvar q = 0; q < 4; q++) begin : g_head
    logic [511:0] words[0:63];
    logic [7:0] exponents[0:7];

    always_ff @(posedge clk_i) begin
      if (write_valid_i && write_head_i[1:0] == q) begin : write
        logic [511:0] data;
        data = write_data_i;
        for (int i = 0; i < 32; i++) begin
          if (partial && 5'(i) >= shape_i.spare) data[16*i+:16] = 16'd0;
        end
        words[{write_parity_i, write_head_i[3:2], write_word_i}] <= data;
        if (write_exponent_valid_i) begin
          exponents[{write_parity_i, write_head_i[3:2]}] <= write_exponent_i;
        end
      end
      if (read_valid_i) begin
        read_data_o[512*q+:512] <= words[{read_parity_i, read_set_i, read_word_i}];
        read_exponents_o[8*q+:8] <= exponents[{read_parity_i, read_set_i}];
      end
    end
  end
endmodule
