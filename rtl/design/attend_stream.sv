// Takes the beats of an OpAttend in their order (keys of pair 0, keys of pair 1, values of pair 0,
// keys of pair 2, values of pair 1, ..., values of the last; only keys where the instruction stops
// early) and says to the arrays what each is. A beat stays for one cycle for each set of heads.
//
// Latency: a beat and its label leave two cycles after they are issued. Throughput: a beat in
// ceil(group / 4) cycles; keys of one word (32 columns) with more than two heads in a set take two
// cycles a set, since a slot's sums leave in halves. Keys of a pair wait for its queries and, where
// the instruction stops early, until the pair two before has left its buffer; values wait for the
// weights of their slot and until the outputs of the pair before have left the sums.
// Stream law: once ready, a beat is taken in the cycle in which it is valid. One beat is kept at
// hand; it may be one of the next instruction. Reset drops it.
module attend_stream (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     start_i,
    output logic                     active_o,
    output logic                     done_o,
    output logic                     wants_beat_o,   // and has none
    input  attend_pkg::shape_t       shape_i,
    input  logic                     stream_valid_i,
    output logic                     stream_ready_o,
    input  logic [           2047:0] stream_data_i,
    // The pair that comes next.
    input  logic                     pair_valid_i,
    output logic                     pair_taken_o,
    input  attend_pkg::pair_t        pair_i,
    input  logic                     ended_i,
    // What the other parts have done.
    input  logic                     root_ready_i,     // 1 / sqrt(head columns) stands
    input  logic                     scored_i,         // all scores of a pair stand
    input  logic                     scored_parity_i,
    input  logic                     weighed_i,        // all its weights
    input  logic                     weighed_parity_i,
    input  logic [             31:0] weighed_slots_i,  // of each parity, slots whose weights stand
    input  logic                     weights_read_i,   // the weights unit reads a buffer now
    input  logic                     weights_parity_i,
    input  logic                     sums_free_i,      // outputs have left the sums
    input  logic                     outputs_idle_i,   // and are written
    // Pairs.
    output logic                     keys_start_o,     // with the parity in keys_parity_o
    output logic                     keys_parity_o,
    output logic                     values_parity_o,  // of the next values
    output logic                     sums_wait_o,      // all values passed, outputs still in the sums
    output logic                     values_end_o,     // the last values of values_parity's pair leave
    output logic                     last_parity_o,    // of the last pair begun
    output attend_pkg::pair_t        pair0_o,          // of each parity
    output attend_pkg::pair_t        pair1_o,
    // Exponents: a beat of them, and the slots as they pass.
    output logic                     exponents_valid_o,
    output logic [           2047:0] exponents_o,
    output logic                     slot_valid_o,
    output logic                     slot_parity_o,
    output logic [             15:0] slot_o,
    output logic [              3:0] slot_takes_part_o,
    input  logic [             31:0] key_exponents_i,  // of the slot at hand
    // The query buffer is read one cycle, the group buffer two cycles before the beat leaves.
    output logic                     query_read_o,
    output logic                     query_parity_o,
    output logic [              1:0] query_set_o,
    output logic [              2:0] query_word_o,
    output logic                     weight_read_o,
    output logic                     weight_parity_o,
    output logic [             15:0] weight_address_o,
    // The beat and what it is.
    output logic                     keys_valid_o,
    output attend_pkg::key_label_t   keys_label_o,
    output logic                     values_valid_o,
    output attend_pkg::value_label_t values_label_o,
    output logic [           2047:0] beat_o
);
  typedef enum logic [2:0] {
    Idle,
    Next,
    Exponents,
    Keys,
    Values,
    Finish
  } state_e;

  state_e state_q, state_d;

  // The beat at hand.
  logic beat_valid_q;
  logic [2047:0] beat_q, beat1_q, beat2_q;

  // Pairs: which is next, how many have keys but no values yet, which buffers are taken.
  logic key_parity_q, value_parity_q;
  logic [1:0] waiting_q, busy_q;
  logic values_pending_q, sums_wait_q;  // values begun; all passed; until the sums are free
  attend_pkg::pair_t pair0_q, pair1_q;
  // verilator lint_off UNUSEDSIGNAL
  attend_pkg::pair_t pair;  // the one at hand; the row's end is for the outputs
  // verilator lint_on UNUSEDSIGNAL

  // Where the keys or the values are.
  logic parity_q;
  logic [15:0] slot_q, base_q;
  logic [4:0] block_slot_q;
  logic [2:0] word_q;
  logic [1:0] set_q;
  logic gap_q;  // the sums before are still leaving

  logic whole, last_set, last_word, last_slot, key_issue, value_issue, exponent_issue, issue, retire;
  logic segment_end, both, take_keys, take_values;
  logic [15:0] ready_slots;
  assign whole       = shape_i.stop == engine_pkg::AttendWhole;
  assign pair        = parity_q ? pair1_q : pair0_q;
  assign last_set    = set_q == pair.last_head[3:2];
  assign last_word   = word_q == shape_i.last_word;
  assign last_slot   = slot_q == pair.last_slot;
  assign both        = !last_set || pair.last_head[1];
  assign ready_slots = parity_q ? weighed_slots_i[31:16] : weighed_slots_i[15:0];

  assign exponent_issue = state_q == Exponents && beat_valid_q;
  assign key_issue      = state_q == Keys && beat_valid_q && !(last_word && gap_q);
  assign value_issue    = state_q == Values && beat_valid_q && slot_q < ready_slots &&
                          !(weights_read_i && weights_parity_i == parity_q);
  assign issue          = key_issue || value_issue;
  assign retire         = exponent_issue || (issue && last_set);
  assign segment_end    = issue && last_set && last_word && last_slot;

  // Which keys or values come next.
  logic want_values;
  assign want_values = waiting_q == 2'd2 || (waiting_q == 2'd1 && ended_i);
  assign take_values = state_q == Next && want_values && !values_pending_q;
  assign take_keys   = state_q == Next && !want_values && pair_valid_i && root_ready_i &&
                       !(key_parity_q ? busy_q[1] : busy_q[0]);

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (start_i) state_d = Next;
      Next: begin
        if (take_values) state_d = Values;
        else if (take_keys) state_d = Exponents;
        else if (ended_i && waiting_q == 2'd0) state_d = Finish;
      end
      Exponents: if (exponent_issue) state_d = Keys;
      Keys: begin
        if (segment_end) state_d = Next;
        else if (key_issue && last_set && last_word && block_slot_q == 5'd31) state_d = Exponents;
      end
      Values: if (segment_end) state_d = Next;
      Finish: if (done_o) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  // The row's own position ends the last slot; a window may begin within the first block.
  logic [3:0] takes_part;
  always_comb begin
    for (int b = 0; b < 4; b++) begin
      takes_part[b] = !(last_slot && 2'(b) > pair.last_bank) &&
                      (slot_q[15:5] != 11'd0 || {slot_q[4:0], 2'(b)} >= pair.first);
    end
  end

  assign active_o          = state_q != Idle;
  assign done_o            = state_q == Finish && busy_q == 2'd0 && !values_pending_q && outputs_idle_i;
  assign wants_beat_o      = !beat_valid_q &&
                             (state_q == Exponents || state_q == Keys || state_q == Values);
  assign stream_ready_o    = !beat_valid_q || retire;
  assign pair_taken_o      = take_keys;
  assign keys_start_o      = take_keys;
  assign keys_parity_o     = key_parity_q;
  assign values_parity_o   = value_parity_q;
  assign sums_wait_o       = sums_wait_q;
  assign last_parity_o     = !key_parity_q;
  assign pair0_o           = pair0_q;
  assign pair1_o           = pair1_q;
  assign values_end_o      = segment_end && state_q == Values;
  assign exponents_valid_o = exponent_issue;
  assign exponents_o       = beat_q;
  assign slot_valid_o      = key_issue && last_set && last_word;
  assign slot_parity_o     = parity_q;
  assign slot_o            = slot_q;
  assign slot_takes_part_o = takes_part;
  assign weight_read_o     = value_issue;
  assign weight_parity_o   = parity_q;
  assign weight_address_o  = base_q + {14'd0, set_q};

  // One cycle after the issue, and two.
  logic keys1_q, keys2_q, values1_q, values2_q;
  attend_pkg::key_label_t key_label1_q, key_label2_q;
  attend_pkg::value_label_t value_label1_q, value_label2_q;
  logic [2:0] word1_q;
  assign query_read_o   = keys1_q;
  assign query_parity_o = key_label1_q.parity;
  assign query_set_o    = key_label1_q.head_set;
  assign query_word_o   = word1_q;
  assign keys_valid_o   = keys2_q;
  assign keys_label_o   = key_label2_q;
  assign values_valid_o = values2_q;
  assign values_label_o = value_label2_q;
  assign beat_o         = beat2_q;

  always_ff @(posedge clk_i) begin
    if (stream_ready_o) begin
      beat_valid_q <= stream_valid_i;
      if (stream_valid_i) beat_q <= stream_data_i;
    end
    if (!rst_ni) beat_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    if (state_q == Idle && start_i) begin
      key_parity_q   <= 1'b0;
      value_parity_q <= 1'b0;
      waiting_q      <= 2'd0;
    end
    if (take_keys) begin
      parity_q     <= key_parity_q;
      key_parity_q <= !key_parity_q;
      if (whole) waiting_q <= waiting_q + 2'd1;
      if (key_parity_q) pair1_q <= pair_i;
      else pair0_q <= pair_i;
    end
    if (take_values) begin
      parity_q       <= value_parity_q;
      value_parity_q <= !value_parity_q;
      waiting_q      <= waiting_q - 2'd1;
    end
    if (take_keys || take_values) begin
      slot_q       <= 16'd0;
      base_q       <= 16'd0;
      block_slot_q <= 5'd0;
      word_q       <= 3'd0;
      set_q        <= 2'd0;
    end
    if (issue) begin
      set_q <= last_set ? 2'd0 : set_q + 2'd1;
      if (last_set) begin
        word_q <= last_word ? 3'd0 : word_q + 3'd1;
        if (last_word) begin
          slot_q       <= slot_q + 16'd1;
          block_slot_q <= block_slot_q + 5'd1;
          base_q       <= base_q + {14'd0, pair.last_head[3:2]} + 16'd1;
        end
      end
    end
    if (state_q != Idle) begin
      gap_q <= key_issue && last_word && both;
      for (int p = 0; p < 2; p++) begin
        if (take_keys && key_parity_q == 1'(p)) busy_q[p] <= 1'b1;
        else if (whole ? segment_end && state_q == Values && parity_q == 1'(p)
                       : shape_i.stop == engine_pkg::AttendToScores
                       ? scored_i && scored_parity_i == 1'(p)
                       : weighed_i && weighed_parity_i == 1'(p)) begin
          busy_q[p] <= 1'b0;
        end
      end
      if (take_values) values_pending_q <= 1'b1;
      else if (sums_free_i) values_pending_q <= 1'b0;
      if (values_end_o) sums_wait_q <= 1'b1;
      else if (sums_free_i) sums_wait_q <= 1'b0;
    end
    if (!rst_ni) begin
      state_q          <= Idle;
      busy_q           <= 2'd0;
      values_pending_q <= 1'b0;
      sums_wait_q      <= 1'b0;
      gap_q            <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (key_issue || keys1_q || keys2_q) begin
      keys1_q <= key_issue;
      keys2_q <= keys1_q;
    end
    if (value_issue || values1_q || values2_q) begin
      values1_q <= value_issue;
      values2_q <= values1_q;
    end
    if (key_issue) begin
      key_label1_q <= {word_q == 3'd0, last_word, segment_end, parity_q, set_q, both,
                       weight_address_o, takes_part, key_exponents_i};
      word1_q      <= word_q;
    end
    if (value_issue) begin
      value_label1_q <= {slot_q == 16'd0, segment_end, parity_q, set_q, word_q};
    end
    if (issue) beat1_q <= beat_q;
    if (keys1_q) key_label2_q <= key_label1_q;
    if (values1_q) value_label2_q <= value_label1_q;
    if (keys1_q || values1_q) beat2_q <= beat1_q;
    if (!rst_ni) begin
      keys1_q   <= 1'b0;
      keys2_q   <= 1'b0;
      values1_q <= 1'b0;
      values2_q <= 1'b0;
    end
  end
endmodule
