// A = sum of weight times value over the positions of a pair: an outer product, for each of 32
// columns and 4 heads the products of four banks, 512 multipliers of 25x16 in all, their sums added
// up for each word and set (32 contexts).
//
// Latency: 3 cycles from a beat to its sums in memory; done_o follows the pair's last. Sums of four
// columns of a head 3 cycles after they are asked for. Throughput: a beat a cycle, no back-pressure;
// sums are not asked for while beats are under way. Overflow: 56 bits count up to 131,072 positions;
// a sum is kept in the 64 bits that an accumulator of a multiplier block has. Assumed of a stage:
// four products and their sum are four blocks of one 27x27 multiplier, chained, registers at both
// ends; else one sum of 64 bits. The sums lie in memories of 32 words with one write and one read
// port; what is on its way there goes past them. Reset clears what is under way.
module attend_values (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  attend_pkg::value_label_t label_i,
    input  logic [            511:0] weights_i,     // head q, bank b at [32(4q + b) +: 24]
    // verilator lint_on UNUSEDSIGNAL
    input  logic [           2047:0] values_i,      // bank b at [512b +: 512]
    output logic                     done_o,
    input  logic                     read_valid_i,
    input  logic [              1:0] read_set_i,
    input  logic [              2:0] read_word_i,
    input  logic [              1:0] read_head_i,
    input  logic [              2:0] read_quad_i,
    output logic [            255:0] read_data_o
);
  logic valid1_q, valid2_q, first1_q, last1_q, last2_q, same1, same2;
  logic [4:0] context0, context1_q, context2_q;
  assign context0 = read_valid_i ? {read_set_i, read_word_i} : {label_i.head_set, label_i.word};
  // The sum that was just made, and the one before it on its way to the memory.
  assign same1    = valid2_q && context2_q == context1_q;
  assign same2    = valid2_q && context2_q == context0 && !read_valid_i;

  logic read1_q, read2_q, busy;
  assign busy = valid_i || valid1_q || valid2_q || read_valid_i || read1_q;
  logic [1:0] head1_q;
  logic [2:0] quad1_q, quad2_q;

  always_ff @(posedge clk_i) begin
    if (valid_i || valid1_q || valid2_q || done_o) begin
      valid1_q <= valid_i;
      valid2_q <= valid1_q;
      done_o   <= valid2_q && last2_q;
    end
    if (valid_i) begin
      first1_q   <= label_i.first;
      last1_q    <= label_i.pair_last;
      context1_q <= context0;
    end
    if (valid1_q) begin
      last2_q    <= last1_q;
      context2_q <= context1_q;
    end
    if (read_valid_i || read1_q || read2_q) begin
      read1_q <= read_valid_i;
      read2_q <= read1_q;
    end
    if (read_valid_i) begin
      head1_q <= read_head_i;
      quad1_q <= read_quad_i;
    end
    if (read1_q) quad2_q <= quad1_q;
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      done_o   <= 1'b0;
      read1_q  <= 1'b0;
      read2_q  <= 1'b0;
    end
  end

  function automatic logic signed [63:0] product(input logic [23:0] weight,
                                                 input logic [15:0] value);
    product = 64'($signed({1'b0, weight})) * 64'($signed(value));
  endfunction

  // A simulator copies what is read after it was written: so the last stage stands first.
  logic [2047:0] quads_q;  // one head's sums of the columns of each quad
  for (genvar k = 0; k < 8; k++) begin : g_quad
    logic [1023:0] sums[0:31];  // head q, column l at [64(4q + l) +: 64]
    logic [1023:0] four_q, read_q, total_q;

    always_ff @(posedge clk_i) begin
      if (busy) begin : stages
        logic [1023:0] fetched, so_far;
        fetched = same2 ? total_q : sums[context0];
        so_far  = first1_q ? 1024'd0 : same1 ? total_q : read_q;
        if (read1_q && quad1_q == 3'(k)) begin
          unique case (head1_q)
            2'd0: quads_q[256*k+:256] <= read_q[255:0];
            2'd1: quads_q[256*k+:256] <= read_q[511:256];
            2'd2: quads_q[256*k+:256] <= read_q[767:512];
            default: quads_q[256*k+:256] <= read_q[1023:768];
          endcase
        end
        if (valid2_q) sums[context2_q] <= total_q;
        if (valid1_q) begin
          for (int i = 0; i < 16; i++) begin
            total_q[64*i+:64] <= so_far[64*i+:64] + four_q[64*i+:64];
          end
        end
        if (valid_i) begin
          for (int q = 0; q < 4; q++) begin
            for (int l = 0; l < 4; l++) begin
              four_q[64*(4*q+l)+:64] <=
                  product(weights_i[128*q+:24], values_i[16*(4*k+l)+:16]) +
                  product(weights_i[128*q+32+:24], values_i[512+16*(4*k+l)+:16]) +
                  product(weights_i[128*q+64+:24], values_i[1024+16*(4*k+l)+:16]) +
                  product(weights_i[128*q+96+:24], values_i[1536+16*(4*k+l)+:16]);
            end
          end
        end
        if (valid_i || (read_valid_i && read_quad_i == 3'(k))) read_q <= fetched;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (read2_q) begin
      unique case (quad2_q)
        3'd0: read_data_o <= quads_q[255:0];
        3'd1: read_data_o <= quads_q[511:256];
        3'd2: read_data_o <= quads_q[767:512];
        3'd3: read_data_o <= quads_q[1023:768];
        3'd4: read_data_o <= quads_q[1279:1024];
        3'd5: read_data_o <= quads_q[1535:1280];
        3'd6: read_data_o <= quads_q[1791:1536];
        default: read_data_o <= quads_q[2047:1792];
      endcase
    end
  end
endmodule
