// The front of the product unit: knows what each super-beat of an instruction's stream is and sends it
// where it belongs: row scales and biases to the drain, group multipliers into a register, weights as
// steps to the array together with their reads of activation memory, sums of several chips to
// product_sums.
//
// Stream law: once valid, valid stays and data stay as they are until ready; stream_ready_o depends on
// registers and the other units' state, never on stream_valid_i. Throughput: a super-beat a cycle; a
// weight super-beat takes as many as the rows have phases (ceil(rows / MAC_ROWS)), and in all but the
// first of them other super-beats may pass. Nothing behind the issue of a step can wait, so a step that
// ends a row is issued only when there is a slot for its sums: Slots less those taken.
// The longest path: the comparison of 12 bits with quantized_words_i, the super-beat's taking, the read
// enables of activation memory.
// With `chain` the words of activations are waited for as they are quantized.
// Reset stops the instruction.
module product_decode #(
    parameter engine_pkg::config_t Config = engine_pkg::Default,
    parameter int Slots = 16,
    localparam int MacRows = Config.mac_rows,
    localparam int Hold = Config.hold,
    localparam int PhaseBits = Hold > 1 ? $clog2(Hold) : 1
) (
    input  logic                                     clk_i,
    input  logic                                     rst_ni,
    // start
    input  logic                                     start_i,  // only when not busy_o
    input  engine_pkg::instruction_t              instruction_i,
    input  logic [                              5:0] rows_i,
    input  logic [                             18:0] quads_i,  // in the stream, of a row
    output logic                                     busy_o,
    input  logic [                              7:0] rows_ended_i,
    input  logic [                             11:0] quantized_words_i,
    // stream
    input  logic                                     stream_valid_i,
    output logic                                     stream_ready_o,
    input  logic [engine_pkg::StreamBits-1:0]     stream_data_i,
    // to the drain: this super-beat is row scales, biases
    output logic                                     scales_load_o,
    input  logic                                     scales_ready_i,
    output logic                                     biases_load_o,
    input  logic                                     biases_ready_i,
    // to the array and to activation memory
    output logic                                     step_valid_o,
    output logic                                     step_first_o,
    output logic                                     step_last_o,
    output logic [                    PhaseBits-1:0] step_phase_o,
    output logic [                      MacRows-1:0] step_rows_o,
    output logic [                             11:0] step_word_o,
    output logic                                     load_o,  // this super-beat is weights
    output logic [                             63:0] multipliers_o,
    input  logic                                     slot_freed_i,
    // to product_sums: this super-beat is sums
    output logic                                     sums_valid_o,
    input  logic                                     sums_ready_i,
    input  logic                                     sums_waiting_i,
    output logic                                     sums_first_o,  // of the first chip
    output logic                                     sums_last_o,   // of the last chip
    output logic                                     sums_half_o,   // columns 32-63 of the group
    output logic [                              4:0] sums_quads_o,  // of the group, 1 to 16
    // counters
    output logic                                     stalled_on_input_o,
    output logic                                     stalled_on_output_o
);
  localparam int FreeBits = $clog2(Slots) + 1;

  typedef enum logic [2:0] {Idle, Scales, Biases, Multipliers, Weights, Sums} kind_e;

  // Of the instruction.
  logic is_scale_q, bias_q;
  logic [11:0] last_word_q;
  logic [5:0] rows_q;
  logic [FreeBits-1:0] phases_q;
  logic [MacRows-1:0] first_mask_q;
  logic [18:0] quads_q;
  logic [7:0] last_chip_q;
  // Where it is. Of a matrix: quads, words, weight beats; of sums: rows, groups of quads, chips.
  kind_e kind_q, kind_next, after_constants, after_weights;
  logic [18:0] quads_left_q;
  logic [3:0] quad_q;  // modulo 16
  logic [11:0] word_q;
  logic [4:0] beat_q;  // weight beats modulo 32
  logic [5:0] rows_left_q;
  logic [7:0] chip_q;
  logic half_q;
  // The weights that are held for further phases.
  logic [FreeBits-1:0] hold_left_q;
  logic [PhaseBits-1:0] hold_phase_q;
  logic [5:0] hold_rows_q;
  logic [11:0] hold_word_q;
  logic hold_first_q, hold_last_q;
  logic [FreeBits-1:0] free_q;
  logic all_words_q;
  logic [7:0] need_rows_q;
  logic [engine_pkg::StreamBits-1:0] multipliers_q;

  logic accept, last_word, word_here, slot_here, last_quad, last_sums, row_ends;
  logic [7:0] ended_since;

  assign busy_o    = kind_q != Idle;
  assign accept    = stream_valid_i && stream_ready_o;
  assign last_word = word_q == last_word_q;
  assign word_here = all_words_q || word_q < quantized_words_i;
  assign slot_here = !last_word || free_q >= phases_q;
  assign last_quad = quads_left_q == 19'd1;
  assign last_sums = half_q && chip_q == last_chip_q;
  assign row_ends  = quads_left_q <= 19'd16;  // of sums, with this group

  always_comb begin
    unique case (kind_q)
      Scales: stream_ready_o = scales_ready_i;
      Biases: stream_ready_o = biases_ready_i;
      Multipliers: stream_ready_o = 1'b1;
      Weights: stream_ready_o = hold_left_q == '0 && word_here && slot_here;
      Sums: stream_ready_o = sums_ready_i;
      default: stream_ready_o = 1'b0;
    endcase
  end

  assign after_constants = is_scale_q ? Sums : beat_q == 5'd0 ? Multipliers : Weights;
  assign after_weights   = beat_q == 5'd31 ? Multipliers : Weights;
  always_comb begin
    unique case (kind_q)
      Scales: kind_next = bias_q ? Biases : after_constants;
      Biases: kind_next = after_constants;
      Multipliers: kind_next = Weights;
      Weights: kind_next = !last_word ? after_weights : last_quad ? Idle
                         : quad_q == 4'd15 ? Scales : after_weights;
      Sums: kind_next = !last_sums ? Sums : row_ends && rows_left_q == 6'd1 ? Idle : Scales;
      default: kind_next = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (start_i) kind_q <= Scales;
    else if (accept) kind_q <= kind_next;
    if (!rst_ni) kind_q <= Idle;
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      is_scale_q   <= instruction_i.op == engine_pkg::OpScale;
      bias_q       <= instruction_i.bias;
      last_word_q  <= instruction_i.words - 12'd1;
      last_chip_q  <= instruction_i.heads - 8'd1;
      need_rows_q  <= instruction_i.need[8*engine_pkg::UnitRows+:8];
      rows_q       <= rows_i;
      quads_q      <= quads_i;
      phases_q     <= phases(rows_i);
      first_mask_q <= mask(rows_i);
    end
  end

  // Rows of MAC_ROWS at a time.
  function automatic logic [FreeBits-1:0] phases(input logic [5:0] rows);
    phases = FreeBits'(1);
    for (int h = 1; h < Hold; h++) begin
      if (32'(rows) > h * MacRows) phases = FreeBits'(h + 1);
    end
  endfunction

  // The rows of the array that a phase with so many rows left uses.
  function automatic logic [MacRows-1:0] mask(input logic [5:0] rows);
    mask = 32'(rows) >= MacRows ? '1 : MacRows'((33'd1 << rows) - 33'd1);
  endfunction

  // Position in a matrix.
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      word_q <= '0;
      beat_q <= '0;
      quad_q <= '0;
    end else if (accept && kind_q == Weights) begin
      word_q <= last_word ? '0 : word_q + 12'd1;
      beat_q <= beat_q + 5'd1;
      if (last_word) quad_q <= quad_q + 4'd1;
    end
  end

  // Position in sums.
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      rows_left_q <= rows_i;
      chip_q      <= '0;
      half_q      <= 1'b0;
    end else if (accept && kind_q == Sums) begin
      half_q <= !half_q;
      if (half_q) chip_q <= last_sums ? '0 : chip_q + 8'd1;
      if (last_sums && row_ends) rows_left_q <= rows_left_q - 6'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) quads_left_q <= quads_i;
    else if (accept && kind_q == Weights && last_word) quads_left_q <= quads_left_q - 19'd1;
    else if (accept && kind_q == Sums && last_sums) begin
      quads_left_q <= row_ends ? quads_q : quads_left_q - 19'd16;
    end
  end

  // Words of activations: all of them are there once the rows instruction has ended or has written as
  // many as this instruction reads.
  assign ended_since = rows_ended_i - need_rows_q;
  always_ff @(posedge clk_i) begin
    if (start_i) all_words_q <= !instruction_i.chain;
    else if (!all_words_q) all_words_q <= !ended_since[7] || quantized_words_i > last_word_q;
  end

  // Slots for sums: taken by the step that ends a row, freed by the drain.
  always_ff @(posedge clk_i) begin
    if ((step_valid_o && step_last_o) != slot_freed_i) begin
      free_q <= slot_freed_i ? free_q + 1'b1 : free_q - 1'b1;
    end
    if (!rst_ni) free_q <= FreeBits'(Slots);
  end

  // Further phases of the weights last taken.
  always_ff @(posedge clk_i) begin
    if (load_o) hold_left_q <= phases_q - 1'b1;
    else if (hold_left_q != '0) hold_left_q <= hold_left_q - 1'b1;
    if (!rst_ni) hold_left_q <= '0;
  end
  always_ff @(posedge clk_i) begin
    if (load_o) begin
      hold_phase_q <= PhaseBits'(1);
      hold_rows_q  <= rows_q - 6'(MacRows);
      hold_word_q  <= word_q;
      hold_first_q <= word_q == '0;
      hold_last_q  <= last_word;
    end else if (hold_left_q != '0) begin
      hold_phase_q <= hold_phase_q + 1'b1;
      hold_rows_q  <= hold_rows_q - 6'(MacRows);
    end
  end

  assign load_o       = accept && kind_q == Weights;
  assign step_valid_o = load_o || hold_left_q != '0;
  assign step_first_o = hold_left_q != '0 ? hold_first_q : word_q == '0;
  assign step_last_o  = hold_left_q != '0 ? hold_last_q : last_word;
  assign step_phase_o = hold_left_q != '0 ? hold_phase_q : '0;
  assign step_rows_o  = hold_left_q != '0 ? mask(hold_rows_q) : first_mask_q;
  assign step_word_o  = hold_left_q != '0 ? hold_word_q : word_q;

  // Multipliers of 32 weight beats.
  always_ff @(posedge clk_i) begin
    if (accept && kind_q == Multipliers) multipliers_q <= stream_data_i;
  end
  for (genvar b = 0; b < engine_pkg::Banks; b++) begin : g_bank
    logic [engine_pkg::BeatBits-1:0] beat;
    assign beat = multipliers_q[engine_pkg::BeatBits*b+:engine_pkg::BeatBits];
    assign multipliers_o[16*b+:16] = beat[{beat_q, 4'd0}+:16];
  end

  assign scales_load_o = accept && kind_q == Scales;
  assign biases_load_o = accept && kind_q == Biases;
  assign sums_valid_o  = stream_valid_i && kind_q == Sums;
  assign sums_first_o  = chip_q == '0;
  assign sums_last_o   = chip_q == last_chip_q;
  assign sums_half_o   = half_q;
  assign sums_quads_o  = row_ends ? quads_left_q[4:0] : 5'd16;

  assign stalled_on_input_o = stream_ready_o && !stream_valid_i;
  // Not: weights that are held for a phase or whose activations are not there, sums at work.
  assign stalled_on_output_o = stream_valid_i && !stream_ready_o && kind_q != Idle &&
                               !(kind_q == Weights && (hold_left_q != '0 || !word_here)) &&
                               !(kind_q == Sums && !sums_waiting_i);
endmodule
