// One position's weight: p = exp_neg(s - m), l = R(p, 23), w = R(p, 23 + ve - E). A position that
// does not take part gives 0 for both, a value that is all zero 0 for w.
//
// Latency: that of f32_add, exp_neg and round_scaled one after the other. Throughput: one a cycle, no
// back-pressure. The tag travels along. Reset clears what is under way.
module attend_weight_lane #(
    parameter int TagBits = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               valid_i,
    input  logic [       31:0] score_i,
    input  logic [       31:0] greatest_i,
    input  logic [        9:0] shift_i,       // 23 + ve - E
    input  logic               takes_part_i,
    input  logic               zero_i,        // ve is ZE
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    output logic [       23:0] weight_o,
    output logic [       23:0] part_o,        // l
    output logic [TagBits-1:0] tag_o
);
  logic below_valid, power_valid, part_valid;
  logic [31:0] below, power;
  logic [TagBits+11:0] below_tag, power_tag;
  logic [25:0] weight, part;
  logic unused_tag;

  f32_add #(
      .TagBits(TagBits + 12)
  ) subtract (
      .clk_i,
      .rst_ni,
      .valid_i,
      .a_i    (score_i),
      .b_i    ({!greatest_i[31], greatest_i[30:0]}),
      .tag_i  ({tag_i, zero_i, takes_part_i, shift_i}),
      .valid_o(below_valid),
      .y_o    (below),
      .tag_o  (below_tag)
  );
  exp_neg #(
      .TagBits(TagBits + 12)
  ) exponential (
      .clk_i,
      .rst_ni,
      .valid_i(below_valid),
      .x_i    (below),
      .tag_i  (below_tag),
      .valid_o(power_valid),
      .y_o    (power),
      .tag_o  (power_tag)
  );
  round_scaled #(
      .TagBits(TagBits)
  ) round_weight (
      .clk_i,
      .rst_ni,
      .valid_i(power_valid),
      .x_i    (power_tag[10] && !power_tag[11] ? power : 32'd0),
      .s_i    (power_tag[9:0]),
      .tag_i  (power_tag[TagBits+11:12]),
      .valid_o,
      .q_o    (weight),
      .tag_o
  );
  round_scaled #(
      .TagBits(1)
  ) round_part (
      .clk_i,
      .rst_ni,
      .valid_i(power_valid),
      .x_i    (power_tag[10] ? power : 32'd0),
      .s_i    (10'd23),
      .tag_i  (1'b0),
      .valid_o(part_valid),
      .q_o    (part),
      .tag_o  (unused_tag)
  );

  // Neither is negative or above 2^23.
  assign weight_o = weight[23:0];
  assign part_o   = part[23:0];

  logic unused;
  assign unused = ^{part_valid, unused_tag, weight[25:24], part[25:24]};
endmodule
