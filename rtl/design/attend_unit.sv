// OpAttend: scores, exponentials and weighted values of the query heads that read a row's cached keys
// and values, by arithmetic.md section 6, pair after pair (attend_pkg). The stream runs one pair
// ahead with keys, so that the exponentials of a pair (four a cycle) hide behind the keys of the next
// one and the values of the one before; values follow the weights slot by slot. Two pairs of scores
// are kept on chip.
//
// Limits (lowering keeps them): 1 to 16 query heads a key head, 1 to 256 columns, and for the
// positions that are read (from a block's begin, rounded up to 4): ceil(group / 4) * 4 * positions
// <= Config.scores and positions <= Config.positions.
// Latency: some 65 cycles for 1 / sqrt(columns), then about 190 from a pair's first key to its first
// output beside what streams. Throughput: per pair the largest of beats * ceil(group / 4) (keys and
// values; twice that for keys of one word with more than two heads in a set), group * positions / 4
// (exponentials) and group * columns / 4 (outputs), and 15 cycles or so.
// Stream law: see attend_stream. Reset ends the instruction. FAULT is never raised.
// Longer than other files since it is the wires between eleven parts and little else.
module attend_unit #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    input  logic                                 start_valid_i,
    output logic                                 start_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  engine_pkg::instruction_t             instruction_i,  // of all units
    input  engine_pkg::pass_t                    pass_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                                 done_o,
    output logic                                 fault_o,
    output logic                     [     15:0] fault_line_o,
    input  logic                                 stream_valid_i,
    output logic                                 stream_ready_o,
    input  logic                     [   2047:0] stream_data_i,
    output logic                                 vm_write_valid_o,
    input  logic                                 vm_write_ready_i,
    output logic                     [     15:0] vm_write_address_o,
    output logic                     [      7:0] vm_write_slices_o,
    output logic                     [   1023:0] vm_write_data_o,
    output logic [Config.rows*31-1:0]            peaks_o,
    output logic                                 query_valid_o,
    output logic                     [     15:0] query_address_o,
    input  logic                     [    511:0] query_data_i,
    output logic                                 query_exponent_valid_o,
    output logic                     [     15:0] query_exponent_address_o,
    input  logic                     [      7:0] query_exponent_i,
    input  logic [Config.rows*32-1:0]            positions_i,
    // While no instruction is under way: the last pair's buffer, positions 4 * slot .. + 3 of a head,
    // and the head's L, two cycles later.
    input  logic                                 observe_valid_i,
    input  logic                     [      3:0] observe_head_i,
    input  logic                     [     15:0] observe_slot_i,
    output logic                     [    127:0] observe_data_o,
    output logic                     [     41:0] observe_sum_o,
    output logic                                 busy_o,
    output logic                                 stalled_on_input_o,
    output logic                                 stalled_on_output_o
);
  // The instruction.
  attend_pkg::shape_t shape_q;
  logic [8:0] columns_q;
  logic [15:0] source_q, destination_q, stride_q, line_q;
  logic [11:0] query_heads_q;
  logic [5:0] only_row_q, rows_q;
  logic [23:0] window_q;
  logic [4:0] first_q, pass_row_q;
  logic start_q, active, start;

  assign start_ready_o = !active && !start_q;
  assign start         = start_valid_i && start_ready_o;
  assign busy_o        = active || start_q;
  assign fault_o       = 1'b0;
  assign fault_line_o  = line_q;

  always_ff @(posedge clk_i) begin
    start_q <= start;
    if (start) begin : accept
      logic [7:0] columns_less;
      columns_less  = instruction_i.head_columns[7:0] - 8'd1;
      shape_q       <= {
        instruction_i.target,
        instruction_i.heads,
        instruction_i.group[4:0],
        instruction_i.head_columns[4:0],
        columns_less[7:5],
        columns_less[7:2],
        columns_less[1:0]
      };
      columns_q     <= instruction_i.head_columns;
      source_q      <= instruction_i.source;
      query_heads_q <= instruction_i.words;
      only_row_q    <= instruction_i.only_row;
      window_q      <= instruction_i.window;
      first_q       <= instruction_i.first;
      destination_q <= instruction_i.destination;
      stride_q      <= instruction_i.destination_stride;
      line_q        <= instruction_i.line;
      rows_q        <= pass_i.rows;
      pass_row_q    <= pass_i.row;
    end
    if (!rst_ni) start_q <= 1'b0;
  end

  logic whole, weigh;
  assign whole = shape_q.stop == engine_pkg::AttendWhole;
  assign weigh = shape_q.stop != engine_pkg::AttendToScores;

  // Pairs and their queries.
  logic pair_valid, pair_taken, ended, setup;
  attend_pkg::pair_t next_pair, pair0, pair1;
  logic [15:0] row_base;
  logic [19:0] element;
  logic [4:0] first_row;
  logic query_write, query_write_exponent, query_write_parity;
  logic [3:0] query_write_head;
  logic [2:0] query_write_word;

  attend_walker #(
      .Config(Config)
  ) walker (
      .clk_i,
      .rst_ni,
      .start_i           (start_q),
      .shape_i           (shape_q),
      .columns_i         (columns_q),
      .source_i          (source_q),
      .query_heads_i     (query_heads_q),
      .only_row_i        (only_row_q),
      .window_i          (window_q),
      .first_i           (first_q),
      .destination_i     (destination_q),
      .stride_i          (stride_q),
      .rows_i            (rows_q),
      .pass_row_i        (pass_row_q),
      .positions_i,
      .pair_valid_o      (pair_valid),
      .pair_taken_i      (pair_taken),
      .pair_o            (next_pair),
      .ended_o           (ended),
      .setup_o           (setup),
      .row_base_o        (row_base),
      .element_o         (element),
      .first_row_o       (first_row),
      .query_valid_o,
      .query_address_o,
      .exponent_valid_o  (query_exponent_valid_o),
      .exponent_address_o(query_exponent_address_o),
      .write_valid_o     (query_write),
      .write_exponent_o  (query_write_exponent),
      .write_parity_o    (query_write_parity),
      .write_head_o      (query_write_head),
      .write_word_o      (query_write_word)
  );

  logic query_read, query_parity;
  logic [1:0] query_set;
  logic [2:0] query_word;
  logic [2047:0] queries;
  logic [31:0] query_exponents;

  attend_queries queries_of_pairs (
      .clk_i,
      .shape_i               (shape_q),
      .write_valid_i         (query_write),
      .write_exponent_valid_i(query_write_exponent),
      .write_parity_i        (query_write_parity),
      .write_head_i          (query_write_head),
      .write_word_i          (query_write_word),
      .write_data_i          (query_data_i),
      .write_exponent_i      (query_exponent_i),
      .read_valid_i          (query_read),
      .read_parity_i         (query_parity),
      .read_set_i            (query_set),
      .read_word_i           (query_word),
      .read_data_o           (queries),
      .read_exponents_o      (query_exponents)
  );

  // The stream.
  logic root_ready, scored, scored_parity, weighed, weighed_parity, sums_free, outputs_idle;
  logic [31:0] weighed_slots;
  logic weights_read, weights_parity, keys_start, keys_parity, values_parity;
  logic sums_wait, values_end, last_parity, exponents_valid;
  logic slot_valid, slot_parity, weight_read, weight_parity, keys_valid, values_valid;
  logic [2047:0] exponents_beat, beat;
  logic [15:0] slot, weight_address;
  logic [3:0] slot_takes_part;
  logic [31:0] key_exponents;
  attend_pkg::key_label_t keys_label;
  attend_pkg::value_label_t values_label;

  attend_stream stream (
      .clk_i,
      .rst_ni,
      .start_i          (start_q),
      .active_o         (active),
      .done_o,
      .wants_beat_o     (stalled_on_input_o),
      .shape_i          (shape_q),
      .stream_valid_i,
      .stream_ready_o,
      .stream_data_i,
      .pair_valid_i     (pair_valid),
      .pair_taken_o     (pair_taken),
      .pair_i           (next_pair),
      .ended_i          (ended),
      .root_ready_i     (root_ready),
      .scored_i         (scored),
      .scored_parity_i  (scored_parity),
      .weighed_i        (weighed),
      .weighed_parity_i (weighed_parity),
      .weighed_slots_i  (weighed_slots),
      .weights_read_i   (weights_read),
      .weights_parity_i (weights_parity),
      .sums_free_i      (sums_free),
      .outputs_idle_i   (outputs_idle),
      .keys_start_o     (keys_start),
      .keys_parity_o    (keys_parity),
      .values_parity_o  (values_parity),
      .sums_wait_o      (sums_wait),
      .values_end_o     (values_end),
      .last_parity_o    (last_parity),
      .pair0_o          (pair0),
      .pair1_o          (pair1),
      .exponents_valid_o(exponents_valid),
      .exponents_o      (exponents_beat),
      .slot_valid_o     (slot_valid),
      .slot_parity_o    (slot_parity),
      .slot_o           (slot),
      .slot_takes_part_o(slot_takes_part),
      .key_exponents_i  (key_exponents),
      .query_read_o     (query_read),
      .query_parity_o   (query_parity),
      .query_set_o      (query_set),
      .query_word_o     (query_word),
      .weight_read_o    (weight_read),
      .weight_parity_o  (weight_parity),
      .weight_address_o (weight_address),
      .keys_valid_o     (keys_valid),
      .keys_label_o     (keys_label),
      .values_valid_o   (values_valid),
      .values_label_o   (values_label),
      .beat_o           (beat)
  );

  logic exponents_read;
  logic [15:0] exponents_slot, greatest_exponents;
  logic [71:0] value_exponents;

  attend_exponents #(
      .Config(Config)
  ) exponents (
      .clk_i,
      .start_i        (keys_start),
      .start_parity_i (keys_parity),
      .beat_valid_i   (exponents_valid),
      .beat_i         (exponents_beat),
      .slot_valid_i   (slot_valid),
      .slot_parity_i  (slot_parity),
      .slot_i         (slot),
      .takes_part_i   (slot_takes_part),
      .key_exponents_o(key_exponents),
      .read_valid_i   (exponents_read),
      .read_parity_i  (weights_parity),
      .read_slot_i    (exponents_slot),
      .read_o         (value_exponents),
      .greatest_o     (greatest_exponents)
  );

  // Scores.
  logic dots_valid;
  attend_pkg::key_label_t dots_label;
  logic [31:0] dots_exponents, root, greatest;
  logic [1023:0] dots;
  logic score_write, score_parity, score_half, greatest_parity;
  logic [15:0] score_address;
  logic [255:0] score_data;
  logic [3:0] greatest_head;

  attend_dots dots_of_keys (
      .clk_i,
      .rst_ni,
      .valid_i          (keys_valid),
      .label_i          (keys_label),
      .keys_i           (beat),
      .queries_i        (queries),
      .query_exponents_i(query_exponents),
      .valid_o          (dots_valid),
      .label_o          (dots_label),
      .query_exponents_o(dots_exponents),
      .sums_o           (dots)
  );

  attend_scores scores (
      .clk_i,
      .rst_ni,
      .root_i           (root),
      .start_i          (keys_start),
      .start_parity_i   (keys_parity),
      .valid_i          (dots_valid),
      .label_i          (dots_label),
      .query_exponents_i(dots_exponents),
      .sums_i           (dots),
      .write_valid_o    (score_write),
      .write_parity_o   (score_parity),
      .write_half_o     (score_half),
      .write_address_o  (score_address),
      .write_data_o     (score_data),
      .done_o           (scored),
      .done_parity_o    (scored_parity),
      .greatest_parity_i(greatest_parity),
      .greatest_head_i  (greatest_head),
      .greatest_o       (greatest)
  );

  // Weights.
  logic [15:0] weights_address, weights_write_address;
  logic [511:0] word0, word1;
  logic weights_write, weights_write_parity;
  logic [1:0] weights_write_head, weights_hold;
  logic [3:0] weighed_head;
  logic [127:0] weights_write_data;
  logic [4:0] sum_index, inverse_sum_index;
  logic [41:0] sum;
  assign weights_hold = !sums_wait ? 2'd0 : values_parity ? 2'b01 : 2'b10;

  attend_weights weights (
      .clk_i,
      .rst_ni,
      .start_i             (start_q),
      .scored_i            (scored && weigh),
      .scored_parity_i     (scored_parity),
      .hold_i              (weights_hold),
      .keys_start_i        (keys_start),
      .keys_parity_i       (keys_parity),
      .pair0_i             (pair0),
      .pair1_i             (pair1),
      .greatest_exponents_i(greatest_exponents),
      .read_valid_o        (weights_read),
      .read_parity_o       (weights_parity),
      .read_address_o      (weights_address),
      .word0_i             (word0),
      .word1_i             (word1),
      .exponents_valid_o   (exponents_read),
      .exponents_slot_o    (exponents_slot),
      .exponents_i         (value_exponents),
      .greatest_parity_o   (greatest_parity),
      .greatest_head_o     (greatest_head),
      .greatest_i          (greatest),
      .write_valid_o       (weights_write),
      .write_parity_o      (weights_write_parity),
      .write_head_o        (weights_write_head),
      .write_address_o     (weights_write_address),
      .write_data_o        (weights_write_data),
      .slots_o             (weighed_slots),
      .done_o              (weighed),
      .done_parity_o       (weighed_parity),
      .done_head_o         (weighed_head),
      .sum_index_i         (sum_index),
      .sum_o               (sum)
  );

  // The group buffer, one half for each parity. The observer reads while the unit is idle.
  logic observe;
  logic [15:0] observe_address;
  logic [1:0] last_set;
  assign observe         = observe_valid_i && !busy_o;
  assign last_set        = last_parity ? pair1.last_head[3:2] : pair0.last_head[3:2];
  assign observe_address = observe_slot_i * ({14'd0, last_set} + 16'd1) +
                           {14'd0, observe_head_i[3:2]};
  assign sum_index       = busy_o ? inverse_sum_index : {last_parity, observe1_head_q};

  logic read0, read1, word_valid_q, word_parity_q, observe1_q;
  logic [3:0] observe1_head_q;
  logic [511:0] word_q;
  logic [15:0] read_address;
  assign read_address = observe ? observe_address : weight_address;
  assign read0 = (weights_read && !weights_parity) || (weight_read && !weight_parity) ||
                 (observe && !last_parity);
  assign read1 = (weights_read && weights_parity) || (weight_read && weight_parity) ||
                 (observe && last_parity);

  attend_buffer #(
      .Config(Config)
  ) buffer0 (
      .clk_i,
      .score_valid_i   (score_write && !score_parity),
      .score_half_i    (score_half),
      .score_address_i (score_address),
      .score_data_i    (score_data),
      .weight_valid_i  (weights_write && !weights_write_parity),
      .weight_head_i   (weights_write_head),
      .weight_address_i(weights_write_address),
      .weight_data_i   (weights_write_data),
      .read_valid_i    (read0),
      .read_address_i  (weights_read && !weights_parity ? weights_address : read_address),
      .read_data_o     (word0)
  );

  attend_buffer #(
      .Config(Config)
  ) buffer1 (
      .clk_i,
      .score_valid_i   (score_write && score_parity),
      .score_half_i    (score_half),
      .score_address_i (score_address),
      .score_data_i    (score_data),
      .weight_valid_i  (weights_write && weights_write_parity),
      .weight_head_i   (weights_write_head),
      .weight_address_i(weights_write_address),
      .weight_data_i   (weights_write_data),
      .read_valid_i    (read1),
      .read_address_i  (weights_read && weights_parity ? weights_address : read_address),
      .read_data_o     (word1)
  );

  always_ff @(posedge clk_i) begin
    word_valid_q <= weight_read;
    if (weight_read) word_parity_q <= weight_parity;
    if (word_valid_q) word_q <= word_parity_q ? word1 : word0;
    observe1_q <= observe;
    if (observe) observe1_head_q <= observe_head_i;
    if (observe1_q) begin : choose
      logic [511:0] word;
      word = last_parity ? word1 : word0;
      unique case (observe1_head_q[1:0])
        2'd0: observe_data_o <= word[127:0];
        2'd1: observe_data_o <= word[255:128];
        2'd2: observe_data_o <= word[383:256];
        default: observe_data_o <= word[511:384];
      endcase
      observe_sum_o <= sum;
    end
    if (!rst_ni) begin
      word_valid_q <= 1'b0;
      observe1_q   <= 1'b0;
    end
  end

  // Values.
  logic values_done, sums_read, sums_parity;
  logic [1:0] sums_set, sums_head, inverses_ready;
  logic [2:0] sums_word, sums_quad;
  logic [255:0] sums_data;
  logic [4:0] inverse_index;
  logic [31:0] inverse;

  attend_values values (
      .clk_i,
      .rst_ni,
      .valid_i     (values_valid),
      .label_i     (values_label),
      .weights_i   (word_q),
      .values_i    (beat),
      .done_o      (values_done),
      .read_valid_i(sums_read),
      .read_set_i  (sums_set),
      .read_word_i (sums_word),
      .read_head_i (sums_head),
      .read_quad_i (sums_quad),
      .read_data_o (sums_data)
  );

  attend_inverse divider (
      .clk_i,
      .rst_ni,
      .start_i         (start_q),
      .columns_i       (columns_q),
      .root_ready_o    (root_ready),
      .root_o          (root),
      .weighed_i       (weighed && whole),
      .weighed_parity_i(weighed_parity),
      .weighed_head_i  (weighed_head),
      .sum_index_o     (inverse_sum_index),
      .sum_i           (sum),
      .free_i          (sums_free),
      .free_parity_i   (sums_parity),
      .ready_o         (inverses_ready),
      .inverse_index_i (inverse_index),
      .inverse_o       (inverse)
  );

  attend_outputs #(
      .Config(Config)
  ) outputs (
      .clk_i,
      .rst_ni,
      .start_i            (start_q && whole),
      .shape_i            (shape_q),
      .setup_i            (setup),
      .row_base_i         (row_base),
      .stride_i           (stride_q),
      .element_i          (element),
      .first_row_i        (first_row),
      .values_end_i       (values_end),
      .values_parity_i    (weight_parity),
      .pair_i             (weight_parity ? pair1 : pair0),
      .greatest_exponent_i(weight_parity ? greatest_exponents[15:8] : greatest_exponents[7:0]),
      .sums_ready_i       (values_done),
      .sums_free_o        (sums_free),
      .sums_parity_o      (sums_parity),
      .inverses_ready_i   (inverses_ready),
      .inverse_index_o    (inverse_index),
      .inverse_i          (inverse),
      .read_valid_o       (sums_read),
      .read_set_o         (sums_set),
      .read_word_o        (sums_word),
      .read_head_o        (sums_head),
      .read_quad_o        (sums_quad),
      .read_data_i        (sums_data),
      .vm_write_valid_o,
      .vm_write_ready_i,
      .vm_write_address_o,
      .vm_write_slices_o,
      .vm_write_data_o,
      .peaks_o,
      .idle_o             (outputs_idle)
  );
  assign stalled_on_output_o = vm_write_valid_o && !vm_write_ready_i;
endmodule
