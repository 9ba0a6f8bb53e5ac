// Binary32 product a * b, rounded to nearest even: IEEE 754 with subnormal operands and results,
// infinities and signed zeros; every NaN comes out as 0x7FC00000.
//
// Latency: 5 cycles. Throughput: one product a cycle; no back-pressure. The tag travels along.
// Overflow gives infinity. Reset clears what is under way. A stage's registers change only when it
// holds something. The product of the significands is one 27x27 multiplier with registers at both
// its ends.
module f32_mul #(
    parameter int TagBits = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               valid_i,
    input  logic [       31:0] a_i,
    input  logic [       31:0] b_i,
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    output logic [       31:0] y_o,
    output logic [TagBits-1:0] tag_o
);
  localparam int Latency = 5;
  localparam int SideBits = TagBits + 3;  // {tag, NaN, infinite, sign}: what goes beside

  logic [Latency-1:0] valid_q;

  // Stage 1: significands, and the zeros in front of the one that is subnormal.
  logic [23:0] a1_q, b1_q;
  logic [8:0] fields1_q;
  logic [4:0] zeros1_q;
  logic [SideBits-1:0] side1_q;

  // Stage 2: their product, and how far it goes to the left or to the right.
  logic [47:0] product2_q;
  logic [8:0] field2_q;
  logic [4:0] left2_q, right2_q;
  logic [SideBits-1:0] side2_q;

  // Stage 3: moved to the left.
  logic [47:0] product3_q;
  logic [8:0] field3_q;
  logic [4:0] right3_q;
  logic [SideBits-1:0] side3_q;

  // Stage 4: moved to the right, what falls off kept as one bit.
  logic [25:0] product4_q;
  logic [8:0] field4_q;
  logic sticky4_q;
  logic [SideBits-1:0] side4_q;

  // Stage 5: rounded.
  logic [31:0] y5_q;
  logic [TagBits-1:0] tag5_q;

  assign valid_o = valid_q[Latency-1];
  assign y_o     = y5_q;
  assign tag_o   = tag5_q;

  // The last stage stands first: so each register is read before it is written, and a simulation
  // needs no second copy of it.
  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0) begin
      if (valid_q[3]) begin : round
        // The product of two significands lies in [1, 4).
        y5_q <= side4_q[2] ? float_pkg::Nan
              : side4_q[1] ? {side4_q[0], 31'h7F800000}
              : float_pkg::rounded_wide(side4_q[0], field4_q, product4_q, sticky4_q);
        tag5_q <= side4_q[SideBits-1:3];
      end
      if (valid_q[2]) begin : shift_right
        logic [47:0] shifted;
        shifted = product3_q >> right3_q;
        product4_q <= shifted[47:22];
        sticky4_q <= shifted[21:0] != 22'd0 ||
                     (product3_q[30:0] & ~(31'h7FFFFFFF << right3_q)) != 31'd0;
        field4_q <= field3_q;
        side4_q  <= side3_q;
      end
      if (valid_q[1]) begin : shift_left
        product3_q <= product2_q << left2_q;
        right3_q   <= right2_q;
        field3_q   <= field2_q;
        side3_q    <= side2_q;
      end
      if (valid_q[0]) begin : multiply
        logic [9:0] above;  // the result's exponent field less 1, as if no operand were subnormal
        logic [4:0] left;
        above = {1'b0, fields1_q} - 10'd128;
        left  = above[9] ? 5'd0 : above[8:0] < {4'd0, zeros1_q} ? above[4:0] : zeros1_q;
        product2_q <= {24'd0, a1_q} * {24'd0, b1_q};
        left2_q    <= left;
        right2_q   <= !above[9] ? 5'd0 : above[8:0] < 9'd481 ? 5'd31 : 5'd0 - above[4:0];
        field2_q   <= above[9] ? 9'd1 : above[8:0] + 9'd1 - {4'd0, left};
        side2_q    <= side1_q;
      end
      if (valid_i) begin : unpack
        logic a_subnormal, b_subnormal, a_infinite, b_infinite, nan;
        logic [23:0] a, b;
        a_subnormal = a_i[30:23] == 8'd0;
        b_subnormal = b_i[30:23] == 8'd0;
        a_infinite  = a_i[30:23] == 8'hFF;
        b_infinite  = b_i[30:23] == 8'hFF;
        a = {!a_subnormal, a_i[22:0]};
        b = {!b_subnormal, b_i[22:0]};
        nan = (a_infinite && (a_i[22:0] != 23'd0 || b_i[30:0] == 31'd0)) ||
              (b_infinite && (b_i[22:0] != 23'd0 || a_i[30:0] == 31'd0));
        a1_q <= a;
        b1_q <= b;
        fields1_q <= {1'b0, a_i[30:24], a_i[23] || a_subnormal} +
                     {1'b0, b_i[30:24], b_i[23] || b_subnormal};
        // Of two subnormals the product vanishes, so the zeros of one are enough.
        zeros1_q <= float_pkg::leading_zeros({a_subnormal ? a : b, 8'hFF});
        side1_q  <= {tag_i, nan, a_infinite || b_infinite, a_i[31] != b_i[31]};
      end
      valid_q <= {valid_q[Latency-2:0], valid_i};
    end
    if (!rst_ni) valid_q <= '0;
  end
endmodule
