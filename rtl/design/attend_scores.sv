// Scores: s = 2^(qe + ke) * f32(F(I) * isq), +0 where an exponent is ZE or they add up to less than
// -100, and the maximum m of each query head. Eight lanes: two heads of four banks; a set with more
// than two heads takes two cycles.
//
// Latency: 13 cycles to the group buffer, 4 more to m; done_o follows the pair's last one. No
// back-pressure. Positions that do not take part give +0 and no maximum. A maximum is kept as the
// unsigned number that orders binary32: a comparison of 32 bits and a choice in a stage.
// Reset clears what is under way.
module attend_scores (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic [           31:0] root_i,             // isq
    // A pair begins: no maximum yet.
    input  logic                   start_i,
    input  logic                   start_parity_i,
    // Sums of a set, held for a cycle more where it has more than two heads.
    input  logic                   valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  attend_pkg::key_label_t label_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [           31:0] query_exponents_i,
    input  logic [         1023:0] sums_i,
    // Group buffer: heads 2h and 2h + 1 of a word, lane 4(q mod 2) + b at [32 * lane +: 32].
    output logic                   write_valid_o,
    output logic                   write_parity_o,
    output logic                   write_half_o,
    output logic [           15:0] write_address_o,
    output logic [          255:0] write_data_o,
    output logic                   done_o,
    output logic                   done_parity_o,
    // m of a head of a pair.
    input  logic                   greatest_parity_i,
    input  logic [            3:0] greatest_head_i,
    output logic [           31:0] greatest_o
);
  typedef struct packed {
    logic        pair_last;
    logic        parity;
    logic [1:0]  head_set;
    logic        half;
    logic [3:0]  takes_part;
    logic [15:0] address;
  } place_t;

  // The half at hand.
  logic second_q, lanes_valid_q;
  logic [511:0] sums_q;
  logic [79:0] powers_q;  // qe + ke of each lane
  logic [7:0] zeros_q;
  place_t place_q;

  function automatic logic [9:0] power(input logic [7:0] a, input logic [7:0] b);
    power = {{2{a[7]}}, a} + {{2{b[7]}}, b};
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_i || second_q || lanes_valid_q) begin
      lanes_valid_q <= valid_i || second_q;
      second_q      <= valid_i && label_i.both;
    end
    if (valid_i || second_q) begin
      sums_q  <= second_q ? sums_i[1023:512] : sums_i[511:0];
      place_q <= {
        label_i.pair_last && (second_q || !label_i.both),
        label_i.parity,
        label_i.head_set,
        second_q,
        label_i.takes_part,
        label_i.address
      };
      for (int h = 0; h < 2; h++) begin
        for (int b = 0; b < 4; b++) begin : lane
          logic [7:0] query, key;
          logic [9:0] sum;
          query = second_q ? query_exponents_i[8*(h+2)+:8] : query_exponents_i[8*h+:8];
          key   = label_i.exponents[8*b+:8];
          sum   = power(query, key);
          powers_q[10*(4*h+b)+:10] <= sum;
          zeros_q[4*h+b] <= query == 8'h80 || key == 8'h80 || $signed(sum) < -10'sd100 ||
                            !label_i.takes_part[b];
        end
      end
    end
    if (!rst_ni) begin
      second_q      <= 1'b0;
      lanes_valid_q <= 1'b0;
    end
  end

  // Eight lanes; the first carries the place.
  logic product_valid;
  place_t product_place;
  for (genvar l = 0; l < 8; l++) begin : g_lane
    localparam int TagBits = l == 0 ? 36 : 11;
    logic [TagBits-1:0] tag, converted_tag, product_tag;
    logic converted_valid, valid;
    logic [31:0] converted, product, scaled;
    if (l == 0) begin : g_place
      assign tag           = {place_q, zeros_q[l], powers_q[10*l+:10]};
      assign product_valid = valid;
      assign product_place = product_tag[TagBits-1:11];
    end else begin : g_bare
      assign tag = {zeros_q[l], powers_q[10*l+:10]};
    end
    int_to_f32 #(
        .TagBits(TagBits)
    ) convert (
        .clk_i,
        .rst_ni,
        .valid_i(lanes_valid_q),
        .i_i    (sums_q[64*l+:64]),
        .tag_i  (tag),
        .valid_o(converted_valid),
        .y_o    (converted),
        .tag_o  (converted_tag)
    );
    f32_mul #(
        .TagBits(TagBits)
    ) multiply (
        .clk_i,
        .rst_ni,
        .valid_i(converted_valid),
        .a_i    (converted),
        .b_i    (root_i),
        .tag_i  (converted_tag),
        .valid_o(valid),
        .y_o    (product),
        .tag_o  (product_tag)
    );
    f32_scale scale (
        .x_i(product),
        .e_i(product_tag[9:0]),
        .y_o(scaled)
    );
    always_ff @(posedge clk_i) begin
      if (valid) write_data_o[32*l+:32] <= product_tag[10] ? 32'd0 : scaled;
    end
  end

  place_t written_q;
  logic written_valid_q;
  assign write_valid_o   = written_valid_q;
  assign write_parity_o  = written_q.parity;
  assign write_half_o    = written_q.half;
  assign write_address_o = written_q.address;

  // m: the larger of two banks each, of the slot, of the pair so far.
  function automatic logic [31:0] ordered(input logic [31:0] x, input logic takes_part);
    ordered = !takes_part ? 32'd0 : x[31] ? ~x : {1'b1, x[30:0]};
  endfunction

  function automatic logic [31:0] larger(input logic [31:0] a, input logic [31:0] b);
    larger = a > b ? a : b;
  endfunction

  logic twos_valid_q, fours_valid_q;
  logic twos_last_q, fours_last_q, twos_parity_q, fours_parity_q;
  logic [2:0] twos_index_q, fours_index_q;  // {set, half}
  logic [15:0] fresh_q;                     // no maximum yet, {parity, set, half}

  always_ff @(posedge clk_i) begin
    if (product_valid || written_valid_q || twos_valid_q || fours_valid_q || done_o) begin
      written_valid_q <= product_valid;
      twos_valid_q    <= written_valid_q;
      fours_valid_q   <= twos_valid_q;
      done_o          <= fours_valid_q && fours_last_q;
    end
    if (product_valid) written_q <= product_place;
    if (written_valid_q) begin
      twos_last_q   <= written_q.pair_last;
      twos_parity_q <= written_q.parity;
      twos_index_q  <= {written_q.head_set, written_q.half};
    end
    if (twos_valid_q) begin
      fours_last_q   <= twos_last_q;
      fours_parity_q <= twos_parity_q;
      fours_index_q  <= twos_index_q;
    end
    if (fours_valid_q) begin
      fresh_q[{fours_parity_q, fours_index_q}] <= 1'b0;
      done_parity_o <= fours_parity_q;
    end
    if (start_i && !start_parity_i) fresh_q[7:0] <= 8'hFF;
    if (start_i && start_parity_i) fresh_q[15:8] <= 8'hFF;
    if (!rst_ni) begin
      written_valid_q <= 1'b0;
      twos_valid_q    <= 1'b0;
      fours_valid_q   <= 1'b0;
      done_o          <= 1'b0;
    end
  end

  logic [63:0] greatest;  // heads 2h and 2h + 1 of the half that is asked for
  for (genvar h = 0; h < 2; h++) begin : g_greatest
    logic [31:0] maxima[0:15];  // {parity, set, half}
    logic [31:0] low_q, high_q, four_q;

    always_ff @(posedge clk_i) begin
      if (written_valid_q) begin
        low_q  <= larger(ordered(write_data_o[128*h+:32], written_q.takes_part[0]),
                         ordered(write_data_o[128*h+32+:32], written_q.takes_part[1]));
        high_q <= larger(ordered(write_data_o[128*h+64+:32], written_q.takes_part[2]),
                         ordered(write_data_o[128*h+96+:32], written_q.takes_part[3]));
      end
      if (twos_valid_q) four_q <= larger(low_q, high_q);
      if (fours_valid_q) begin
        if (fresh_q[{fours_parity_q, fours_index_q}] ||
            four_q > maxima[{fours_parity_q, fours_index_q}]) begin
          maxima[{fours_parity_q, fours_index_q}] <= four_q;
        end
      end
    end

    assign greatest[32*h+:32] = maxima[{greatest_parity_i, greatest_head_i[3:1]}];
  end

  logic [31:0] asked;
  assign asked      = greatest_head_i[0] ? greatest[63:32] : greatest[31:0];
  assign greatest_o = asked[31] ? {1'b0, asked[30:0]} : ~asked;
endmodule
