// F: the binary32 nearest to a signed 64-bit integer, ties to even, one rounding
// (arithmetic.md section 1).
//
// Latency: 6 cycles. Throughput: one a cycle; no back-pressure. The tag travels along. Nothing
// overflows: -2^63 has its binary32. 0 gives +0. Reset clears what is under way. A stage's registers
// change only when it holds something.
module int_to_f32 #(
    parameter int TagBits = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               valid_i,
    input  logic [       63:0] i_i,
    input  logic [TagBits-1:0] tag_i,
    output logic               valid_o,
    output logic [       31:0] y_o,
    output logic [TagBits-1:0] tag_o
);
  localparam int Latency = 6;

  logic [Latency-1:0] valid_q;

  // Stage 1: the low half's magnitude.
  logic [31:0] high1_q, low1_q;
  logic carry1_q, sign1_q;
  logic [TagBits-1:0] tag1_q;

  // Stage 2: the high half's too.
  logic [63:0] whole2_q;
  logic sign2_q;
  logic [TagBits-1:0] tag2_q;

  // Stage 3: to the left by multiples of 16.
  logic [63:0] whole3_q;
  logic [1:0] coarse3_q;
  logic sign3_q;
  logic [TagBits-1:0] tag3_q;

  // Stage 4: zeros left in front.
  logic [63:0] whole4_q;
  logic [1:0] coarse4_q;
  logic [3:0] fine4_q;
  logic sign4_q;
  logic [TagBits-1:0] tag4_q;

  // Stage 5: in place.
  logic [7:0] field5_q;
  logic [22:0] fraction5_q;
  logic guard5_q, sticky5_q, sign5_q;
  logic [TagBits-1:0] tag5_q;

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
        y6_q   <= float_pkg::rounded(sign5_q, field5_q, fraction5_q, guard5_q, sticky5_q);
        tag6_q <= tag5_q;
      end
      if (valid_q[3]) begin : fine
        logic [63:0] shifted;
        shifted = whole4_q << fine4_q;
        // 2^63 has the field 127 + 63. Only 0 has no bit in front.
        field5_q    <= shifted[63] ? 8'd190 - {2'd0, coarse4_q, fine4_q} : 8'd0;
        fraction5_q <= shifted[62:40];
        guard5_q    <= shifted[39];
        sticky5_q   <= shifted[38:0] != 39'd0;
        sign5_q     <= sign4_q;
        tag5_q      <= tag4_q;
      end
      if (valid_q[2]) begin : count
        fine4_q   <= 4'(float_pkg::leading_zeros({whole3_q[63:48], 16'hFFFF}));
        whole4_q  <= whole3_q;
        coarse4_q <= coarse3_q;
        sign4_q   <= sign3_q;
        tag4_q    <= tag3_q;
      end
      if (valid_q[1]) begin : coarse
        if (whole2_q[63:48] != 16'd0) begin
          coarse3_q <= 2'd0;
          whole3_q  <= whole2_q;
        end else if (whole2_q[47:32] != 16'd0) begin
          coarse3_q <= 2'd1;
          whole3_q  <= {whole2_q[47:0], 16'd0};
        end else if (whole2_q[31:16] != 16'd0) begin
          coarse3_q <= 2'd2;
          whole3_q  <= {whole2_q[31:0], 32'd0};
        end else begin
          coarse3_q <= 2'd3;
          whole3_q  <= {whole2_q[15:0], 48'd0};
        end
        sign3_q <= sign2_q;
        tag3_q  <= tag2_q;
      end
      if (valid_q[0]) begin : high
        whole2_q <= {(high1_q ^ {32{sign1_q}}) + {31'd0, carry1_q}, low1_q};
        sign2_q  <= sign1_q;
        tag2_q   <= tag1_q;
      end
      if (valid_i) begin : low
        {carry1_q, low1_q} <= {1'b0, i_i[31:0] ^ {32{i_i[63]}}} + {32'd0, i_i[63]};
        high1_q <= i_i[63:32];
        sign1_q <= i_i[63];
        tag1_q  <= tag_i;
      end
      valid_q <= {valid_q[Latency-2:0], valid_i};
    end
    if (!rst_ni) valid_q <= '0;
  end
endmodule
