// Q16 of words of binary32 whose row's exponent is known (arithmetic.md section 2): R(x, s),
// clamped to +-32767, with zeros outside [from_i, to_i).
//
// Latency: 4 cycles. Throughput: one word a cycle; no back-pressure. The tag travels along. -32768
// never occurs. Reset clears what is under way.
module rows_quantize #(
    parameter int Lanes   = 32,
    parameter int TagBits = 1
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                valid_i,
    input  logic [Lanes*32-1:0] x_i,
    input  logic [         9:0] s_i,      // signed: 14 - X
    input  logic [         4:0] from_i,   // first lane that counts
    input  logic [         5:0] to_i,     // lane behind the last one that counts; 0: none
    input  logic [ TagBits-1:0] tag_i,
    output logic                valid_o,
    output logic [Lanes*16-1:0] q_o,
    output logic [ TagBits-1:0] tag_o
);
  logic rounded_valid;
  logic [TagBits+10:0] rounded_tag;
  logic [Lanes-1:0] not_before;
  logic [5:0] to;

  assign not_before = {Lanes{1'b1}} << rounded_tag[10:6];
  assign to         = rounded_tag[5:0];

  function automatic logic [15:0] clamped(input logic [25:0] q);
    if (q[25:15] == 11'h000 || (q[25:15] == 11'h7FF && q[14:0] != 15'd0)) clamped = q[15:0];
    else clamped = q[25] ? 16'h8001 : 16'h7FFF;
  endfunction

  for (genvar k = 0; k < Lanes; k++) begin : gen_lane
    logic [25:0] rounded;
    if (k == 0) begin : gen_first  // carries the tag for all
      round_scaled #(
          .TagBits(TagBits + 11)
      ) u_round (
          .clk_i,
          .rst_ni,
          .valid_i,
          .x_i    (x_i[k*32+:32]),
          .s_i,
          .tag_i  ({tag_i, from_i, to_i}),
          .valid_o(rounded_valid),
          .q_o    (rounded),
          .tag_o  (rounded_tag)
      );
    end else begin : gen_other
      logic unused_tag, unused_valid;
      round_scaled #(
          .TagBits(1)
      ) u_round (
          .clk_i,
          .rst_ni,
          .valid_i,
          .x_i    (x_i[k*32+:32]),
          .s_i,
          .tag_i  (1'b0),
          .valid_o(unused_valid),
          .q_o    (rounded),
          .tag_o  (unused_tag)
      );
    end
    always_ff @(posedge clk_i) begin
      if (rounded_valid) begin
        q_o[k*16+:16] <= not_before[k] && to > 6'(k) ? clamped(rounded) : 16'd0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rounded_valid) tag_o <= rounded_tag[TagBits+10:11];
    valid_o <= rounded_valid && rst_ni;
  end
endmodule
