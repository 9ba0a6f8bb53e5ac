// Binary32 square root, rounded to nearest even: IEEE 754 with subnormal operands; +-0 stays, every
// NaN and the root of what is below zero come out as 0x7FC00000.
//
// Digit recurrence, one bit of the root a stage.
// Latency: 28 cycles. Throughput: one root a cycle; no back-pressure. The tag travels along. Nothing
// overflows; no root is subnormal. Reset clears what is under way. A stage's registers change only
// when it holds something.
module f32_sqrt #(
    parameter int TagBits = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               valid_i,
    input  logic [       31:0] a_i,
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    output logic [       31:0] y_o,
    output logic [TagBits-1:0] tag_o
);
  localparam int Digits = 25;
  localparam int Latency = Digits + 3;
  localparam int SideBits = TagBits + 12;  // what goes beside the digits

  logic [Latency-1:0] valid_q;

  // Stage 1: significand and the zeros in front of it.
  logic [23:0] a1_q;
  logic [4:0] zeros1_q;
  logic [8:0] field1_q;  // 127 more than the exponent field of a
  logic sign1_q, nan1_q, infinite1_q, zero1_q;
  logic [TagBits-1:0] tag1_q;

  // Stage 2: 26 bits of the radicand, in [1, 4) behind the first two; the root's exponent field.
  logic [25:0] radicand2_q;
  logic [SideBits-1:0] side2_q;

  // The last: rounded.
  logic [31:0] y3_q;
  logic [TagBits-1:0] tag3_q;

  assign valid_o = valid_q[Latency-1];
  assign y_o     = y3_q;
  assign tag_o   = tag3_q;

  // Behind the digits.
  logic [23:0] root;  // without the bit that is implied
  logic rest_left;
  logic [7:0] field;
  logic [TagBits-1:0] tag;
  logic sign, nan, infinite, zero;
  assign root      = g_digit[Digits-1].root_q[23:0];
  assign rest_left = g_digit[Digits-1].rest_q != 26'd0;
  assign {tag, sign, nan, infinite, zero, field} = g_digit[Digits-1].side_q;

  // The last stage stands first: so each register is read before it is written, and a simulation
  // needs no second copy of it.
  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0) begin
      if (valid_q[Latency-2]) begin : round
        y3_q <= nan ? float_pkg::Nan
              : infinite ? 32'h7F800000
              : zero ? {sign, 31'd0}
              : float_pkg::rounded(1'b0, field, root[23:1], root[0], rest_left);
        tag3_q <= tag;
      end
      if (valid_q[0]) begin : normalize
        logic [8:0] twice;  // of the root's field, and 1 where the exponent is odd
        logic [23:0] shifted;
        twice   = field1_q - {4'd0, zeros1_q};
        shifted = a1_q << zeros1_q;
        radicand2_q <= twice[0] ? {shifted, 2'd0} : {1'b0, shifted, 1'b0};
        side2_q     <= {tag1_q, sign1_q, nan1_q, infinite1_q, zero1_q, twice[8:1]};
      end
      if (valid_i) begin : unpack
        logic subnormal;
        subnormal = a_i[30:23] == 8'd0;
        a1_q        <= {!subnormal, a_i[22:0]};
        zeros1_q    <= float_pkg::leading_zeros({!subnormal, a_i[22:0], 8'hFF});
        field1_q    <= {1'b0, a_i[30:24], a_i[23] || subnormal} + 9'd127;
        sign1_q     <= a_i[31];
        nan1_q      <= a_i[30:0] > 31'h7F800000 || (a_i[31] && a_i[30:0] != 31'd0);
        infinite1_q <= a_i[30:23] == 8'hFF;
        zero1_q     <= a_i[30:0] == 31'd0;
        tag1_q      <= tag_i;
      end
      valid_q <= {valid_q[Latency-2:0], valid_i};
    end
    if (!rst_ni) valid_q <= '0;
  end

  // The rest is at most twice the root so far.
  for (genvar k = 0; k < Digits; k++) begin : g_digit
    logic [25:0] rest, rest_q;
    logic [24:0] upper;
    logic [25:0] radicand;
    logic [SideBits-1:0] beside, side_q;
    // The last digit hands on no radicand, and the root's first bit is implied.
    // verilator lint_off UNUSEDSIGNAL
    logic [25:0] radicand_q;
    logic [24:0] root_q;
    // verilator lint_on UNUSEDSIGNAL
    if (k == 0) begin : g_first
      assign rest     = 26'd0;
      assign upper     = 25'd0;
      assign radicand = radicand2_q;
      assign beside   = side2_q;
    end else begin : g_next
      assign rest     = g_digit[k-1].rest_q;
      assign upper     = g_digit[k-1].root_q;
      assign radicand = g_digit[k-1].radicand_q;
      assign beside   = g_digit[k-1].side_q;
    end
    always_ff @(posedge clk_i) begin
      if (valid_q[k+1]) begin : digit
        // (2 r + 1)^2 is 4 r^2 + (4 r + 1). Bit 28 is the sign; what is chosen has 26 bits.
        // verilator lint_off UNUSEDSIGNAL
        logic [28:0] trial;
        // verilator lint_on UNUSEDSIGNAL
        trial = {1'b0, rest, radicand[25:24]} - {2'd0, upper, 2'b01};
        rest_q     <= trial[28] ? {rest[23:0], radicand[25:24]} : trial[25:0];
        root_q     <= {upper[23:0], !trial[28]};
        radicand_q <= {radicand[23:0], 2'd0};
        side_q     <= beside;
      end
    end
  end
endmodule
