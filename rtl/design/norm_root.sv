// The factor of a norm from its sum of squares S (arithmetic.md section 5):
//   mean = f32(F(S) / F(n)), ss = 2^e * (2^e * mean) (+0 for ZE),
//   r = f32(1 / f32sqrt(f32(ss + eps))).
//
// columns_valid_i gives n, one cycle or more before the first sum; n and epsilon then stay until
// the last factor is out. One divider takes both divisions: reciprocals first, means wait in a
// queue. Latency: that of F, two divisions, an addition and a square root, and 3 cycles more.
// Throughput: one sum every two cycles; at most Depth may be under way, in order. Overflow: none
// for S below 2^48 and n below 2^20. Reset clears what is under way.
module norm_root #(
    parameter int TagBits = 5,
    parameter int Depth   = 32
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               columns_valid_i,
    input  logic [       19:0] columns_i,
    input  logic [       31:0] epsilon_i,
    input  logic               valid_i,          // not with columns_valid_i
    input  logic [       47:0] sum_i,
    input  logic [        7:0] e_i,              // signed; of no meaning where zero_i
    input  logic               zero_i,           // ZE
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    output logic [       31:0] root_o,
    output logic [TagBits-1:0] tag_o
);
  localparam logic [31:0] One = 32'h3F800000;
  localparam int ScaleBits = TagBits + 9;  // zero, e, tag

  // F of n and of the sums; the tag's top bit says which.
  logic float_valid;
  logic [31:0] float_y, columns_q;
  logic [ScaleBits:0] float_tag;

  int_to_f32 #(
      .TagBits(ScaleBits + 1)
  ) u_float (
      .clk_i,
      .rst_ni,
      .valid_i(valid_i || columns_valid_i),
      .i_i    (columns_valid_i ? {44'd0, columns_i} : {16'd0, sum_i}),
      .tag_i  ({columns_valid_i, zero_i, e_i, tag_i}),
      .valid_o(float_valid),
      .y_o    (float_y),
      .tag_o  (float_tag)
  );

  always_ff @(posedge clk_i) begin
    if (float_valid && float_tag[ScaleBits]) columns_q <= float_y;
  end

  // Sums that wait for the divider.
  logic queue_valid, queue_ready;
  logic [31:0] queue_y;
  logic [ScaleBits-1:0] queue_tag;
  logic unused_ready;
  logic [$clog2(Depth):0] unused_used;

  sync_fifo #(
      .Bits (ScaleBits + 32),
      .Depth(Depth)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(float_valid && !float_tag[ScaleBits]),
      .ready_o(unused_ready),
      .data_i ({float_tag[ScaleBits-1:0], float_y}),
      .valid_o(queue_valid),
      .ready_i(queue_ready),
      .data_o ({queue_tag, queue_y}),
      .used_o (unused_used)
  );

  // The divider; the tag's top bit says that it is a reciprocal.
  logic root_valid, divide_valid;
  logic [31:0] root_y, divide_y;
  logic [TagBits-1:0] root_tag;
  logic [ScaleBits:0] divide_tag;

  assign queue_ready = !root_valid;

  f32_div #(
      .TagBits(ScaleBits + 1)
  ) u_divide (
      .clk_i,
      .rst_ni,
      .valid_i(root_valid || queue_valid),
      .a_i    (root_valid ? One : queue_y),
      .b_i    (root_valid ? root_y : columns_q),
      .tag_i  (root_valid ? {1'b1, 9'd0, root_tag} : {1'b0, queue_tag}),
      .valid_o(divide_valid),
      .y_o    (divide_y),
      .tag_o  (divide_tag)
  );

  assign valid_o = divide_valid && divide_tag[ScaleBits];
  assign root_o  = divide_y;
  assign tag_o   = divide_tag[TagBits-1:0];

  // The mean square, then the sum with epsilon and the root. 2e at once: where 2^e * mean is normal
  // but 2^2e * mean is not, both ways give +0.
  logic [31:0] mean_square, mean_square_q;
  logic mean_valid_q;
  logic [TagBits-1:0] mean_tag_q;

  f32_scale u_scale (
      .x_i(divide_y),
      .e_i({divide_tag[TagBits+7], divide_tag[TagBits+:8], 1'b0}),
      .y_o(mean_square)
  );

  always_ff @(posedge clk_i) begin
    if (divide_valid && !divide_tag[ScaleBits]) begin
      mean_square_q <= divide_tag[ScaleBits-1] ? 32'd0 : mean_square;
      mean_tag_q    <= divide_tag[TagBits-1:0];
    end
    mean_valid_q <= divide_valid && !divide_tag[ScaleBits] && rst_ni;
  end

  logic add_valid;
  logic [31:0] add_y;
  logic [TagBits-1:0] add_tag;

  f32_add #(
      .TagBits(TagBits)
  ) u_add (
      .clk_i,
      .rst_ni,
      .valid_i(mean_valid_q),
      .a_i    (mean_square_q),
      .b_i    (epsilon_i),
      .tag_i  (mean_tag_q),
      .valid_o(add_valid),
      .y_o    (add_y),
      .tag_o  (add_tag)
  );

  f32_sqrt #(
      .TagBits(TagBits)
  ) u_sqrt (
      .clk_i,
      .rst_ni,
      .valid_i(add_valid),
      .a_i    (add_y),
      .tag_i  (add_tag),
      .valid_o(root_valid),
      .y_o    (root_y),
      .tag_o  (root_tag)
  );
endmodule
