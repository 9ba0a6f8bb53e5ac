// SiLU(x) by arithmetic.md section 7: e = exp_neg(-|x|); d = f32(1 + e); x / d for x >= 0, else
// f32(x * e) / d, each step rounded to binary32. Every NaN comes out as 0x7FC00000; so does
// -infinity, as by the formula.
//
// Latency: 120 cycles. Throughput: one a cycle; no back-pressure. The tag travels along. Nothing
// overflows. Reset clears what is under way. A stage's registers change only when it holds
// something. Items keep their order, so what belongs to one waits in queues beside the steps.
module silu #(
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
  localparam logic [31:0] One = 32'h3F800000;

  logic [31:0] e, d, product;
  logic e_valid, d_valid, product_valid;
  logic [31:0] x, x_again, product_waiting;  // what waits for a later step

  // The steps carry no tags.
  // verilator lint_off UNUSEDSIGNAL
  logic [3:0] unused_tag;
  // verilator lint_on UNUSEDSIGNAL

  exp_neg u_exp (
      .clk_i, .rst_ni, .valid_i, .x_i({1'b1, x_i[30:0]}), .tag_i(1'b0),
      .valid_o(e_valid), .y_o(e), .tag_o(unused_tag[0])
  );
  side_queue #(.Bits(32), .Depth(128)) u_x_queue (
      .clk_i, .rst_ni, .push_i(valid_i), .data_i(x_i), .pop_i(e_valid), .data_o(x)
  );

  f32_add u_d (
      .clk_i, .rst_ni, .valid_i(e_valid), .a_i(One), .b_i(e), .tag_i(1'b0),
      .valid_o(d_valid), .y_o(d), .tag_o(unused_tag[1])
  );
  f32_mul u_product (
      .clk_i, .rst_ni, .valid_i(e_valid), .a_i(x), .b_i(e), .tag_i(1'b0),
      .valid_o(product_valid), .y_o(product), .tag_o(unused_tag[2])
  );
  side_queue #(.Bits(32), .Depth(8)) u_x_again_queue (
      .clk_i, .rst_ni, .push_i(e_valid), .data_i(x), .pop_i(d_valid), .data_o(x_again)
  );
  side_queue #(.Bits(32), .Depth(4)) u_product_queue (
      .clk_i, .rst_ni, .push_i(product_valid), .data_i(product), .pop_i(d_valid),
      .data_o(product_waiting)
  );

  // x >= 0 for -0 too.
  f32_div u_y (
      .clk_i, .rst_ni, .valid_i(d_valid),
      .a_i(x_again[31] && x_again[30:0] != 31'd0 ? product_waiting : x_again),
      .b_i(d), .tag_i(1'b0), .valid_o, .y_o, .tag_o(unused_tag[3])
  );
  side_queue #(.Bits(TagBits), .Depth(128)) u_tag_queue (
      .clk_i, .rst_ni, .push_i(valid_i), .data_i(tag_i), .pop_i(valid_o), .data_o(tag_o)
  );
endmodule
