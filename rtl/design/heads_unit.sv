// The heads unit: OpHeads. Heads pass through a line of stages, each of which keeps a few heads and
// works on another head than its neighbours:
//   fetch -> (norm) -> rotate -> Q16 and packing -> query memory or cache, write-back.
//
// Order: head by head, within a head row by row, so that a product can be followed (chain).
// Throughput at free ports: a head of n columns (a multiple of 32) every n / 4 + 1 cycles, with
// norm every n / 2 + 2 or so. Latency: about n + 60 cycles for one head, with norm about 150 more.
// A start is taken while idle; done_o lasts one cycle, when all that was written can be read and
// the cache's writes are answered (cache_pending_i must rise no later than the cycle after a write
// is taken). A head's write-back goes quad by quad. Overflow: a maximum above 2^40 raises fault_o
// and makes the head all zero; the line is that of the norm or of the quantization. Reset stops
// everything.
module heads_unit #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    // start
    input  logic                            start_valid_i,
    output logic                            start_ready_o,
    // Only the fields named in rtl/README.md for this unit's instruction are read.
    // verilator lint_off UNUSEDSIGNAL
    input  engine_pkg::instruction_t        instruction_i,
    // verilator lint_on UNUSEDSIGNAL
    input  engine_pkg::pass_t               pass_i,
    output logic                            done_o,
    output logic                            fault_o,
    output logic [                    15:0] fault_line_o,
    // progress of the product unit
    input  logic [                     7:0] product_ended_i,
    input  logic [                    17:0] product_progress_quads_i,
    // vector memory
    output logic                            vm_read_valid_o,
    input  logic                            vm_read_ready_i,
    output logic [                    15:0] vm_read_address_o,
    input  logic                            vm_data_valid_i,
    input  logic [engine_pkg::WordBits-1:0] vm_data_i,
    output logic                            vm_write_valid_o,
    input  logic                            vm_write_ready_i,
    output logic [                    15:0] vm_write_address_o,
    output logic [  engine_pkg::Slices-1:0] vm_write_slices_o,
    output logic [engine_pkg::WordBits-1:0] vm_write_data_o,
    // gain memory and rotary memory
    output logic                            gain_read_valid_o,
    output logic [                    15:0] gain_read_address_o,
    input  logic [engine_pkg::WordBits-1:0] gain_data_i,
    output logic                            rotary_read_valid_o,
    output logic [                     6:0] rotary_read_address_o,
    input  logic [                  2047:0] rotary_data_i,
    // row table of the pass
    input  logic [     Config.rows*32-1:0] positions_i,
    // query memory
    output logic                            query_write_valid_o,
    output logic [                    15:0] query_write_address_o,
    output logic [                   511:0] query_write_data_o,
    output logic                            query_write_exponent_valid_o,
    output logic [                    15:0] query_write_exponent_address_o,
    output logic [                     7:0] query_write_exponent_o,
    // cache
    output logic                            cache_write_valid_o,
    input  logic                            cache_write_ready_i,
    output logic [                     1:0] cache_write_bank_o,
    output logic [                    27:0] cache_write_address_o,
    output logic [                   511:0] cache_write_data_o,
    output logic [                    63:0] cache_write_strobe_o,
    input  logic                            cache_pending_i,
    // counters
    output logic                            busy_o,
    output logic                            stalled_on_input_o,
    output logic                            stalled_on_output_o
);
  typedef enum logic [2:0] {
    StIdle,
    StBegin,
    StRun,
    StSettle,  // until the last write has made itself felt in cache_pending_i
    StAnswers,
    StDone
  } state_e;

  state_e state_q, state_d;
  logic settled_q;

  // The instruction at hand.
  logic chain_q, norm_q, rotate_q, write_back_q;
  logic [1:0] target_q;
  logic [7:0] need_q, heads_q, apart_q;
  logic [15:0] source_q, stride_q, gain_q, line_q, first_row_q;
  logic [31:0] epsilon_q;
  logic [27:0] cache_base_q, cache_head_stride_q, cache_row_stride_q, values_offset_q;
  logic [4:0] pass_row_q;
  logic [5:0] rows_q;
  logic [8:0] columns_q;

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) begin
      chain_q             <= instruction_i.chain;
      norm_q              <= instruction_i.norm;
      rotate_q            <= instruction_i.rotate;
      write_back_q        <= instruction_i.write_back;
      target_q            <= instruction_i.target;
      need_q              <= instruction_i.need[8*engine_pkg::UnitProduct+:8];
      heads_q             <= instruction_i.heads;
      source_q            <= instruction_i.source;
      stride_q            <= instruction_i.source_stride;
      gain_q              <= instruction_i.gain;
      line_q              <= instruction_i.line;
      apart_q             <= instruction_i.apart;
      epsilon_q           <= instruction_i.epsilon;
      cache_base_q        <= instruction_i.cache_base;
      cache_head_stride_q <= instruction_i.cache_head_stride;
      cache_row_stride_q  <= instruction_i.cache_row_stride;
      values_offset_q     <= instruction_i.values_offset;
      columns_q           <= instruction_i.head_columns;
      first_row_q         <= pass_i.first_row;
      pass_row_q          <= pass_i.row;
      rows_q              <= pass_i.rows;
    end
  end

  logic [6:0] quads;        // of a head
  logic [2:0] last_lanes;   // of its last quad
  logic [3:0] words;        // of 32 int16
  logic [8:0] low_columns;  // of the half that comes first out of the rotation
  assign quads       = columns_q[8:2] + {6'd0, columns_q[1:0] != 2'd0};
  assign last_lanes  = {columns_q[1:0] == 2'd0, columns_q[1:0]};
  assign words       = columns_q[8:5] + {3'd0, columns_q[4:0] != 5'd0};
  assign low_columns = rotate_q ? {1'b0, columns_q[8:1]} : columns_q;

  logic begin_stages;
  assign begin_stages = state_q == StBegin;

  // Fetch.
  logic fetch_waiting, fetch_room, fetch_claim, fetch_valid, fetch_gain, fetch_head;
  logic [5:0] fetch_index;
  logic [127:0] fetch_quad;
  logic [30:0] fetch_peak;

  heads_fetch u_fetch (
      .clk_i,
      .rst_ni,
      .start_i     (begin_stages),
      .gains_i     (norm_q),
      .gain_i      (gain_q),
      .chain_i     (chain_q),
      .need_i      (need_q),
      .source_i    (source_q),
      .stride_i    (stride_q),
      .rows_i      (rows_q),
      .heads_i     (heads_q),
      .quads_i     (quads),
      .last_lanes_i(last_lanes),
      .waiting_o   (fetch_waiting),
      .product_ended_i,
      .product_progress_quads_i,
      .vm_read_valid_o,
      .vm_read_ready_i,
      .vm_read_address_o,
      .vm_data_valid_i,
      .vm_data_i,
      .gain_read_valid_o,
      .gain_read_address_o,
      .gain_data_i,
      .room_i      (fetch_room),
      .claim_o     (fetch_claim),
      .quad_valid_o(fetch_valid),
      .quad_gain_o (fetch_gain),
      .quad_index_o(fetch_index),
      .quad_o      (fetch_quad),
      .head_valid_o(fetch_head),
      .peak_o      (fetch_peak)
  );

  // Norm, where asked for.
  logic norm_fault, norm_room, norm_claim, norm_valid, norm_last;
  logic [5:0] norm_index;
  logic [127:0] norm_quad;
  logic rotate_room, rotate_claim, rotate_valid, rotate_high, rotate_head;
  logic [5:0] rotate_index;
  logic [127:0] rotate_quad;
  logic [30:0] rotate_peak;

  assign fetch_room = norm_q ? norm_room : rotate_room;

  heads_norm u_norm (
      .clk_i,
      .rst_ni,
      .start_i     (begin_stages),
      .quads_i     (quads),
      .columns_i   (columns_q),
      .epsilon_i   (epsilon_q),
      .fault_o     (norm_fault),
      .room_o      (norm_room),
      .claim_i     (fetch_claim && norm_q),
      .quad_valid_i(fetch_valid && norm_q),
      .quad_gain_i (fetch_gain),
      .quad_index_i(fetch_index),
      .quad_i      (fetch_quad),
      .head_valid_i(fetch_head && norm_q),
      .peak_i      (fetch_peak),
      .room_i      (rotate_room),
      .claim_o     (norm_claim),
      .quad_valid_o(norm_valid),
      .quad_index_o(norm_index),
      .quad_o      (norm_quad),
      .last_o      (norm_last)
  );

  // Rotation.
  logic quantize_room, quantize_claim, quantize_fault, quantize_drained;

  heads_rotate u_rotate (
      .clk_i,
      .rst_ni,
      .start_i     (begin_stages),
      .rotate_i    (rotate_q),
      .rows_i      (rows_q),
      .quads_i     (quads),
      .half_i      (columns_q[8:1]),
      .room_o      (rotate_room),
      .claim_i     (norm_q ? norm_claim : fetch_claim),
      .quad_valid_i(norm_q ? norm_valid : fetch_valid),
      .quad_index_i(norm_q ? norm_index : fetch_index),
      .quad_i      (norm_q ? norm_quad : fetch_quad),
      .head_valid_i(norm_q ? norm_valid && norm_last : fetch_head),
      .rotary_read_valid_o,
      .rotary_read_address_o,
      .rotary_data_i,
      .room_i      (quantize_room),
      .claim_o     (rotate_claim),
      .quad_valid_o(rotate_valid),
      .quad_high_o (rotate_high),
      .quad_index_o(rotate_index),
      .quad_o      (rotate_quad),
      .head_valid_o(rotate_head),
      .peak_o      (rotate_peak)
  );

  // Q16 and where it goes.
  logic push_room, word_valid, word_first, word_last, push_done;
  logic [511:0] word;
  logic [7:0] exponent;

  heads_quantize u_quantize (
      .clk_i,
      .rst_ni,
      .start_i      (begin_stages),
      .nowhere_i    (target_q == engine_pkg::HeadNowhere),
      .write_back_i (write_back_q),
      .source_i     (source_q),
      .stride_i     (stride_q),
      .rows_i       (rows_q),
      .quads_i      (quads),
      .columns_i    (columns_q),
      .low_columns_i(low_columns),
      .words_i      (words),
      .drained_o    (quantize_drained),
      .fault_o      (quantize_fault),
      .room_o       (quantize_room),
      .claim_i      (rotate_claim),
      .quad_valid_i (rotate_valid),
      .quad_high_i  (rotate_high),
      .quad_index_i (rotate_index),
      .quad_i       (rotate_quad),
      .head_valid_i (rotate_head),
      .peak_i       (rotate_peak),
      .vm_write_valid_o,
      .vm_write_ready_i,
      .vm_write_address_o,
      .vm_write_slices_o,
      .vm_write_data_o,
      .room_i       (push_room),
      .claim_o      (quantize_claim),
      .word_valid_o (word_valid),
      .first_o      (word_first),
      .last_o       (word_last),
      .word_o       (word),
      .exponent_o   (exponent)
  );

  heads_push #(
      .Config(Config)
  ) u_push (
      .clk_i,
      .rst_ni,
      .start_i            (begin_stages),
      .target_i           (target_q),
      .rows_i             (rows_q),
      .heads_i            (heads_q),
      .words_i            (words),
      .cache_base_i       (cache_base_q),
      .cache_head_stride_i(cache_head_stride_q),
      .cache_row_stride_i (cache_row_stride_q),
      .values_offset_i    (values_offset_q),
      .first_row_i        (first_row_q),
      .pass_row_i         (pass_row_q),
      .positions_i,
      .all_done_o         (push_done),
      .room_o             (push_room),
      .claim_i            (quantize_claim),
      .word_valid_i       (word_valid),
      .first_i            (word_first),
      .last_i             (word_last),
      .word_i             (word),
      .exponent_i         (exponent),
      .query_write_valid_o,
      .query_write_address_o,
      .query_write_data_o,
      .query_write_exponent_valid_o,
      .query_write_exponent_address_o,
      .query_write_exponent_o,
      .cache_write_valid_o,
      .cache_write_ready_i,
      .cache_write_bank_o,
      .cache_write_address_o,
      .cache_write_data_o,
      .cache_write_strobe_o
  );

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:    if (start_valid_i) state_d = StBegin;
      StBegin:   state_d = StRun;
      StRun:     if (push_done && quantize_drained) state_d = StSettle;
      StSettle:  if (settled_q) state_d = StAnswers;
      StAnswers: if (!cache_pending_i) state_d = StDone;
      StDone:    state_d = StIdle;
      default:   state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q   <= state_d;
    settled_q <= state_q == StSettle;
    if (!rst_ni) state_q <= StIdle;
  end

  assign fault_o             = norm_fault || quantize_fault;
  assign fault_line_o        = norm_fault ? line_q : line_q + {8'd0, apart_q};
  assign start_ready_o       = state_q == StIdle;
  assign done_o              = state_q == StDone;
  assign busy_o              = state_q != StIdle;
  assign stalled_on_input_o  = fetch_waiting || (vm_read_valid_o && !vm_read_ready_i);
  assign stalled_on_output_o = (vm_write_valid_o && !vm_write_ready_i) ||
                               (cache_write_valid_o && !cache_write_ready_i) ||
                               (state_q == StAnswers && cache_pending_i);
endmodule
