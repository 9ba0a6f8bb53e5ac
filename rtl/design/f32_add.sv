// Binary32 sum a + b, rounded to nearest even: IEEE 754 with subnormal operands and results,
// infinities and signed zeros; every NaN comes out as 0x7FC00000.
//
// Latency: 6 cycles. Throughput: one sum a cycle; no back-pressure. The tag travels along. Overflow
// gives infinity. Reset clears what is under way. A stage's registers change only when it holds
// something.
module f32_add #(
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
  localparam int Latency = 6;
  localparam int SideBits = TagBits + 4;  // {tag, NaN, infinite, minus, sign}: what goes beside

  logic [Latency-1:0] valid_q;

  // Stage 1: the operand of the larger magnitude in front.
  logic [30:0] big1_q, small1_q;
  logic [SideBits-1:0] side1_q;

  // Stage 2: the smaller one aligned, with two more bits and what lies below them as one.
  logic [7:0] field2_q;
  logic [23:0] big2_q;
  logic [26:0] small2_q;
  logic [SideBits-1:0] side2_q;

  // Stage 3: sum or difference; one bit where the exponent of subnormals would end a shift.
  logic [7:0] field3_q;
  logic [27:0] sum3_q, end3_q;
  logic [SideBits-1:0] side3_q;

  // Stage 4: how far to the left it goes.
  logic [7:0] field4_q;
  logic [27:0] sum4_q;
  logic [4:0] shift4_q;
  logic [SideBits-1:0] side4_q;

  // Stage 5: in place.
  logic [7:0] field5_q;
  logic [22:0] fraction5_q;
  logic guard5_q, sticky5_q;
  logic [SideBits-1:0] side5_q;

  // Stage 6: rounded.
  logic [31:0] y6_q;
  logic [TagBits-1:0] tag6_q;

  assign valid_o = valid_q[Latency-1];
  assign y_o     = y6_q;
  assign tag_o   = tag6_q;

  // The last stage stands first: so each register is read before it is written, and a simulation
  // needs no second copy of it.
  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0) begin
      if (valid_q[4]) begin : round
        logic nan, infinite, minus, sign, zero;
        {nan, infinite, minus, sign} = side5_q[3:0];
        zero = field5_q == 8'd0 && fraction5_q == 23'd0;  // subnormal sums are exact
        y6_q <= nan ? float_pkg::Nan
              : infinite || field5_q == 8'hFF ? {sign, 31'h7F800000}
              : float_pkg::rounded(sign && !(minus && zero),  // x - x is +0
                                   field5_q, fraction5_q, guard5_q, sticky5_q);
        tag6_q <= side5_q[SideBits-1:4];
      end
      if (valid_q[3]) begin : shift_left
        logic [27:0] shifted;
        shifted = sum4_q << shift4_q;
        // Without the implied bit it is subnormal (or 0), of field 0.
        field5_q    <= shifted[27] ? field4_q + 8'd1 - {3'd0, shift4_q} : 8'd0;
        fraction5_q <= shifted[26:4];
        guard5_q    <= shifted[3];
        sticky5_q   <= shifted[2:0] != 3'd0;
        side5_q     <= side4_q;
      end
      if (valid_q[2]) begin : count
        shift4_q <= float_pkg::leading_zeros({sum3_q | end3_q, 4'hF});
        sum4_q   <= sum3_q;
        field4_q <= field3_q;
        side4_q  <= side3_q;
      end
      if (valid_q[1]) begin : sum
        // One adder: the lowest bits carry 1 in for a difference.
        sum3_q <= 28'(({1'b0, big2_q, 3'd0, 1'b1} +
                       ({1'b0, small2_q, 1'b0} ^ {29{side2_q[1]}})) >> 1);
        end3_q   <= field2_q < 8'd28 ? 28'h8000000 >> field2_q[4:0] : 28'd0;
        field3_q <= field2_q;
        side3_q  <= side2_q;
      end
      if (valid_q[0]) begin : align
        logic big_subnormal, small_subnormal;
        logic [7:0] distance;
        logic [4:0] shift;
        logic [55:0] aligned;
        big_subnormal   = big1_q[30:23] == 8'd0;
        small_subnormal = small1_q[30:23] == 8'd0;
        // Subnormals have the exponent of field 1.
        distance = big1_q[30:23] - small1_q[30:23] - {7'd0, small_subnormal && !big_subnormal};
        shift    = distance[7:5] != 3'd0 ? 5'd31 : distance[4:0];
        aligned  = {!small_subnormal, small1_q[22:0], 32'd0} >> shift;
        field2_q <= {big1_q[30:24], big1_q[23] || big_subnormal};
        big2_q   <= {!big_subnormal, big1_q[22:0]};
        small2_q <= {aligned[55:30], aligned[29:0] != 30'd0};
        side2_q  <= side1_q;
      end
      if (valid_i) begin : swap
        logic b_is_larger, minus, infinite, nan;
        b_is_larger = b_i[30:0] > a_i[30:0];
        minus       = a_i[31] != b_i[31];
        infinite    = a_i[30:23] == 8'hFF || b_i[30:23] == 8'hFF;
        nan = a_i[30:0] > 31'h7F800000 || b_i[30:0] > 31'h7F800000 ||
              (minus && a_i[30:23] == 8'hFF && b_i[30:23] == 8'hFF);
        big1_q   <= b_is_larger ? b_i[30:0] : a_i[30:0];
        small1_q <= b_is_larger ? a_i[30:0] : b_i[30:0];
        side1_q  <= {tag_i, nan, infinite, minus, b_is_larger ? b_i[31] : a_i[31]};
      end
      valid_q <= {valid_q[Latency-2:0], valid_i};
    end
    if (!rst_ni) valid_q <= '0;
  end
endmodule
