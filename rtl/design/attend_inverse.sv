// The unit's one divider: isq = f32(1 / f32sqrt(columns)) at the start of an instruction, then
// inv = f32(2^23 / F(L)) of each head as its pair's weights are done.
//
// Latency: that of int_to_f32, f32_sqrt and f32_div. Throughput: a head a cycle. No back-pressure:
// at most one pair of each parity waits, since the next one's weights wait for the outputs of this.
// Reset clears what is under way.
module attend_inverse (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,
    input  logic [ 8:0] columns_i,
    output logic        root_ready_o,
    output logic [31:0] root_o,
    // The weights of a pair are done; its last head.
    input  logic        weighed_i,
    input  logic        weighed_parity_i,
    input  logic [ 3:0] weighed_head_i,
    output logic [ 4:0] sum_index_o,       // {parity, head}
    input  logic [41:0] sum_i,             // L, at once
    input  logic        free_i,            // a pair's outputs are done with them
    input  logic        free_parity_i,
    output logic [ 1:0] ready_o,           // of each parity: all stand
    input  logic [ 4:0] inverse_index_i,
    output logic [31:0] inverse_o          // at once
);
  localparam logic [31:0] One = 32'h3F800000;
  localparam logic [31:0] Two23 = 32'h4B000000;

  typedef struct packed {
    logic       root;
    logic       last;
    logic [4:0] index;
  } tag_t;

  // Heads in turn.
  logic [1:0] waiting_q;
  logic parity_q, active_q, last_head;
  logic [3:0] head_q, last_head0_q, last_head1_q;
  assign last_head   = head_q == (parity_q ? last_head1_q : last_head0_q);
  assign sum_index_o = {parity_q, head_q};

  logic number_valid_q;
  logic [63:0] number_q;
  tag_t number_tag_q;

  always_ff @(posedge clk_i) begin
    if (weighed_i) begin
      waiting_q[weighed_parity_i] <= 1'b1;
      if (weighed_parity_i) last_head1_q <= weighed_head_i;
      else last_head0_q <= weighed_head_i;
    end
    if (!active_q && waiting_q != 2'd0) begin
      active_q <= 1'b1;
      parity_q <= !waiting_q[0];
      head_q   <= 4'd0;
    end
    if (active_q) begin
      head_q <= head_q + 4'd1;
      if (last_head) begin
        active_q            <= 1'b0;
        waiting_q[parity_q] <= 1'b0;
      end
    end
    number_valid_q <= start_i || active_q;
    if (start_i || active_q) begin
      number_q     <= active_q ? {22'd0, sum_i} : {55'd0, columns_i};
      number_tag_q <= {!active_q, last_head, parity_q, head_q};
    end
    if (!rst_ni) begin
      active_q       <= 1'b0;
      waiting_q      <= 2'd0;
      number_valid_q <= 1'b0;
    end
  end

  logic converted_valid, rooted_valid, quotient_valid, unused;
  logic [31:0] converted, rooted, quotient;
  tag_t converted_tag, quotient_tag;
  logic rooted_tag;
  assign unused = rooted_tag;

  int_to_f32 #(
      .TagBits(7)
  ) convert (
      .clk_i,
      .rst_ni,
      .valid_i(number_valid_q),
      .i_i    (number_q),
      .tag_i  (number_tag_q),
      .valid_o(converted_valid),
      .y_o    (converted),
      .tag_o  (converted_tag)
  );
  f32_sqrt #(
      .TagBits(1)
  ) take_root (
      .clk_i,
      .rst_ni,
      .valid_i(converted_valid && converted_tag.root),
      .a_i    (converted),
      .tag_i  (1'b0),
      .valid_o(rooted_valid),
      .y_o    (rooted),
      .tag_o  (rooted_tag)
  );
  // No sum is under way while the root is taken.
  f32_div #(
      .TagBits(7)
  ) divide (
      .clk_i,
      .rst_ni,
      .valid_i(rooted_valid || (converted_valid && !converted_tag.root)),
      .a_i    (rooted_valid ? One : Two23),
      .b_i    (rooted_valid ? rooted : converted),
      .tag_i  (rooted_valid ? 7'b1000000 : converted_tag),
      .valid_o(quotient_valid),
      .y_o    (quotient),
      .tag_o  (quotient_tag)
  );

  logic [31:0] inverses[0:31];
  assign inverse_o = inverses[inverse_index_i];

  always_ff @(posedge clk_i) begin
    if (quotient_valid && quotient_tag.root) begin
      root_o       <= quotient;
      root_ready_o <= 1'b1;
    end
    if (quotient_valid && !quotient_tag.root) begin
      inverses[quotient_tag.index] <= quotient;
      if (quotient_tag.last) ready_o[quotient_tag.index[4]] <= 1'b1;
    end
    if (free_i) ready_o[free_parity_i] <= 1'b0;
    if (start_i) root_ready_o <= 1'b0;
    if (!rst_ni) begin
      root_ready_o <= 1'b0;
      ready_o      <= 2'd0;
    end
  end
endmodule
