// Binary32 quotient a / b, rounded to nearest even: IEEE 754 with subnormal operands and results,
// infinities and signed zeros; every NaN comes out as 0x7FC00000.
//
// Digit recurrence, two bits of the quotient a stage: the rest less one, two and three times the
// divisor side by side, the least that is not negative goes on.
// Latency: 18 cycles. Throughput: one quotient a cycle; no back-pressure. The tag travels along.
// Overflow and division by zero give infinity. Reset clears what is under way. A stage's registers
// change only when it holds something.
module f32_div #(
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
  localparam int Digits = 13;
  localparam int Latency = Digits + 5;
  localparam int SideBits = TagBits + 17;  // what goes beside the digits

  logic [Latency-1:0] valid_q;

  // Stage 1: significands and the zeros in front of them.
  logic [23:0] a1_q, b1_q;
  logic [4:0] a_zeros1_q, b_zeros1_q;
  logic [9:0] field1_q;  // signed: of a quotient in [1/2, 1) of normal operands
  logic sign1_q, nan1_q, infinite1_q, zero1_q;
  logic [TagBits-1:0] tag1_q;

  // Stage 2: both without zeros in front.
  logic [23:0] a2_q, b2_q;
  logic [9:0] field2_q;
  logic sign2_q, nan2_q, infinite2_q, zero2_q;
  logic [TagBits-1:0] tag2_q;

  // Stage 3: three times the divisor; how far a subnormal quotient goes to the right.
  logic [23:0] rest3_q, divisor3_q;
  logic [25:0] triple3_q;
  logic [SideBits-1:0] side3_q;

  // The last but one: the quotient in place.
  logic [25:0] quotient4_q;
  logic [8:0] field4_q;
  logic sticky4_q, sign4_q, nan4_q, infinite4_q;
  logic [TagBits-1:0] tag4_q;

  // The last: rounded.
  logic [31:0] y5_q;
  logic [TagBits-1:0] tag5_q;

  assign valid_o = valid_q[Latency-1];
  assign y_o     = y5_q;
  assign tag_o   = tag5_q;

  // Behind the digits.
  logic [25:0] quotient;
  logic rest_left;
  logic [4:0] right;
  logic [7:0] field;
  logic [TagBits-1:0] tag;
  logic sign, nan, infinite, zero;
  assign quotient  = g_digit[Digits-1].quotient_q;
  assign rest_left = g_digit[Digits-1].rest_q != 24'd0;
  assign {tag, sign, nan, infinite, zero, right, field} = g_digit[Digits-1].side_q;

  // The last stage stands first: so each register is read before it is written, and a simulation
  // needs no second copy of it.
  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0) begin
      if (valid_q[Latency-2]) begin : round
        y5_q <= nan4_q ? float_pkg::Nan
              : infinite4_q ? {sign4_q, 31'h7F800000}
              : float_pkg::rounded_wide(sign4_q, field4_q, quotient4_q, sticky4_q);
        tag5_q <= tag4_q;
      end
      if (valid_q[Latency-3]) begin : place
        logic [25:0] shifted;
        shifted = quotient >> right;
        quotient4_q <= zero ? 26'd0 : shifted;
        sticky4_q <= !zero &&
                     (rest_left || (quotient & ~(26'h3FFFFFF << right)) != 26'd0);
        field4_q    <= {1'b0, field};
        sign4_q     <= sign;
        nan4_q      <= nan;
        infinite4_q <= infinite;
        tag4_q      <= tag;
      end
      if (valid_q[1]) begin : prepare
        logic subnormal;
        logic [9:0] distance;
        subnormal = field2_q[9] || field2_q == 10'd0;
        distance  = 10'd1 - field2_q;
        rest3_q    <= a2_q;
        divisor3_q <= b2_q;
        triple3_q  <= {2'd0, b2_q} + {1'b0, b2_q, 1'b0};
        side3_q <= {tag2_q, sign2_q, nan2_q, infinite2_q, zero2_q,
                    !subnormal ? 5'd0 : distance[9:5] != 5'd0 ? 5'd31 : distance[4:0],
                    subnormal ? 8'd1 : field2_q[8] ? 8'd255 : field2_q[7:0]};
      end
      if (valid_q[0]) begin : normalize
        a2_q        <= a1_q << a_zeros1_q;
        b2_q        <= b1_q << b_zeros1_q;
        field2_q    <= field1_q + {5'd0, b_zeros1_q} - {5'd0, a_zeros1_q};
        sign2_q     <= sign1_q;
        nan2_q      <= nan1_q;
        infinite2_q <= infinite1_q;
        zero2_q     <= zero1_q;
        tag2_q      <= tag1_q;
      end
      if (valid_i) begin : unpack
        logic a_subnormal, b_subnormal, a_infinite, b_infinite, a_zero, b_zero;
        a_subnormal = a_i[30:23] == 8'd0;
        b_subnormal = b_i[30:23] == 8'd0;
        a_infinite  = a_i[30:23] == 8'hFF;
        b_infinite  = b_i[30:23] == 8'hFF;
        a_zero      = a_i[30:0] == 31'd0;
        b_zero      = b_i[30:0] == 31'd0;
        a1_q       <= {!a_subnormal, a_i[22:0]};
        b1_q       <= {!b_subnormal, b_i[22:0]};
        a_zeros1_q <= float_pkg::leading_zeros({!a_subnormal, a_i[22:0], 8'hFF});
        b_zeros1_q <= float_pkg::leading_zeros({!b_subnormal, b_i[22:0], 8'hFF});
        field1_q <= {2'd0, a_i[30:24], a_i[23] || a_subnormal} -
                    {2'd0, b_i[30:24], b_i[23] || b_subnormal} + 10'd126;
        sign1_q     <= a_i[31] ^ b_i[31];
        infinite1_q <= a_infinite || b_zero;
        zero1_q     <= a_zero || b_infinite;
        nan1_q <= (a_infinite && (b_infinite || a_i[22:0] != 23'd0)) ||
                  (b_infinite && b_i[22:0] != 23'd0) || (a_zero && b_zero);
        tag1_q <= tag_i;
      end
      valid_q <= {valid_q[Latency-2:0], valid_i};
    end
    if (!rst_ni) valid_q <= '0;
  end

  // A rest is below the divisor. The first digit holds the bits of weight 1 and 1/2, since the
  // quotient lies in (1/2, 2); so all 26 bits and whether a rest is left are enough to round.
  for (genvar k = 0; k < Digits; k++) begin : g_digit
    logic [25:0] four_rest, triple;
    logic [23:0] rest_q, divisor, upper;
    logic [SideBits-1:0] beside, side_q;
    // The last digit hands on no divisor, and the others not yet the first bits of a quotient.
    // verilator lint_off UNUSEDSIGNAL
    logic [23:0] divisor_q;
    logic [25:0] triple_q, quotient_q;
    // verilator lint_on UNUSEDSIGNAL
    if (k == 0) begin : g_first
      assign four_rest = {1'b0, rest3_q, 1'b0};
      assign divisor   = divisor3_q;
      assign triple    = triple3_q;
      assign upper     = 24'd0;
      assign beside    = side3_q;
    end else begin : g_next
      assign four_rest = {g_digit[k-1].rest_q, 2'd0};
      assign divisor   = g_digit[k-1].divisor_q;
      assign triple    = g_digit[k-1].triple_q;
      assign upper     = g_digit[k-1].quotient_q[23:0];
      assign beside    = g_digit[k-1].side_q;
    end
    always_ff @(posedge clk_i) begin
      if (valid_q[k+2]) begin : digit
        // Bit 26 is the sign. What is chosen is below the divisor, so bits 25 and 24 are then 0.
        // verilator lint_off UNUSEDSIGNAL
        logic [26:0] one, two, three;
        // verilator lint_on UNUSEDSIGNAL
        one   = {1'b0, four_rest} - {3'd0, divisor};
        two   = {1'b0, four_rest} - {2'd0, divisor, 1'b0};
        three = {1'b0, four_rest} - {1'b0, triple};
        rest_q <= !three[26] ? three[23:0]
                : !two[26] ? two[23:0]
                : !one[26] ? one[23:0] : four_rest[23:0];
        quotient_q <= {upper, !two[26], !three[26] || (two[26] && !one[26])};
        divisor_q  <= divisor;
        triple_q   <= triple;
        side_q     <= beside;
      end
    end
  end
endmodule
