// An embedding row's scale and group multipliers, from the chunks of 32 bytes in front of its
// weights: bytes 0 to 3 of chunk 0 are the scale D, all others one multiplier each.
//
// chunk_valid_i hands in the chunks in order; then next_i asks for one multiplier after another:
// multiplier_o is the one that next_i takes. Latency: 1 cycle. Throughput: one a cycle. Overflow:
// rows of more than Config.activation_words * 64 columns are refused at lowering. Reset does
// nothing: chunk 0 sets all.
module rows_multipliers #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic         clk_i,
    input  logic         chunk_valid_i,
    input  logic [ 15:0] chunk_index_i,
    input  logic [255:0] chunk_i,
    input  logic         next_i,
    output logic [  7:0] multiplier_o,
    output logic [ 31:0] scale_o
);
  localparam int Lines = (2 * Config.activation_words + 35) / 32;
  localparam int IndexBits = $clog2(Lines);

  logic [255:0] lines[0:Lines-1];
  logic [255:0] line_q;
  logic [4:0] byte_q;  // of line_q: the multiplier in front
  logic [IndexBits-1:0] next_line_q;
  logic first_chunk, turn, unused_index;

  assign first_chunk  = chunk_valid_i && chunk_index_i == 16'd0;
  assign turn         = next_i && byte_q == 5'd31;
  assign multiplier_o = line_q[{byte_q, 3'd0}+:8];
  assign unused_index = ^chunk_index_i;

  always_ff @(posedge clk_i) begin
    if (chunk_valid_i) lines[chunk_index_i[IndexBits-1:0]] <= chunk_i;
  end

  always_ff @(posedge clk_i) begin
    if (first_chunk) scale_o <= chunk_i[31:0];
  end

  always_ff @(posedge clk_i) begin
    if (first_chunk) line_q <= chunk_i;
    else if (turn) line_q <= lines[next_line_q];
  end

  always_ff @(posedge clk_i) begin
    if (first_chunk) begin
      byte_q      <= 5'd4;
      next_line_q <= IndexBits'(1);
    end else if (next_i) begin
      byte_q <= byte_q + 5'd1;
      if (turn) next_line_q <= next_line_q + 1'b1;
    end
  end
endmodule
