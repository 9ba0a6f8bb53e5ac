// exp(x) for x <= 0 by the steps of arithmetic.md section 7, in their written order, each rounded
// to binary32. x below -87 gives +0, 0 gives 1; a NaN comes out as 0x7FC00000. What x above 0 gives
// is not meant for use.
//
// Latency: 96 cycles. Throughput: one a cycle; no back-pressure. The tag travels along. Nothing
// overflows. Reset clears what is under way. A stage's registers change only when it holds
// something. Items keep their order, so what belongs to one waits in queues beside the steps.
module exp_neg #(
    parameter int TagBits = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               valid_i,
    input  logic [       31:0] x_i,
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    output logic [       31:0] y_o,
    output logic [TagBits-1:0] tag_o
);
  localparam logic [31:0] InverseLn2 = 32'h3FB8AA3B;
  localparam logic [31:0] Magic = 32'h4B400000;  // 1.5 * 2^23: a sum's last bit is that of 1
  localparam logic [31:0] MinusMagic = 32'hCB400000;
  localparam logic [31:0] Ln2Upper = 32'h3F317200;
  localparam logic [31:0] Ln2Lower = 32'h35BFBE8E;
  localparam logic [31:0] C6 = 32'h3AB5120C;
  localparam logic [31:0] C5 = 32'h3C091D01;
  localparam logic [31:0] C4 = 32'h3D2AAC79;
  localparam logic [31:0] C3 = 32'h3E2AAA49;
  localparam logic [31:0] C2 = 32'h3EFFFFFE;
  localparam logic [31:0] One = 32'h3F800000;
  localparam logic [30:0] Limit = 31'h42AE0000;  // 87

  // A result and that it is there, of each step.
  logic [31:0] scaled, t, f, upper, lower, coarse, r, p6, p5, p5r, p4, p4r, p3, p3r, p2,
      square, curve, rise, y;
  logic scaled_valid, t_valid, f_valid, upper_valid, lower_valid, coarse_valid,
      r_valid, p6_valid, p5_valid, p5r_valid, p4_valid, p4r_valid, p3_valid,
      p3r_valid, p2_valid, square_valid, curve_valid, rise_valid, y_valid;
  // What waits for a later step.
  logic [31:0] x, lower_waiting, r5, r4, r3, r2, square_waiting;
  logic [8:0] n;
  logic zero;
  logic [TagBits-1:0] tag;

  // The steps carry no tags.
  // verilator lint_off UNUSEDSIGNAL
  logic [18:0] unused_tag;
  // verilator lint_on UNUSEDSIGNAL

  // t = f32(f32(x * 1/ln 2) + 1.5 * 2^23), whose low bits are n; f = f32(t - 1.5 * 2^23).
  f32_mul u_scaled (
      .clk_i, .rst_ni, .valid_i(valid_i), .a_i(x_i), .b_i(InverseLn2), .tag_i(1'b0),
      .valid_o(scaled_valid), .y_o(scaled), .tag_o(unused_tag[0])
  );
  f32_add u_t (
      .clk_i, .rst_ni, .valid_i(scaled_valid), .a_i(scaled), .b_i(Magic), .tag_i(1'b0),
      .valid_o(t_valid), .y_o(t), .tag_o(unused_tag[1])
  );
  f32_add u_f (
      .clk_i, .rst_ni, .valid_i(t_valid), .a_i(t), .b_i(MinusMagic), .tag_i(1'b0),
      .valid_o(f_valid), .y_o(f), .tag_o(unused_tag[2])
  );

  // r = f32(x - f32(f * upper part of ln 2)); r = f32(r - f32(f * lower part)).
  f32_mul u_upper (
      .clk_i, .rst_ni, .valid_i(f_valid), .a_i(f), .b_i(Ln2Upper), .tag_i(1'b0),
      .valid_o(upper_valid), .y_o(upper), .tag_o(unused_tag[3])
  );
  f32_mul u_lower (
      .clk_i, .rst_ni, .valid_i(f_valid), .a_i(f), .b_i(Ln2Lower), .tag_i(1'b0),
      .valid_o(lower_valid), .y_o(lower), .tag_o(unused_tag[4])
  );
  side_queue #(.Bits(32), .Depth(32)) u_x_queue (
      .clk_i, .rst_ni, .push_i(valid_i), .data_i(x_i), .pop_i(upper_valid), .data_o(x)
  );
  f32_add u_coarse (
      .clk_i, .rst_ni, .valid_i(upper_valid), .a_i(x),
      .b_i({!upper[31], upper[30:0]}), .tag_i(1'b0),
      .valid_o(coarse_valid), .y_o(coarse), .tag_o(unused_tag[5])
  );
  side_queue #(.Bits(32), .Depth(8)) u_lower_queue (
      .clk_i, .rst_ni, .push_i(lower_valid), .data_i(lower),
      .pop_i(coarse_valid), .data_o(lower_waiting)
  );
  f32_add u_r (
      .clk_i, .rst_ni, .valid_i(coarse_valid), .a_i(coarse),
      .b_i({!lower_waiting[31], lower_waiting[30:0]}), .tag_i(1'b0),
      .valid_o(r_valid), .y_o(r), .tag_o(unused_tag[6])
  );

  // p = C6; p = f32(f32(p * r) + C5), then with C4, C3, C2.
  f32_mul u_p6 (
      .clk_i, .rst_ni, .valid_i(r_valid), .a_i(r), .b_i(C6), .tag_i(1'b0),
      .valid_o(p6_valid), .y_o(p6), .tag_o(unused_tag[7])
  );
  f32_add u_p5 (
      .clk_i, .rst_ni, .valid_i(p6_valid), .a_i(p6), .b_i(C5), .tag_i(1'b0),
      .valid_o(p5_valid), .y_o(p5), .tag_o(unused_tag[8])
  );
  side_queue #(.Bits(32), .Depth(16)) u_r5_queue (
      .clk_i, .rst_ni, .push_i(r_valid), .data_i(r), .pop_i(p5_valid), .data_o(r5)
  );
  f32_mul u_p5r (
      .clk_i, .rst_ni, .valid_i(p5_valid), .a_i(p5), .b_i(r5), .tag_i(1'b0),
      .valid_o(p5r_valid), .y_o(p5r), .tag_o(unused_tag[9])
  );
  f32_add u_p4 (
      .clk_i, .rst_ni, .valid_i(p5r_valid), .a_i(p5r), .b_i(C4), .tag_i(1'b0),
      .valid_o(p4_valid), .y_o(p4), .tag_o(unused_tag[10])
  );
  side_queue #(.Bits(32), .Depth(16)) u_r4_queue (
      .clk_i, .rst_ni, .push_i(p5_valid), .data_i(r5), .pop_i(p4_valid), .data_o(r4)
  );
  f32_mul u_p4r (
      .clk_i, .rst_ni, .valid_i(p4_valid), .a_i(p4), .b_i(r4), .tag_i(1'b0),
      .valid_o(p4r_valid), .y_o(p4r), .tag_o(unused_tag[11])
  );
  f32_add u_p3 (
      .clk_i, .rst_ni, .valid_i(p4r_valid), .a_i(p4r), .b_i(C3), .tag_i(1'b0),
      .valid_o(p3_valid), .y_o(p3), .tag_o(unused_tag[12])
  );
  side_queue #(.Bits(32), .Depth(16)) u_r3_queue (
      .clk_i, .rst_ni, .push_i(p4_valid), .data_i(r4), .pop_i(p3_valid), .data_o(r3)
  );
  f32_mul u_p3r (
      .clk_i, .rst_ni, .valid_i(p3_valid), .a_i(p3), .b_i(r3), .tag_i(1'b0),
      .valid_o(p3r_valid), .y_o(p3r), .tag_o(unused_tag[13])
  );
  f32_add u_p2 (
      .clk_i, .rst_ni, .valid_i(p3r_valid), .a_i(p3r), .b_i(C2), .tag_i(1'b0),
      .valid_o(p2_valid), .y_o(p2), .tag_o(unused_tag[14])
  );

  // y = f32(f32(f32(p * f32(r * r)) + r) + 1).
  f32_mul u_square (
      .clk_i, .rst_ni, .valid_i(p3_valid), .a_i(r3), .b_i(r3), .tag_i(1'b0),
      .valid_o(square_valid), .y_o(square), .tag_o(unused_tag[15])
  );
  side_queue #(.Bits(32), .Depth(8)) u_square_queue (
      .clk_i, .rst_ni, .push_i(square_valid), .data_i(square),
      .pop_i(p2_valid), .data_o(square_waiting)
  );
  f32_mul u_curve (
      .clk_i, .rst_ni, .valid_i(p2_valid), .a_i(p2), .b_i(square_waiting), .tag_i(1'b0),
      .valid_o(curve_valid), .y_o(curve), .tag_o(unused_tag[16])
  );
  side_queue #(.Bits(32), .Depth(32)) u_r2_queue (
      .clk_i, .rst_ni, .push_i(p3_valid), .data_i(r3), .pop_i(curve_valid), .data_o(r2)
  );
  f32_add u_rise (
      .clk_i, .rst_ni, .valid_i(curve_valid), .a_i(curve), .b_i(r2), .tag_i(1'b0),
      .valid_o(rise_valid), .y_o(rise), .tag_o(unused_tag[17])
  );
  f32_add u_y (
      .clk_i, .rst_ni, .valid_i(rise_valid), .a_i(rise), .b_i(One), .tag_i(1'b0),
      .valid_o(y_valid), .y_o(y), .tag_o(unused_tag[18])
  );

  // bits(y) + (n << 23): only the low 9 bits of n count, and those of Magic are 0.
  side_queue #(.Bits(9), .Depth(128)) u_n_queue (
      .clk_i, .rst_ni, .push_i(t_valid), .data_i(t[8:0]), .pop_i(y_valid), .data_o(n)
  );
  side_queue #(.Bits(TagBits + 1), .Depth(128)) u_tag_queue (
      .clk_i, .rst_ni, .push_i(valid_i),
      .data_i({tag_i, x_i[31] && x_i[30:0] > Limit && x_i[30:0] <= 31'h7F800000}),
      .pop_i(y_valid), .data_o({tag, zero})
  );

  logic valid_q;
  logic [31:0] y_q;
  logic [TagBits-1:0] tag_q;

  assign valid_o = valid_q;
  assign y_o     = y_q;
  assign tag_o   = tag_q;

  always_ff @(posedge clk_i) begin
    valid_q <= y_valid && rst_ni;
    if (y_valid) begin
      y_q   <= zero ? 32'd0 : {y[31:23] + n, y[22:0]};
      tag_q <= tag;
    end
  end
endmodule
