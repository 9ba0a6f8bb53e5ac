// The multiplications of the rows unit: f32(f32(x * r) * g) of a norm, f32(x * D) of an embedding.
//
// Words come in any number; with gained_i the word's gains are read from gain memory at
// gain_address_i when the first product is there. The two kinds never mix within an instruction.
// Latency: a multiplication and 2 cycles; with gains two multiplications and 3 cycles. Throughput:
// one word a cycle; no back-pressure. Reset clears what is under way.
module rows_scale (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            valid_i,
    input  logic                            gained_i,
    input  logic [engine_pkg::WordBits-1:0] x_i,
    input  logic [                    31:0] factor_i,             // of all lanes
    input  logic [                    15:0] gain_address_i,
    output logic                            gain_read_valid_o,
    output logic [                    15:0] gain_read_address_o,
    input  logic [engine_pkg::WordBits-1:0] gain_data_i,          // 2 cycles after the read
    output logic                            valid_o,
    output logic [engine_pkg::WordBits-1:0] y_o
);
  localparam int Lanes = engine_pkg::Lanes;

  logic first_valid, second_valid, gained;
  logic wait1_q, wait2_q, plain_q;
  logic [16:0] first_tag;

  assign gained              = first_valid && first_tag[16];
  assign gain_read_valid_o   = gained;
  assign gain_read_address_o = first_tag[15:0];

  // A product waits two cycles for its gains.
  always_ff @(posedge clk_i) begin
    wait1_q <= gained && rst_ni;
    wait2_q <= wait1_q && rst_ni;
    plain_q <= first_valid && !first_tag[16] && rst_ni;
    valid_o <= (plain_q || second_valid) && rst_ni;
  end

  for (genvar k = 0; k < Lanes; k++) begin : gen_lane
    logic [31:0] first_y, second_y, product1_q, product2_q;
    if (k == 0) begin : gen_tagged
      logic unused_tag;
      f32_mul #(
          .TagBits(17)
      ) u_first (
          .clk_i,
          .rst_ni,
          .valid_i,
          .a_i    (x_i[k*32+:32]),
          .b_i    (factor_i),
          .tag_i  ({gained_i, gain_address_i}),
          .valid_o(first_valid),
          .y_o    (first_y),
          .tag_o  (first_tag)
      );
      f32_mul #(
          .TagBits(1)
      ) u_second (
          .clk_i,
          .rst_ni,
          .valid_i(wait2_q),
          .a_i    (product2_q),
          .b_i    (gain_data_i[k*32+:32]),
          .tag_i  (1'b0),
          .valid_o(second_valid),
          .y_o    (second_y),
          .tag_o  (unused_tag)
      );
    end else begin : gen_plain
      logic unused_first_tag, unused_first_valid, unused_second_tag, unused_second_valid;
      f32_mul #(
          .TagBits(1)
      ) u_first (
          .clk_i,
          .rst_ni,
          .valid_i,
          .a_i    (x_i[k*32+:32]),
          .b_i    (factor_i),
          .tag_i  (1'b0),
          .valid_o(unused_first_valid),
          .y_o    (first_y),
          .tag_o  (unused_first_tag)
      );
      f32_mul #(
          .TagBits(1)
      ) u_second (
          .clk_i,
          .rst_ni,
          .valid_i(wait2_q),
          .a_i    (product2_q),
          .b_i    (gain_data_i[k*32+:32]),
          .tag_i  (1'b0),
          .valid_o(unused_second_valid),
          .y_o    (second_y),
          .tag_o  (unused_second_tag)
      );
    end
    always_ff @(posedge clk_i) begin
      if (first_valid) product1_q <= first_y;
    end
    always_ff @(posedge clk_i) begin
      if (wait1_q) product2_q <= product1_q;
    end
    always_ff @(posedge clk_i) begin
      if (plain_q) y_o[k*32+:32] <= product1_q;
      else if (second_valid) y_o[k*32+:32] <= second_y;
    end
  end
endmodule
