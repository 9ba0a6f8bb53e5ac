// R(x, s): the integer nearest to x * 2^s, ties to even, on the bits of x (arithmetic.md section 1).
// Subnormal x gives 0, whatever s is. Infinities and NaNs are taken as if their exponent field were
// that of a number.
//
// Overflow: a magnitude of 2^25 or more becomes 2^25 - 1 with x's sign, so a clamp to a narrower
// range behind it gives what it would of the exact integer.
// Latency: 3 cycles. Throughput: one a cycle; no back-pressure. The tag travels along. Reset clears
// what is under way. A stage's registers change only when it holds something.
module round_scaled #(
    parameter int TagBits = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               valid_i,
    input  logic [       31:0] x_i,
    input  logic [        9:0] s_i,      // signed
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    output logic [       25:0] q_o,      // signed
    output logic [TagBits-1:0] tag_o
);
  localparam int Latency = 3;

  logic [Latency-1:0] valid_q;

  // Stage 1: what happens to the significand.
  logic [23:0] m1_q;
  logic [4:0] right1_q;
  logic left1_q, saturated1_q, sign1_q;
  logic [TagBits-1:0] tag1_q;

  // Stage 2: moved.
  logic [24:0] q2_q;
  logic up2_q, sign2_q;
  logic [TagBits-1:0] tag2_q;

  // Stage 3: rounded, with its sign.
  logic [25:0] q3_q;
  logic [TagBits-1:0] tag3_q;

  assign valid_o = valid_q[Latency-1];
  assign q_o     = q3_q;
  assign tag_o   = tag3_q;

  // The last stage stands first: so each register is read before it is written, and a simulation
  // needs no second copy of it.
  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0) begin
      if (valid_q[1]) begin : round
        // -(q + up) is ~q + 1 - up.
        q3_q   <= ({1'b0, q2_q} ^ {26{sign2_q}}) + {25'd0, up2_q ^ sign2_q};
        tag3_q <= tag2_q;
      end
      if (valid_q[0]) begin : shift
        logic [49:0] shifted;  // 25 bits of the integer, 25 bits behind the point
        shifted = {1'b0, m1_q, 25'd0} >> right1_q;
        q2_q    <= saturated1_q ? 25'h1FFFFFF : left1_q ? {m1_q, 1'b0} : shifted[49:25];
        up2_q   <= !saturated1_q && shifted[24] && (shifted[25] || shifted[23:0] != 24'd0);
        sign2_q <= sign1_q;
        tag2_q  <= tag1_q;
      end
      if (valid_i) begin : distance
        logic [10:0] n;  // how far to the right: 150 - field - s, from -616 to 661
        logic zero;
        n    = 11'd150 - {3'd0, x_i[30:23]} - {s_i[9], s_i};
        zero = x_i[30:23] == 8'd0 || (!n[10] && n[9:0] > 10'd25);
        m1_q         <= zero ? 24'd0 : {1'b1, x_i[22:0]};
        right1_q     <= n[10] || zero ? 5'd0 : n[4:0];
        left1_q      <= n == 11'h7FF;
        saturated1_q <= n[10] && n != 11'h7FF && x_i[30:23] != 8'd0;
        sign1_q      <= x_i[31];
        tag1_q       <= tag_i;
      end
      valid_q <= {valid_q[Latency-2:0], valid_i};
    end
    if (!rst_ni) valid_q <= '0;
  end
endmodule
