// Walks the pairs of an OpAttend: works out where each row's positions lie in its cache, and loads
// the queries of the pair that comes next into the query buffer while the keys of the one before
// stream by.
//
// Latency: 4 cycles from the start to the first row, 3 a row, 2 a pair, then one cycle for each word
// of 32 query columns and 4 more until the pair is offered. Law of the pair: once valid, it stays as
// it is until taken. ended_o: all pairs have been taken. Positions and windows are below 2^24,
// addresses wrap at 16 bits (lowering keeps within both). Reset ends the walk.
module attend_walker #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // The instruction; stays while the walk lasts.
    input  logic                      start_i,
    input  attend_pkg::shape_t        shape_i,
    input  logic [               8:0] columns_i,      // of a head
    input  logic [              15:0] source_i,       // signed: first head of the first group
    input  logic [              11:0] query_heads_i,  // of a row of query memory
    input  logic [               5:0] only_row_i,     // row + 1 of the only row, 0: all
    input  logic [              23:0] window_i,       // 0: none
    input  logic [               4:0] first_i,        // elements in front of head 0
    input  logic [              15:0] destination_i,
    input  logic [              15:0] stride_i,
    input  logic [               5:0] rows_i,
    input  logic [               4:0] pass_row_i,     // the pass's row that is row 0
    // verilator lint_off UNUSEDSIGNAL
    input  logic [Config.rows*32-1:0] positions_i,    // from 0; 24 bits count
    // verilator lint_on UNUSEDSIGNAL
    // The pair that comes next.
    output logic                      pair_valid_o,
    input  logic                      pair_taken_i,
    output attend_pkg::pair_t         pair_o,
    output logic                      ended_o,
    // Where the outputs go; setup_o: from the next cycle on they stand.
    output logic                      setup_o,
    output logic [              15:0] row_base_o,     // word of vector memory of the first row
    output logic [              19:0] element_o,      // its first element
    output logic [               4:0] first_row_o,    // of the destination
    // Query memory; data two cycles later.
    output logic                      query_valid_o,
    output logic [              15:0] query_address_o,
    output logic                      exponent_valid_o,
    output logic [              15:0] exponent_address_o,
    // The query buffer, as the data arrive.
    output logic                      write_valid_o,
    output logic                      write_exponent_o,  // with the head's first word
    output logic                      write_parity_o,
    output logic [               3:0] write_head_o,
    output logic [               2:0] write_word_o
);
  typedef enum logic [3:0] {
    Idle,
    Multiply,
    MultiplyRow,
    Add,
    Position,
    Window,
    Extent,
    Group,
    Count,
    Load,
    Arrive,
    Ready,
    Ended
  } state_e;

  state_e state_q, state_d;
  logic [5:0] row_q, end_row_q;
  logic [7:0] head_q;
  logic parity_q;

  // Query memory: a row's words and exponents, and where the next ones lie.
  logic [15:0] row_words_q, words_row_q, exponents_row_q, words_head_q, word_q, exponent_q;
  logic [15:0] first_head, row_base_q, row_step_q;
  logic [19:0] element_q;

  // The pair's query heads: from `begin` to before `end`, of a group that begins at `group`.
  logic [15:0] group_q;
  logic [3:0] begin_q, end_q;  // their low bits: a pair has at most 16 heads
  logic [3:0] last_head_q, load_head_q;
  logic [2:0] load_word_q;

  logic [23:0] position_q;
  logic [17:0] first_q, last_q;  // a pair reads less than 2^18 positions

  // Two reads under way.
  logic [1:0] under_way_q;
  logic first_word1_q, first_word2_q;
  logic [3:0] head1_q, head2_q;
  logic [2:0] word1_q, word2_q;

  logic no_pairs, last_load, last_pair;
  assign no_pairs   = shape_i.heads == 8'd0 || rows_i == 6'd0 || only_row_i > rows_i;
  assign last_load  = load_word_q == shape_i.last_word && load_head_q == last_head_q;
  assign last_pair  = head_q + 8'd1 == shape_i.heads;
  assign first_head = source_i[15] ? 16'd0 : source_i;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle, Ended: if (start_i) state_d = no_pairs ? Ended : Multiply;
      Multiply:    state_d = MultiplyRow;
      MultiplyRow: state_d = Add;
      Add:         state_d = Position;
      Position:    state_d = Window;
      Window:      state_d = Extent;
      Extent:      state_d = Group;
      Group:       state_d = Count;
      Count:       state_d = Load;
      Load:        if (last_load) state_d = Arrive;
      Arrive:      if (under_way_q == 2'd0) state_d = Ready;
      Ready: begin
        if (pair_taken_i) begin
          if (!last_pair) state_d = Group;
          else state_d = row_q == end_row_q ? Ended : Position;
        end
      end
      default:     state_d = Idle;
    endcase
  end

  assign pair_valid_o       = state_q == Ready;
  assign pair_o             = {last_q[17:2], last_q[1:0], first_q[6:0], last_head_q, last_pair};
  assign ended_o            = state_q == Ended;
  assign setup_o            = state_q == Add;
  assign row_base_o         = row_base_q;
  assign element_o          = element_q;
  assign first_row_o        = only_row_i != 6'd0 ? only_row_i[4:0] - 5'd1 : 5'd0;
  assign query_valid_o      = state_q == Load;
  assign query_address_o    = word_q;
  assign exponent_valid_o   = state_q == Load && load_word_q == 3'd0;
  assign exponent_address_o = exponent_q;
  assign write_valid_o      = under_way_q[1];
  assign write_exponent_o   = under_way_q[1] && first_word2_q;
  assign write_parity_o     = parity_q;
  assign write_head_o       = head2_q;
  assign write_word_o       = word2_q;

  logic [3:0] words;  // of a head
  logic [15:0] group_end;
  logic [5:0] position_row;
  assign words        = {1'b0, shape_i.last_word} + 4'd1;
  assign group_end    = group_q + {11'd0, shape_i.group};
  assign position_row = row_q + {1'b0, pass_row_i};

  // The instruction's first row, then a row's positions.
  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    if (start_i) begin
      row_q     <= only_row_i != 6'd0 ? only_row_i - 6'd1 : 6'd0;
      end_row_q <= only_row_i != 6'd0 ? only_row_i - 6'd1 : rows_i - 6'd1;
      head_q    <= 8'd0;
      parity_q  <= 1'b0;
    end
    if (state_q == Multiply) begin
      row_words_q  <= {4'd0, query_heads_i} * {12'd0, words};
      words_head_q <= first_head * {12'd0, words};
      row_step_q   <= {10'd0, row_q} * stride_i;
      element_q    <= {4'd0, first_head} * {11'd0, columns_i};
    end
    if (state_q == MultiplyRow) begin
      words_row_q     <= {10'd0, row_q} * row_words_q;
      exponents_row_q <= {10'd0, row_q} * {4'd0, query_heads_i};
      row_base_q      <= destination_i + row_step_q;
      element_q       <= element_q + {15'd0, first_i};
    end
    if (state_q == Add) begin
      words_row_q     <= words_row_q + words_head_q;
      exponents_row_q <= exponents_row_q + first_head;
    end
    if (state_q == Position) begin
      for (int r = 0; r < Config.rows; r++) begin
        if (position_row == 6'(r)) position_q <= positions_i[32*r+:24];
      end
      group_q <= source_i;
    end
    if (state_q == Window) begin
      first_q <= window_i != 24'd0 && position_q >= window_i
                 ? position_q[17:0] - window_i[17:0] + 18'd1 : 18'd0;
    end
    if (state_q == Extent) last_q <= position_q[17:0] - {first_q[17:7], 7'd0};
    if (state_q == Ready && pair_taken_i) begin
      parity_q <= !parity_q;
      head_q   <= last_pair ? 8'd0 : head_q + 8'd1;
      group_q  <= group_end;
      if (last_pair) begin
        row_q           <= row_q + 6'd1;
        words_row_q     <= words_row_q + row_words_q;
        exponents_row_q <= exponents_row_q + {4'd0, query_heads_i};
      end
    end
    if (!rst_ni) state_q <= Idle;
  end

  // A pair's queries.
  always_ff @(posedge clk_i) begin
    if (state_q == Position) begin
      word_q     <= words_row_q;
      exponent_q <= exponents_row_q;
    end
    if (state_q == Group) begin
      begin_q <= group_q[15] ? 4'd0 : group_q[3:0];
      end_q   <= group_end > {4'd0, query_heads_i} ? query_heads_i[3:0] : group_end[3:0];
    end
    if (state_q == Count) begin
      last_head_q <= end_q - begin_q - 4'd1;
      load_head_q <= 4'd0;
      load_word_q <= 3'd0;
    end
    if (state_q == Load) begin
      word_q      <= word_q + 16'd1;
      load_word_q <= load_word_q == shape_i.last_word ? 3'd0 : load_word_q + 3'd1;
      if (load_word_q == 3'd0) exponent_q <= exponent_q + 16'd1;
      if (load_word_q == shape_i.last_word) load_head_q <= load_head_q + 4'd1;
      head1_q       <= load_head_q;
      word1_q       <= load_word_q;
      first_word1_q <= load_word_q == 3'd0;
    end
    if (under_way_q[0]) begin
      head2_q       <= head1_q;
      word2_q       <= word1_q;
      first_word2_q <= first_word1_q;
    end
    if (state_q == Load || under_way_q != 2'd0) under_way_q <= {under_way_q[0], state_q == Load};
    if (!rst_ni) under_way_q <= 2'd0;
  end
endmodule
