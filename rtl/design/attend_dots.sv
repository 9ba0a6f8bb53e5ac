// I = sum of query times key over the columns of a head: for each bank 32 int16 of a key against 4
// query heads, 512 multipliers of 16x16 in all, 39-bit sums over the words of the head.
//
// Latency: 4 cycles from the last word of a slot to its 16 sums, which then stay for at least one
// more cycle where the set has more than two heads (the stream leaves that gap). Throughput: a beat
// a cycle, no back-pressure. Overflow: none up to 256 columns; garbage in positions that do not take
// part wraps. Assumed of a stage: four products and their sum are two blocks of two 18x19
// multipliers, chained, registers at both ends; else one level of 4:1 adders. Reset clears what is
// under way.
module attend_dots (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   valid_i,
    input  attend_pkg::key_label_t label_i,
    input  logic [         2047:0] keys_i,             // bank b at [512b +: 512]
    input  logic [         2047:0] queries_i,          // head q at [512q +: 512]
    input  logic [           31:0] query_exponents_i,  // head q at [8q +: 8]
    output logic                   valid_o,
    output attend_pkg::key_label_t label_o,
    output logic [           31:0] query_exponents_o,
    output logic [         1023:0] sums_o              // head q, bank b at [64(4q + b) +: 64]
);
  logic valid1_q, valid2_q, valid3_q, valid4_q;
  attend_pkg::key_label_t label1_q, label2_q, label3_q, label4_q;
  logic [31:0] exponents1_q, exponents2_q, exponents3_q, exponents4_q;

  assign valid_o           = valid4_q;
  assign label_o           = label4_q;
  assign query_exponents_o = exponents4_q;

  function automatic logic signed [31:0] product(input logic [15:0] a, input logic [15:0] b);
    product = 32'($signed(a)) * 32'($signed(b));
  endfunction

  function automatic logic signed [33:0] dot4(input logic [63:0] a, input logic [63:0] b);
    dot4 = 34'(product(a[15:0], b[15:0])) + 34'(product(a[31:16], b[31:16])) +
           34'(product(a[47:32], b[47:32])) + 34'(product(a[63:48], b[63:48]));
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_i || valid1_q || valid2_q || valid3_q || valid4_q) begin
      valid1_q <= valid_i;
      valid2_q <= valid1_q;
      valid3_q <= valid2_q;
      valid4_q <= valid3_q && label3_q.last;
    end
    if (valid_i) begin
      label1_q     <= label_i;
      exponents1_q <= query_exponents_i;
    end
    if (valid1_q) begin
      label2_q     <= label1_q;
      exponents2_q <= exponents1_q;
    end
    if (valid2_q) begin
      label3_q     <= label2_q;
      exponents3_q <= exponents2_q;
    end
    if (valid3_q && label3_q.last) begin
      label4_q     <= label3_q;
      exponents4_q <= exponents3_q;
    end
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
      valid4_q <= 1'b0;
    end
  end

  for (genvar q = 0; q < 4; q++) begin : g_head
    for (genvar b = 0; b < 4; b++) begin : g_bank
      logic signed [33:0] dot0_q, dot1_q, dot2_q, dot3_q, dot4_q, dot5_q, dot6_q, dot7_q;
      logic signed [35:0] low_q, high_q;
      logic signed [36:0] dot_q;
      logic signed [38:0] sums[0:3];  // of each set

      always_ff @(posedge clk_i) begin
        if (valid_i) begin
          dot0_q <= dot4(keys_i[512*b+:64], queries_i[512*q+:64]);
          dot1_q <= dot4(keys_i[512*b+64+:64], queries_i[512*q+64+:64]);
          dot2_q <= dot4(keys_i[512*b+128+:64], queries_i[512*q+128+:64]);
          dot3_q <= dot4(keys_i[512*b+192+:64], queries_i[512*q+192+:64]);
          dot4_q <= dot4(keys_i[512*b+256+:64], queries_i[512*q+256+:64]);
          dot5_q <= dot4(keys_i[512*b+320+:64], queries_i[512*q+320+:64]);
          dot6_q <= dot4(keys_i[512*b+384+:64], queries_i[512*q+384+:64]);
          dot7_q <= dot4(keys_i[512*b+448+:64], queries_i[512*q+448+:64]);
        end
        if (valid1_q) begin
          low_q  <= 36'(dot0_q) + 36'(dot1_q) + 36'(dot2_q) + 36'(dot3_q);
          high_q <= 36'(dot4_q) + 36'(dot5_q) + 36'(dot6_q) + 36'(dot7_q);
        end
        if (valid2_q) dot_q <= 37'(low_q) + 37'(high_q);
        if (valid3_q) begin : accumulate
          logic signed [38:0] sum;
          sum = (label3_q.first ? 39'sd0 : sums[label3_q.head_set]) + 39'(dot_q);
          sums[label3_q.head_set] <= sum;
          if (label3_q.last) sums_o[64*(4*q+b)+:64] <= 64'(sum);
        end
      end
    end
  end
endmodule
