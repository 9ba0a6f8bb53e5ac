// Words of embedding rows from chunks of 32 bytes of super-beats: a row's scale and multipliers
// (first_section_i), then its weights, one word for each chunk.
//
// Latency: 6 cycles. Throughput: one chunk a cycle; no back-pressure. Overflow: rows of more than
// Config.activation_words * 64 columns are refused at lowering. Reset clears what is under way.
module rows_embedding #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    input  logic                              valid_i,
    input  logic                              first_section_i,
    input  logic [                      15:0] index_i,          // of the chunk within its section
    input  logic [                       2:0] place_i,          // of the chunk in the super-beat
    input  logic [engine_pkg::StreamBits-1:0] beat_i,
    output logic                              valid_o,
    output logic [  engine_pkg::WordBits-1:0] x_o,              // before the scale
    output logic [                      31:0] scale_o
);
  // The chunk, out of its super-beat.
  logic valid_q, first_section_q, weights_valid;
  logic [15:0] index_q;
  logic [255:0] bytes_q;
  logic [7:0] multiplier;
  logic [31:0] scale;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      unique case (place_i)
        3'd0: bytes_q <= beat_i[255:0];
        3'd1: bytes_q <= beat_i[511:256];
        3'd2: bytes_q <= beat_i[767:512];
        3'd3: bytes_q <= beat_i[1023:768];
        3'd4: bytes_q <= beat_i[1279:1024];
        3'd5: bytes_q <= beat_i[1535:1280];
        3'd6: bytes_q <= beat_i[1791:1536];
        default: bytes_q <= beat_i[2047:1792];
      endcase
      first_section_q <= first_section_i;
      index_q         <= index_i;
    end
    valid_q <= valid_i && rst_ni;
  end

  assign weights_valid = valid_q && !first_section_q;

  // The weights with their multiplier.
  logic weights_valid_q;
  logic [255:0] weights_q;
  logic [7:0] multiplier_q;
  logic [31:0] scale_q;

  always_ff @(posedge clk_i) begin
    if (weights_valid) begin
      weights_q    <= bytes_q;
      multiplier_q <= multiplier;
      scale_q      <= scale;
    end
    weights_valid_q <= weights_valid && rst_ni;
  end

  rows_multipliers #(
      .Config(Config)
  ) u_multipliers (
      .clk_i,
      .chunk_valid_i(valid_q && first_section_q),
      .chunk_index_i(index_q),
      .chunk_i      (bytes_q),
      .next_i       (weights_valid),
      .multiplier_o (multiplier),
      .scale_o      (scale)
  );

  rows_embed u_embed (
      .clk_i,
      .rst_ni,
      .valid_i     (weights_valid_q),
      .weights_i   (weights_q),
      .multiplier_i(multiplier_q),
      .scale_i     (scale_q),
      .valid_o,
      .x_o,
      .scale_o
  );
endmodule
