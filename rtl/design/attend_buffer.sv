// Half of the group buffer: the scores, then the weights in their place, of one pair. A word holds
// four heads of a slot: head q, bank b at [32(4q + b) +: 32]; word slot * sets + set.
//
// Latency: a word stands in registers one cycle after it is asked for, until the next. Throughput:
// one write and one read a cycle; a memory for each of the four heads, 1R1W. Scores and weights are
// never written in the same cycle. Nothing to reset: all is written before it is read.
module attend_buffer #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic         clk_i,
    // Two heads' scores.
    input  logic         score_valid_i,
    input  logic         score_half_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [ 15:0] score_address_i,   // all below Config.scores / 16
    input  logic [ 15:0] weight_address_i,
    input  logic [ 15:0] read_address_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [255:0] score_data_i,
    // One head's weights.
    input  logic         weight_valid_i,
    input  logic [  1:0] weight_head_i,
    input  logic [127:0] weight_data_i,
    input  logic         read_valid_i,
    output logic [511:0] read_data_o
);
  localparam int Words = Config.scores / 16;
  localparam int AddressBits = $clog2(Words);

  for (genvar q = 0; q < 4; q++) begin : g_head
    logic [127:0] words[0:Words-1];

    always_ff @(posedge clk_i) begin
      if (score_valid_i && score_half_i == 1'(q / 2)) begin
        words[score_address_i[AddressBits-1:0]] <= score_data_i[128*(q%2)+:128];
      end else if (weight_valid_i && weight_head_i == 2'(q)) begin
        words[weight_address_i[AddressBits-1:0]] <= weight_data_i;
      end
      if (read_valid_i) read_data_o[128*q+:128] <= words[read_address_i[AddressBits-1:0]];
    end
  end
endmodule
