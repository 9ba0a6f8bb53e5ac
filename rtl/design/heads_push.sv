// Where quantized heads go: query memory, or the cache at their row's position (layouts in
// rtl/README.md). Words come head by head and within a head row by row, each with its exponent.
//
// A key or value head makes one write of 64 bytes for each word and one of a single byte for its
// exponent, which lies beside the position's keys. The address of the next head is worked out
// between the last word of a head and the first of the next, 8 cycles or more. The bounds stay as
// they are from start_i on, which comes 8 cycles or more before the first word. Throughput: a word
// every 8 cycles. Latency: none to query memory, 4 cycles to the cache at a free port. A cache
// write stays until it is taken; a head is begun (claim_i) only with room_o, so nothing is lost.
// Reset forgets all that waits.
module heads_push #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,
    input  logic [               1:0] target_i,
    input  logic [               5:0] rows_i,
    input  logic [               7:0] heads_i,
    input  logic [               3:0] words_i,             // of a head, 1 to 8
    input  logic [              27:0] cache_base_i,
    input  logic [              27:0] cache_head_stride_i,
    input  logic [              27:0] cache_row_stride_i,
    input  logic [              27:0] values_offset_i,
    input  logic [              15:0] first_row_i,         // of the run
    input  logic [               4:0] pass_row_i,
    input  logic [Config.rows*32-1:0] positions_i,         // from 0; 24 bits count
    output logic                      all_done_o,          // and all writes are taken
    // words
    output logic                      room_o,
    input  logic                      claim_i,
    input  logic                      word_valid_i,
    input  logic                      first_i,
    input  logic                      last_i,
    input  logic [             511:0] word_i,
    input  logic [               7:0] exponent_i,
    // query memory
    output logic                      query_write_valid_o,
    output logic [              15:0] query_write_address_o,
    output logic [             511:0] query_write_data_o,
    output logic                      query_write_exponent_valid_o,
    output logic [              15:0] query_write_exponent_address_o,
    output logic [               7:0] query_write_exponent_o,
    // cache
    output logic                      cache_write_valid_o,
    input  logic                      cache_write_ready_i,
    output logic [               1:0] cache_write_bank_o,
    output logic [              27:0] cache_write_address_o,
    output logic [             511:0] cache_write_data_o,
    output logic [              63:0] cache_write_strobe_o
);
  localparam int Depth = 32;  // cache writes that wait, or that begun heads will make

  logic is_query, is_cache, is_values;
  assign is_query  = target_i == engine_pkg::HeadQuery;
  assign is_values = target_i == engine_pkg::HeadValues;
  assign is_cache  = is_values || target_i == engine_pkg::HeadKeys;

  // The head whose words come next.
  logic [4:0] row_q;
  logic [7:0] head_q;
  logic last_row, head_ends, done_q;
  assign last_row   = {1'b0, row_q} + 6'd1 == rows_i;
  assign head_ends  = word_valid_i && last_i;

  // Query memory: the word of the head's first row, the step from row to row, the head at hand.
  logic [15:0] query_head_q, query_step_q, query_word_q, exponent_address_q;

  // The cache: addresses step by step after setup_q[0], one cycle behind a head's last word.
  logic [5:0] setup_q;
  logic start_q;
  logic [27:0] run_offset_q, head_base_q, row_base_q;
  logic [23:0] position_q;
  logic [27:0] block_words_q;
  logic [7:0] slot_words_q;
  logic [27:0] exponents_q, values_q, keys_q, data_q;
  logic [63:0] exponent_strobe;

  for (genvar s = 0; s < 32; s++) begin : gen_strobe
    assign exponent_strobe[2*s]   = position_q[6:2] == 5'(s) && !is_values;
    assign exponent_strobe[2*s+1] = position_q[6:2] == 5'(s) && is_values;
  end

  // The exponent is written in the cycle after the first word.
  logic exponent_valid_q, exponent_row_last_q;
  logic [7:0] exponent_q, exponent_head_q;  // of the head that may have ended already

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q              <= '0;
      head_q             <= '0;
      done_q             <= 1'b0;
      query_head_q       <= '0;
      query_word_q       <= '0;
      exponent_address_q <= '0;
      query_step_q       <= {8'd0, heads_i} * {12'd0, words_i};
      run_offset_q       <= {12'd0, first_row_i} * cache_row_stride_i;
    end else begin
      if (start_q) begin
        head_base_q <= cache_base_i + run_offset_q;
        row_base_q  <= cache_base_i + run_offset_q;
      end
      if (word_valid_i) begin
        query_word_q <= query_word_q + 16'd1;
        data_q       <= data_q + 28'd1;
      end
      if (head_ends) begin
        row_q <= last_row ? '0 : row_q + 5'd1;
        if (last_row) begin
          head_q       <= head_q + 8'd1;
          done_q       <= head_q + 8'd1 == heads_i;
          query_head_q <= query_head_q + {12'd0, words_i};
          query_word_q <= query_head_q + {12'd0, words_i};
          head_base_q  <= head_base_q + cache_head_stride_i;
          row_base_q   <= head_base_q + cache_head_stride_i;
        end else begin
          query_word_q <= query_word_q + query_step_q - {12'd0, words_i} + 16'd1;
          row_base_q   <= row_base_q + cache_row_stride_i;
        end
      end
      if (exponent_valid_q) begin
        exponent_address_q <= exponent_row_last_q ? {8'd0, exponent_head_q} + 16'd1
                                                  : exponent_address_q + {8'd0, heads_i};
      end
      if (setup_q[1]) begin
        for (int k = 0; k < Config.rows; k++) begin
          if (row_q + pass_row_i == 5'(k)) position_q <= positions_i[k*32+:24];
        end
      end
      if (setup_q[2]) begin
        block_words_q <= {11'd0, position_q[23:7]} * {24'd0, words_i};
        slot_words_q  <= {3'd0, position_q[6:2]} * {4'd0, words_i};
        values_q      <= row_base_q + values_offset_i;
        exponents_q   <= row_base_q + {11'd0, position_q[23:7]};
      end
      if (setup_q[3]) begin
        exponents_q <= exponents_q + (block_words_q << 5);
        values_q    <= values_q + (block_words_q << 5);
      end
      if (setup_q[4]) keys_q <= exponents_q + 28'd1;
      if (setup_q[5]) data_q <= (is_values ? values_q : keys_q) + {20'd0, slot_words_q};
    end
    start_q <= start_i;
    setup_q <= {setup_q[4:0], start_q || (head_ends && is_cache)};
    if (!rst_ni) begin
      setup_q <= '0;
      done_q  <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    exponent_valid_q <= word_valid_i && first_i && rst_ni;
    if (word_valid_i && first_i) begin
      exponent_q          <= exponent_i;
      exponent_head_q     <= head_q;
      exponent_row_last_q <= last_row;
    end
  end

  assign query_write_valid_o            = word_valid_i && is_query;
  assign query_write_address_o          = query_word_q;
  assign query_write_data_o             = word_i;
  assign query_write_exponent_valid_o   = exponent_valid_q && is_query;
  assign query_write_exponent_address_o = exponent_address_q;
  assign query_write_exponent_o         = exponent_q;

  // Cache writes.
  logic push_q, unused_ready, entry_valid;
  logic [511:0] entry_q;
  logic [63:0] entry_strobe_q;
  logic [1:0] entry_bank_q;
  logic [27:0] entry_address_q;
  logic [5:0] reserved_q;

  always_ff @(posedge clk_i) begin
    if (is_cache && word_valid_i) begin
      entry_q         <= word_i;
      entry_strobe_q  <= {64{1'b1}};
      entry_bank_q    <= position_q[1:0];
      entry_address_q <= data_q;
    end else if (is_cache && exponent_valid_q) begin
      entry_q         <= {64{exponent_q}};
      entry_strobe_q  <= exponent_strobe;
      entry_bank_q    <= position_q[1:0];
      entry_address_q <= exponents_q;
    end
    push_q <= is_cache && (word_valid_i || exponent_valid_q) && rst_ni;
  end

  word_fifo #(
      .Bits   (512),
      .TagBits(64 + 2 + 28),
      .Depth  (Depth)
  ) u_writes (
      .clk_i,
      .rst_ni,
      .valid_i(push_q),
      .ready_o(unused_ready),
      .data_i (entry_q),
      .tag_i  ({entry_strobe_q, entry_bank_q, entry_address_q}),
      .valid_o(entry_valid),
      .ready_i(cache_write_ready_i),
      .data_o (cache_write_data_o),
      .tag_o  ({cache_write_strobe_o, cache_write_bank_o, cache_write_address_o})
  );

  assign cache_write_valid_o = entry_valid;
  assign all_done_o          = done_q && reserved_q == 6'd0;
  assign room_o              = !is_cache || reserved_q <= 6'(Depth - 9);

  always_ff @(posedge clk_i) begin
    if ((claim_i && is_cache) || (entry_valid && cache_write_ready_i)) begin
      reserved_q <= reserved_q + (claim_i && is_cache ? {2'd0, words_i} + 6'd1 : 6'd0) -
                    {5'd0, entry_valid && cache_write_ready_i};
    end
    if (!rst_ni) reserved_q <= '0;
  end
endmodule
