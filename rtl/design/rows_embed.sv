// Embedding words before their row scale: F(q * c) of 32 int8 weights and their group's multiplier,
// as binary32. |q * c| is below 2^15, so F is exact.
//
// Latency: 4 cycles. Throughput: one word a cycle; no back-pressure. The row scale travels along.
// Overflow: none. Reset clears what is under way.
module rows_embed (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            valid_i,
    input  logic [ engine_pkg::Lanes*8-1:0] weights_i,     // signed
    input  logic [                     7:0] multiplier_i,
    input  logic [                    31:0] scale_i,
    output logic                            valid_o,
    output logic [engine_pkg::Lanes*32-1:0] x_o,
    output logic [                    31:0] scale_o
);
  localparam int Lanes = engine_pkg::Lanes;

  logic [3:0] valid_q;
  logic [31:0] scale1_q, scale2_q, scale3_q;

  assign valid_o = valid_q[3];

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[2:0], valid_i};
    if (!rst_ni) valid_q <= '0;
  end

  // Stage 1: products; they fit 16 bits: from -128 * 255 to 127 * 255.
  function automatic logic [15:0] product(input logic [7:0] q, input logic [7:0] c);
    product = {{8{q[7]}}, q} * {8'd0, c};
  endfunction

  logic [Lanes*16-1:0] product1_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      for (int k = 0; k < Lanes; k++) begin
        product1_q[k*16+:16] <= product(weights_i[k*8+:8], multiplier_i);
      end
      scale1_q <= scale_i;
    end
  end

  // Stage 2: signs and magnitudes.
  logic [Lanes*16-1:0] magnitude2_q;
  logic [Lanes-1:0] sign2_q;
  always_ff @(posedge clk_i) begin
    if (valid_q[0]) begin
      for (int k = 0; k < Lanes; k++) begin
        sign2_q[k] <= product1_q[k*16+15];
        magnitude2_q[k*16+:16] <= product1_q[k*16+15] ? -product1_q[k*16+:16]
                                                      : product1_q[k*16+:16];
      end
      scale2_q <= scale1_q;
    end
  end

  // Stage 3: zeros in front.
  function automatic logic [3:0] zeros_in_front(input logic [15:0] magnitude);
    zeros_in_front = 4'(float_pkg::leading_zeros({magnitude, 16'hFFFF}));  // of 0: no meaning
  endfunction

  logic [Lanes*16-1:0] magnitude3_q;
  logic [Lanes-1:0] sign3_q;
  logic [Lanes*4-1:0] zeros3_q;
  always_ff @(posedge clk_i) begin
    if (valid_q[1]) begin
      for (int k = 0; k < Lanes; k++) begin
        zeros3_q[k*4+:4] <= zeros_in_front(magnitude2_q[k*16+:16]);
      end
      sign3_q      <= sign2_q;
      magnitude3_q <= magnitude2_q;
      scale3_q     <= scale2_q;
    end
  end

  // Stage 4: in place.
  function automatic logic [31:0] packed_f32(input logic sign, input logic [15:0] magnitude,
                                             input logic [3:0] zeros);
    logic [15:0] moved;
    moved      = magnitude << zeros;
    packed_f32 = moved[15] ? {sign, 8'd142 - {4'd0, zeros}, moved[14:0], 8'd0} : 32'd0;
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_q[2]) begin
      for (int k = 0; k < Lanes; k++) begin
        x_o[k*32+:32] <= packed_f32(sign3_q[k], magnitude3_q[k*16+:16], zeros3_q[k*4+:4]);
      end
      scale_o <= scale3_q;
    end
  end
endmodule
