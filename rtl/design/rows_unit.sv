// The rows unit: OpLoad, OpEmbed, OpGain, OpRotary, OpPeak, OpNorm and OpQuantize, 32 lanes.
//
// A norm walks its rows three times, and each walk takes one word a cycle: squares of the row
// quantized at its known peak (row by row; the scalar path to 1/sqrt runs beside the next rows),
// scaling (row by row, a row as soon as its factor is there; written to the destination, maxima
// kept), quantizing what was written (word by word over all rows, so that a product can follow on
// quantized_words_o). Latencies between the walks are paid once an instruction.
//
// Throughput: OpLoad, OpGain, OpEmbed: one word of 32 a cycle; OpRotary: one super-beat a cycle;
// OpQuantize: columns / 32 cycles a row, OpNorm: 3 * columns / 32, at a free port. Latency:
// OpQuantize about rows + 14 cycles, OpNorm at most 2 * rows + 140 beside that. A start is taken
// while idle; done_o lasts one cycle, when all that was written can be read. A word of vector
// memory whose write is granted in one cycle must be what a read granted in the next sees.
// Overflow: a maximum above 2^40 raises fault_o and makes the row all zero; nothing else can. What a
// norm gives has a line of its own. Reset stops everything and clears the peaks and exponents. Longer
// than other files: it says what follows what and wires the parts, most of which have a file of their
// own.
module rows_unit #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    // start
    input  logic                              start_valid_i,
    output logic                              start_ready_o,
    // Only the fields named in rtl/README.md for this unit's instructions are read.
    // verilator lint_off UNUSEDSIGNAL
    input  engine_pkg::instruction_t          instruction_i,
    input  engine_pkg::pass_t                 pass_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                              done_o,
    output logic                              fault_o,
    output logic [                      15:0] fault_line_o,
    // stream
    input  logic                              stream_valid_i,
    output logic                              stream_ready_o,
    input  logic [engine_pkg::StreamBits-1:0] stream_data_i,
    // vector memory
    output logic                              vm_read_valid_o,
    input  logic                              vm_read_ready_i,
    output logic [                      15:0] vm_read_address_o,
    input  logic                              vm_data_valid_i,
    input  logic [  engine_pkg::WordBits-1:0] vm_data_i,
    output logic                              vm_write_valid_o,
    input  logic                              vm_write_ready_i,
    output logic [                      15:0] vm_write_address_o,
    output logic [    engine_pkg::Slices-1:0] vm_write_slices_o,
    output logic [  engine_pkg::WordBits-1:0] vm_write_data_o,
    // peaks
    output logic [       Config.rows*31-1:0] peaks_o,
    input  logic [       Config.rows*31-1:0] product_peaks_i,
    input  logic [       Config.rows*31-1:0] attend_peaks_i,
    // activation memory
    output logic                              activation_write_valid_o,
    output logic [                       4:0] activation_write_row_o,
    output logic [                      11:0] activation_write_word_o,
    output logic                              activation_write_half_o,
    output logic [                     511:0] activation_write_data_o,
    output logic [        Config.rows*8-1:0] exponents_o,
    output logic [                      11:0] quantized_words_o,
    // gain memory and rotary memory
    output logic                              gain_write_valid_o,
    output logic [                      15:0] gain_write_address_o,
    output logic [  engine_pkg::WordBits-1:0] gain_write_data_o,
    output logic                              gain_read_valid_o,
    output logic [                      15:0] gain_read_address_o,
    input  logic [  engine_pkg::WordBits-1:0] gain_data_i,
    output logic                              rotary_write_valid_o,
    output logic [                       6:0] rotary_write_address_o,
    output logic [                    2047:0] rotary_write_data_o,
    // counters
    output logic                              busy_o,
    output logic                              stalled_on_input_o,
    output logic                              stalled_on_output_o
);
  localparam int Rows = Config.rows;
  localparam int Lanes = engine_pkg::Lanes;
  localparam int WordBits = engine_pkg::WordBits;
  localparam int Depth = 32;  // words on their way to vector memory: more than the path is long

  localparam logic [1:0] WalkSquares = 2'd0;
  localparam logic [1:0] WalkScale = 2'd1;
  localparam logic [1:0] WalkQuantize = 2'd2;

  typedef enum logic [3:0] {
    StIdle,
    StBegin,
    StStream,
    StMeasure,
    StSquares,
    StScale,
    StDrain,
    StQuantize,
    StFlush,
    StDone
  } state_e;

  state_e state_q, state_d;
  logic walk_started_q;  // the walk of this state

  // The instruction at hand.
  logic [7:0] op_q;
  logic [15:0] source_q, source_stride_q, destination_q, destination_stride_q, gain_q, line_q;
  logic [31:0] epsilon_q;
  logic [7:0] apart_q;
  logic [4:0] first_q, pass_row_q;
  logic [1:0] peak_set_q;
  logic [5:0] rows_q;
  logic [20:0] elements_q;  // of a row, from element 0 on
  logic is_norm, is_embed, is_gain, is_rotary, is_peak, is_quantize, keeps_peaks;

  assign is_norm     = op_q == engine_pkg::OpNorm;
  assign is_embed    = op_q == engine_pkg::OpEmbed;
  assign is_gain     = op_q == engine_pkg::OpGain;
  assign is_rotary   = op_q == engine_pkg::OpRotary;
  assign is_peak     = op_q == engine_pkg::OpPeak;
  assign is_quantize = op_q == engine_pkg::OpQuantize;
  assign keeps_peaks = !is_norm && !is_quantize && !is_gain && !is_rotary;

  logic [15:0] words, words_of_64;  // of a row
  logic [5:0] last_lanes;           // of a row's last word of 32
  assign words       = elements_q[20:5] + {15'd0, elements_q[4:0] != 5'd0};
  assign words_of_64 = {1'b0, elements_q[20:6]} + {15'd0, elements_q[5:0] != 6'd0};
  assign last_lanes  = {elements_q[4:0] == 5'd0, elements_q[4:0]};

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) begin
      op_q                 <= instruction_i.op;
      source_q             <= instruction_i.source;
      source_stride_q      <= instruction_i.source_stride;
      destination_q        <= instruction_i.destination;
      destination_stride_q <= instruction_i.destination_stride;
      gain_q               <= instruction_i.gain;
      line_q               <= instruction_i.line;
      apart_q              <= instruction_i.apart;
      epsilon_q            <= instruction_i.epsilon;
      peak_set_q           <= instruction_i.peaks;
      pass_row_q           <= pass_i.row;
      rows_q               <= instruction_i.op == engine_pkg::OpGain ? 6'd1 : pass_i.rows;
      first_q    <= instruction_i.op == engine_pkg::OpQuantize ? instruction_i.first : 5'd0;
      elements_q <= instruction_i.op == engine_pkg::OpPeak ? {13'd0, instruction_i.heads}
                  : instruction_i.op == engine_pkg::OpRotary ? {12'd0, instruction_i.head_columns}
                  : instruction_i.op == engine_pkg::OpQuantize
                    ? {1'b0, instruction_i.columns} + {16'd0, instruction_i.first}
                  : {1'b0, instruction_i.columns};
    end
  end

  // The stream, in chunks.
  logic stream_start, stream_busy, stream_wanting;
  logic chunk_valid, chunk_ready, chunk_taken, chunk_first_section, chunk_stored;
  logic [15:0] chunk_index;
  logic [4:0] chunk_row;
  logic [2:0] chunk_place;
  logic [engine_pkg::StreamBits-1:0] beat;
  logic [15:0] embed_chunks;
  logic credit;

  assign embed_chunks = (words + 16'd35) >> 5;

  rows_stream u_stream (
      .clk_i,
      .rst_ni,
      .start_i              (stream_start),
      .rows_i               (rows_q),
      .chunks_i             (is_embed ? 4'd8 : is_rotary ? 4'd1 : 4'd2),
      .first_chunks_i       (is_embed ? embed_chunks : 16'd0),
      .chunks_of_row_i      (is_rotary ? words_of_64 : words),
      .busy_o               (stream_busy),
      .wanting_o            (stream_wanting),
      .stream_valid_i,
      .stream_ready_o,
      .stream_data_i,
      .chunk_valid_o        (chunk_valid),
      .chunk_ready_i        (chunk_ready),
      .chunk_first_section_o(chunk_first_section),
      .chunk_index_o        (chunk_index),
      .chunk_row_o          (chunk_row),
      .chunk_place_o        (chunk_place),
      .beat_o               (beat)
  );

  // Chunks that end in vector memory, gain memory or a peak want a credit.
  assign chunk_stored = !is_rotary && !chunk_first_section;
  assign chunk_ready  = !chunk_stored || credit;
  assign chunk_taken  = chunk_valid && chunk_ready;

  assign rotary_write_valid_o   = chunk_taken && is_rotary;
  assign rotary_write_address_o = {chunk_row, chunk_index[1:0]};
  assign rotary_write_data_o    = beat;

  // An embedding's words.
  logic embed_valid;
  logic [31:0] embed_scale;
  logic [WordBits-1:0] embed_x;

  rows_embedding #(
      .Config(Config)
  ) u_embedding (
      .clk_i,
      .rst_ni,
      .valid_i        (chunk_taken && is_embed),
      .first_section_i(chunk_first_section),
      .index_i        (chunk_index),
      .place_i        (chunk_place),
      .beat_i         (beat),
      .valid_o        (embed_valid),
      .x_o            (embed_x),
      .scale_o        (embed_scale)
  );

  // Each row's exponent, from its peak, before a walk: the source's, later that of a norm's result.
  logic measure_start, measure_busy, measure_own_q;
  logic [Rows*31-1:0] peaks_q, own_peaks_q;
  logic [Rows*8-1:0] shifts;
  logic [Rows-1:0] zeros;

  assign fault_line_o = measure_own_q ? line_q + {8'd0, apart_q} : line_q;
  assign peaks_o      = peaks_q;

  always_ff @(posedge clk_i) begin
    if (measure_start) measure_own_q <= state_q == StDrain;
  end

  rows_measure #(
      .Config(Config)
  ) u_measure (
      .clk_i,
      .rst_ni,
      .start_i     (measure_start),
      .own_i       (measure_own_q),
      .keep_i      (!is_norm || measure_own_q),
      .rows_i      (rows_q),
      .pass_row_i  (pass_row_q),
      .peak_set_i  (peak_set_q),
      .own_peaks_i (own_peaks_q),
      .rows_peaks_i(peaks_q),
      .product_peaks_i,
      .attend_peaks_i,
      .busy_o      (measure_busy),
      .fault_o,
      .shift_o     (shifts),
      .zero_o      (zeros),
      .exponents_o
  );

  // The walks.
  logic walk_start, walk_busy, walk_go, walk_issued, walk_last_row, walk_last_word;
  logic [1:0] walk_kind, data_kind;
  logic [4:0] walk_next_row, data_row;
  logic [15:0] data_word;
  logic [Rows-1:0] rooted;
  logic next_rooted;

  always_comb begin
    next_rooted = 1'b0;
    for (int k = 0; k < Rows; k++) if (walk_next_row == 5'(k)) next_rooted = rooted[k];
  end
  assign walk_kind   = state_q == StSquares ? WalkSquares
                     : state_q == StScale ? WalkScale : WalkQuantize;
  assign walk_go     = state_q != StScale || (next_rooted && credit);

  rows_walk u_walk (
      .clk_i,
      .rst_ni,
      .start_i          (walk_start),
      .kind_i           (walk_kind),
      .word_major_i     (state_q == StQuantize),
      .base_i           (state_q == StQuantize && is_norm ? destination_q : source_q),
      .stride_i         (state_q == StQuantize && is_norm ? destination_stride_q : source_stride_q),
      .rows_i           (rows_q),
      .words_i          (state_q == StQuantize ? words_of_64 << 1 : words),
      .readable_i       (words),
      .busy_o           (walk_busy),
      .next_row_o       (walk_next_row),
      .go_i             (walk_go),
      .issued_o         (walk_issued),
      .vm_read_valid_o,
      .vm_read_ready_i,
      .vm_read_address_o,
      .vm_data_valid_i,
      .kind_o           (data_kind),
      .row_o            (data_row),
      .word_o           (data_word),
      .last_row_o       (walk_last_row),
      .last_word_o      (walk_last_word)
  );

  // A word that has come, with what its row needs; an embedding's word on its way to its scale.
  logic word_valid_q, word_zero_q, word_last_row_q, word_last_word_q;
  logic [1:0] word_kind_q;
  logic [4:0] word_row_q;
  logic [15:0] word_index_q;
  logic [WordBits-1:0] word_q;
  logic [7:0] word_shift_q;
  logic [31:0] word_root_q;
  logic [5:0] word_lanes_q;
  logic [Rows*32-1:0] roots;

  always_ff @(posedge clk_i) begin
    if (vm_data_valid_i) word_q <= vm_data_i;
    else if (embed_valid) word_q <= embed_x;
  end

  always_ff @(posedge clk_i) begin
    if (vm_data_valid_i) begin
      word_kind_q      <= data_kind;
      word_row_q       <= data_row;
      word_index_q     <= data_word;
      word_last_row_q  <= walk_last_row;
      word_last_word_q <= walk_last_word;
      word_lanes_q     <= data_word + 16'd1 < words ? 6'd32
                        : data_word + 16'd1 == words ? last_lanes : 6'd0;
      for (int k = 0; k < Rows; k++) begin
        if (data_row == 5'(k)) begin
          word_zero_q  <= zeros[k];
          word_shift_q <= shifts[k*8+:8];
          word_root_q  <= roots[k*32+:32];
        end
      end
    end else if (embed_valid) begin
      word_kind_q <= WalkScale;
      word_root_q <= embed_scale;
    end
    word_valid_q <= (vm_data_valid_i || embed_valid) && rst_ni;
  end

  // Quantized: for the squares or to activation memory.
  logic quantized_valid, quantized_last_row, quantized_last_word;
  logic [Lanes*16-1:0] quantized;
  logic [1:0] quantized_kind;
  logic [4:0] quantized_row;
  logic [12:0] quantized_word;
  logic [11:0] words_done_q;
  logic quantized_end_q;

  rows_quantize #(
      .Lanes  (Lanes),
      .TagBits(22)
  ) u_quantize (
      .clk_i,
      .rst_ni,
      .valid_i(word_valid_q && word_kind_q != WalkScale),
      .x_i    (word_q),
      .s_i    ({{2{word_shift_q[7]}}, word_shift_q}),
      .from_i (word_index_q == 16'd0 ? first_q : 5'd0),
      .to_i   (word_zero_q ? 6'd0 : word_lanes_q),
      .tag_i  ({word_kind_q, word_row_q, word_index_q[12:0], word_last_row_q, word_last_word_q}),
      .valid_o(quantized_valid),
      .q_o    (quantized),
      .tag_o  ({quantized_kind, quantized_row, quantized_word, quantized_last_row,
                quantized_last_word})
  );

  assign activation_write_valid_o = quantized_valid && quantized_kind == WalkQuantize;
  assign activation_write_row_o   = quantized_row;
  assign activation_write_word_o  = quantized_word[12:1];
  assign activation_write_half_o  = quantized_word[0];
  assign activation_write_data_o  = quantized;
  assign quantized_words_o        = words_done_q;

  always_ff @(posedge clk_i) begin
    if (state_d == StDone) words_done_q <= '0;
    else if (activation_write_valid_o && quantized_last_row && quantized_word[0]) begin
      words_done_q <= quantized_word[12:1] + 12'd1;
    end
    quantized_end_q <= activation_write_valid_o && quantized_last_row && quantized_last_word;
    if (!rst_ni) words_done_q <= '0;
  end

  // The factors of a norm.
  rows_factors #(
      .Config(Config)
  ) u_factors (
      .clk_i,
      .rst_ni,
      .start_i  (state_q == StBegin && is_norm),
      .columns_i(elements_q[19:0]),
      .epsilon_i(epsilon_q),
      .shift_i  (shifts),
      .zero_i   (zeros),
      .valid_i  (quantized_valid && quantized_kind == WalkSquares),
      .last_i   (quantized_last_word),
      .row_i    (quantized_row),
      .q_i      (quantized),
      .rooted_o (rooted),
      .roots_o  (roots)
  );

  // Multiplied: a norm's words by their row's factor and their gains, an embedding's by the scale.
  logic scaled_valid;
  logic [WordBits-1:0] scaled;

  rows_scale u_scale (
      .clk_i,
      .rst_ni,
      .valid_i            (word_valid_q && word_kind_q == WalkScale),
      .gained_i           (is_norm),
      .x_i                (word_q),
      .factor_i           (word_root_q),
      .gain_address_i     (gain_q + word_index_q),
      .gain_read_valid_o,
      .gain_read_address_o,
      .gain_data_i,
      .valid_o            (scaled_valid),
      .y_o                (scaled)
  );

  // Written, with peaks.
  logic credit_back, credit_taken, peak_valid, cut_valid;
  logic [30:0] peak;
  logic [5:0] credits_q, peaks_done_q;
  logic drained;

  rows_write #(
      .Depth(Depth)
  ) u_write (
      .clk_i,
      .rst_ni,
      .start_i       (state_q == StBegin),
      .store_i       (!is_peak && !is_gain),
      .destination_i (is_gain ? gain_q : destination_q),
      .stride_i      (destination_stride_q),
      .words_i       (words),
      .last_lanes_i  (last_lanes),
      .beat_valid_i  (chunk_taken && chunk_stored && !is_embed),
      .beat_half_i   (chunk_place[0]),
      .beat_i        (beat),
      .scaled_valid_i(scaled_valid),
      .scaled_i      (scaled),
      .credit_o      (credit_back),
      .peak_valid_o  (peak_valid),
      .peak_o        (peak),
      .word_valid_o  (cut_valid),
      .word_address_o(gain_write_address_o),
      .word_o        (gain_write_data_o),
      .vm_write_valid_o,
      .vm_write_ready_i,
      .vm_write_address_o,
      .vm_write_slices_o,
      .vm_write_data_o
  );

  assign gain_write_valid_o = cut_valid && is_gain;

  assign credit       = credits_q != 6'd0;
  assign credit_taken = (chunk_taken && chunk_stored) || (walk_issued && state_q == StScale);
  assign drained      = credits_q == 6'(Depth) && peaks_done_q == rows_q;

  always_ff @(posedge clk_i) begin
    if (credit_taken != credit_back) credits_q <= credit_back ? credits_q + 6'd1 : credits_q - 6'd1;
    if (state_q == StBegin) begin
      peaks_done_q <= '0;
      own_peaks_q  <= '0;
      if (keeps_peaks) peaks_q <= '0;
    end else if (peak_valid) begin
      peaks_done_q <= peaks_done_q + 6'd1;
      for (int k = 0; k < Rows; k++) begin
        if (is_norm && peaks_done_q == 6'(k)) own_peaks_q[k*31+:31] <= peak;
        if (keeps_peaks && peaks_done_q + {1'b0, pass_row_q} == 6'(k)) peaks_q[k*31+:31] <= peak;
      end
    end
    if (!rst_ni) begin
      credits_q <= 6'(Depth);
      peaks_q   <= '0;
    end
  end

  // What comes after what.
  always_comb begin
    state_d       = state_q;
    stream_start  = 1'b0;
    measure_start = 1'b0;
    walk_start    = 1'b0;
    unique case (state_q)
      StIdle: if (start_valid_i) state_d = StBegin;
      StBegin: begin
        if (is_norm || is_quantize) begin
          measure_start = 1'b1;
          state_d       = StMeasure;
        end else begin
          stream_start = 1'b1;
          state_d      = StStream;
        end
      end
      StStream: if (!stream_busy && (drained || is_rotary)) state_d = StDone;
      StMeasure: begin
        if (!measure_busy) begin
          state_d = is_norm && !measure_own_q ? StSquares : StQuantize;
        end
      end
      StSquares: begin
        walk_start = !walk_started_q;
        if (walk_started_q && !walk_busy) state_d = StScale;
      end
      StScale: begin
        walk_start = !walk_started_q;
        if (walk_started_q && !walk_busy) state_d = StDrain;
      end
      StDrain: begin
        if (drained) begin
          measure_start = 1'b1;
          state_d       = StMeasure;
        end
      end
      StQuantize: begin
        walk_start = !walk_started_q;
        if (walk_started_q && !walk_busy) state_d = StFlush;
      end
      StFlush: if (quantized_end_q) state_d = StDone;
      StDone:  state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q        <= state_d;
    walk_started_q <= walk_start || (walk_started_q && state_d == state_q);
    if (!rst_ni) begin
      state_q        <= StIdle;
      walk_started_q <= 1'b0;
    end
  end

  assign start_ready_o       = state_q == StIdle;
  assign done_o              = state_q == StDone;
  assign busy_o              = state_q != StIdle;
  assign stalled_on_input_o  = (stream_wanting && !stream_valid_i) ||
                               (vm_read_valid_o && !vm_read_ready_i);
  assign stalled_on_output_o = vm_write_valid_o && !vm_write_ready_i;
endmodule
