// One output of a product: y = f32(2^e * f32(F(sum) * D) + b), the first term +0 where e is ZE
// (arithmetic.md section 4). Without a bias b is -0, which leaves every y as it is.
//
// Latency: 18 cycles. Throughput: one a cycle; no back-pressure. y is always normal or 0 for weights
// that the loader lets through; whatever D and b hold, nothing stops. Reset clears what is under way.
module product_lane (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [63:0] sum_i,
    input  logic [31:0] scale_i,
    input  logic [31:0] bias_i,
    input  logic [ 7:0] exponent_i,
    output logic        valid_o,
    output logic [31:0] y_o
);
  logic nearest_valid, product_valid, scaled_valid_q;
  logic [31:0] nearest, product, scaled, scaled_q, bias_q;
  logic [71:0] nearest_tag;  // e, b, D
  logic [39:0] product_tag;  // e, b
  logic unused_tag;

  int_to_f32 #(
      .TagBits(72)
  ) u_nearest (
      .clk_i, .rst_ni, .valid_i, .i_i(sum_i), .tag_i({exponent_i, bias_i, scale_i}),
      .valid_o(nearest_valid), .y_o(nearest), .tag_o(nearest_tag)
  );

  f32_mul #(
      .TagBits(40)
  ) u_product (
      .clk_i, .rst_ni, .valid_i(nearest_valid), .a_i(nearest), .b_i(nearest_tag[31:0]),
      .tag_i(nearest_tag[71:32]), .valid_o(product_valid), .y_o(product), .tag_o(product_tag)
  );

  f32_scale u_scale (
      .x_i(product), .e_i({{2{product_tag[39]}}, product_tag[39:32]}), .y_o(scaled)
  );

  always_ff @(posedge clk_i) scaled_valid_q <= rst_ni && product_valid;
  always_ff @(posedge clk_i) begin
    if (product_valid) begin
      scaled_q <= product_tag[39:32] == 8'h80 ? 32'd0 : scaled;
      bias_q   <= product_tag[31:0];
    end
  end

  f32_add u_bias (
      .clk_i, .rst_ni, .valid_i(scaled_valid_q), .a_i(scaled_q), .b_i(bias_q), .tag_i(1'b0),
      .valid_o, .y_o, .tag_o(unused_tag)
  );
endmodule
