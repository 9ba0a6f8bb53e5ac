// The product unit: OpProduct and OpScale.
//
//   stream ─► product_decode ─► mac_array ─► slots ─┐
//                  │  │                             ├─► product_drain ─► product_post ─► vector memory
//                  │  └─► product_sums (OpScale) ───┘     F, D, 2^e, b     post step
//                  └─ row scales, biases ────────────────────▲
//
// The next instruction's weights go through the array while the former one's results drain, one
// instruction ahead. Throughput: a super-beat a cycle while results leave as fast, which is 4 outputs
// of a row a cycle; else the issue of weights waits for free slots, nothing behind it. From the last
// weights of a row to its write: 9 cycles in the array, 20 in the drain, 2 to the write, with a residual
// 9 and with SiLU 140 more. Overflow: see mac_row; nothing else can. It raises no fault.
// Stream laws as in rtl/README.md. Reset forgets what is under way; memories and slots keep what they
// hold, but nothing reads it.
module product_unit #(
    parameter engine_pkg::config_t Config = engine_pkg::Default,
    localparam int Rows = Config.rows,
    localparam int MacRows = Config.mac_rows
) (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    input  logic                                 start_valid_i,
    output logic                                 start_ready_o,
    input  engine_pkg::instruction_t          instruction_i,
    input  engine_pkg::pass_t                 pass_i,
    output logic                                 done_o,
    input  logic                                 stream_valid_i,
    output logic                                 stream_ready_o,
    input  logic [engine_pkg::StreamBits-1:0] stream_data_i,
    output logic                                 vm_read_valid_o,
    input  logic                                 vm_read_ready_i,
    output logic [                         15:0] vm_read_address_o,
    input  logic                                 vm_data_valid_i,
    input  logic [  engine_pkg::WordBits-1:0] vm_data_i,
    output logic                                 vm_write_valid_o,
    input  logic                                 vm_write_ready_i,
    output logic [                         15:0] vm_write_address_o,
    output logic [    engine_pkg::Slices-1:0] vm_write_slices_o,
    output logic [  engine_pkg::WordBits-1:0] vm_write_data_o,
    output logic                                 activation_read_valid_o,
    output logic [                         11:0] activation_read_word_o,
    output logic [                          4:0] activation_read_phase_o,
    output logic [                  MacRows-1:0] activation_read_rows_o,
    input  logic [             MacRows*1024-1:0] activation_data_i,  // 2 cycles after the read
    input  logic [                   Rows*8-1:0] exponents_i,
    input  logic [                         11:0] quantized_words_i,
    input  logic [                          7:0] rows_ended_i,
    output logic [                         17:0] progress_quads_o,
    output logic [                  Rows*31-1:0] peaks_o,
    output logic                                 busy_o,
    output logic                                 stalled_on_input_o,
    output logic                                 stalled_on_output_o
);
  localparam int Hold = Config.hold;
  localparam int Slots = Hold > 8 ? 1 << ($clog2(Hold) + 1) : 16;
  localparam int SlotBits = $clog2(Slots);
  localparam int PhaseBits = Hold > 1 ? $clog2(Hold) : 1;
  localparam int SiluLanes = Rows > 16 ? 2 : 1;

  initial if (Rows != MacRows * Hold) $fatal(1, "product_unit: rows: want mac_rows * hold");

  // One instruction is decoded, it or the one before it drains; in between one waits.
  logic start, decode_busy, decode_drains_q, waiting_q, draining_q, drain_start_q;
  engine_pkg::instruction_t waiting_instruction_q, instruction_q;
  logic [5:0] waiting_rows_q, rows_q;
  logic [17:0] quads_q, start_quads;
  logic [18:0] stream_quads_q;

  assign start_ready_o = !decode_busy && !waiting_q;
  assign start         = start_valid_i && start_ready_o;
  assign busy_o        = decode_busy || waiting_q || draining_q;

  function automatic logic [17:0] quads_of(input logic [19:0] columns);
    quads_of = columns[19:2] + {17'd0, columns[1:0] != 2'd0};
  endfunction
  // What the stream holds of a row: with SiLU gate and up.
  function automatic logic [18:0] stream_quads(input logic [17:0] quads, input logic [2:0] variant);
    stream_quads = variant == engine_pkg::PostSilu ? {quads, 1'b0} : {1'b0, quads};
  endfunction
  assign start_quads = quads_of(instruction_i.columns);

  always_ff @(posedge clk_i) begin
    if (start) waiting_q <= 1'b1;
    else if (!draining_q) waiting_q <= 1'b0;
    if (!rst_ni) waiting_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      waiting_instruction_q <= instruction_i;
      waiting_rows_q        <= pass_i.rows;
    end
  end
  always_ff @(posedge clk_i) begin
    drain_start_q <= waiting_q && !draining_q;
    if (waiting_q && !draining_q) draining_q <= 1'b1;
    else if (done_o) draining_q <= 1'b0;
    if (!rst_ni) begin
      drain_start_q <= 1'b0;
      draining_q    <= 1'b0;
    end
  end
  // What is decoded is what drains. Its stream may end in padding that the results do not wait for.
  always_ff @(posedge clk_i) begin
    if (waiting_q && !draining_q) decode_drains_q <= 1'b1;
    else if (start) decode_drains_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (waiting_q && !draining_q) begin
      instruction_q  <= waiting_instruction_q;
      rows_q         <= waiting_rows_q;
      quads_q        <= quads_of(waiting_instruction_q.columns);
      stream_quads_q <= stream_quads(quads_of(waiting_instruction_q.columns),
                                     waiting_instruction_q.variant);
    end
  end

  logic scales_load, scales_ready, biases_load, biases_ready;
  logic step_valid, step_first, step_last, load, slot_freed, finished;
  logic [PhaseBits-1:0] step_phase;
  logic [MacRows-1:0] step_rows, read_rows;
  logic [63:0] multipliers;
  logic [SlotBits-1:0] read_slot;
  logic [183:0] array_sums;
  logic [255:0] quad_sums, y;
  logic sums_valid, sums_ready, sums_waiting, sums_first, sums_last, sums_half;
  logic quad_valid, quad_ready;
  logic [4:0] sums_quads;
  logic room, gate_room, reserve, reserve_gate, y_valid;

  product_decode #(
      .Config(Config),
      .Slots (Slots)
  ) u_decode (
      .clk_i, .rst_ni,
      .start_i       (start),
      .instruction_i,
      .rows_i        (pass_i.rows),
      .quads_i       (stream_quads(start_quads, instruction_i.variant)),
      .busy_o        (decode_busy),
      .rows_ended_i, .quantized_words_i,
      .stream_valid_i, .stream_ready_o, .stream_data_i,
      .scales_load_o (scales_load),
      .scales_ready_i(scales_ready),
      .biases_load_o (biases_load),
      .biases_ready_i(biases_ready),
      .step_valid_o  (step_valid),
      .step_first_o  (step_first),
      .step_last_o   (step_last),
      .step_phase_o  (step_phase),
      .step_rows_o   (step_rows),
      .step_word_o   (activation_read_word_o),
      .load_o        (load),
      .multipliers_o (multipliers),
      .slot_freed_i  (slot_freed),
      .sums_valid_o  (sums_valid),
      .sums_ready_i  (sums_ready),
      .sums_waiting_i(sums_waiting),
      .sums_first_o  (sums_first),
      .sums_last_o   (sums_last),
      .sums_half_o   (sums_half),
      .sums_quads_o  (sums_quads),
      .stalled_on_input_o, .stalled_on_output_o
  );
  assign activation_read_valid_o = step_valid;
  assign activation_read_phase_o = 5'(step_phase);
  assign activation_read_rows_o  = step_rows;

  mac_array #(
      .Config(Config),
      .Slots (Slots)
  ) u_array (
      .clk_i, .rst_ni,
      .step_valid_i (step_valid),
      .step_first_i (step_first),
      .step_last_i  (step_last),
      .step_phase_i (step_phase),
      .step_rows_i  (step_rows),
      .load_i       (load),
      .weights_i    (stream_data_i),
      .multipliers_i(multipliers),
      .activations_i(activation_data_i),
      .finished_o   (finished),
      .read_rows_i  (read_rows),
      .read_slot_i  (read_slot),
      .sums_o       (array_sums)
  );

  product_sums u_sums (
      .clk_i, .rst_ni,
      .beat_valid_i(sums_valid),
      .beat_ready_o(sums_ready),
      .beat_data_i (stream_data_i),
      .beat_first_i(sums_first),
      .beat_last_i (sums_last),
      .beat_half_i (sums_half),
      .beat_quads_i(sums_quads),
      .waiting_o   (sums_waiting),
      .quad_valid_o(quad_valid),
      .quad_ready_i(quad_ready),
      .quad_sums_o (quad_sums)
  );

  product_drain #(
      .Config(Config),
      .Slots (Slots)
  ) u_drain (
      .clk_i, .rst_ni,
      .start_i       (drain_start_q),
      .rows_i        (rows_q),
      .quads_i       (stream_quads_q),
      .from_sums_i   (instruction_q.op == engine_pkg::OpScale),
      .biased_i      (instruction_q.bias),
      .gated_i       (instruction_q.variant == engine_pkg::PostSilu),
      .unscaled_i    (instruction_q.variant == engine_pkg::PostSums),
      .exponents_i,
      .scales_load_i (scales_load),
      .scales_ready_o(scales_ready),
      .biases_load_i (biases_load),
      .biases_ready_o(biases_ready),
      .constants_i   (stream_data_i),
      .finished_i    (finished),
      .read_rows_o   (read_rows),
      .read_slot_o   (read_slot),
      .array_sums_i  (array_sums),
      .slot_freed_o  (slot_freed),
      .quad_valid_i  (quad_valid),
      .quad_ready_o  (quad_ready),
      .quad_sums_i   (quad_sums),
      .room_i        (room),
      .gate_room_i   (gate_room),
      .reserve_o     (reserve),
      .reserve_gate_o(reserve_gate),
      .y_valid_o     (y_valid),
      .y_o           (y)
  );

  product_post #(
      .Config   (Config),
      .SiluLanes(SiluLanes)
  ) u_post (
      .clk_i, .rst_ni,
      .start_i       (drain_start_q),
      .instruction_i (instruction_q),
      .rows_i        (rows_q),
      .quads_i       (quads_q),
      .hold_i        (decode_drains_q && decode_busy),
      .done_o, .progress_quads_o,
      .room_o        (room),
      .gate_room_o   (gate_room),
      .reserve_i     (reserve),
      .reserve_gate_i(reserve_gate),
      .y_valid_i     (y_valid),
      .y_i           (y),
      .vm_read_valid_o, .vm_read_ready_i, .vm_read_address_o, .vm_data_valid_i, .vm_data_i,
      .vm_write_valid_o, .vm_write_ready_i, .vm_write_address_o, .vm_write_slices_o,
      .vm_write_data_o,
      .peaks_o
  );

  logic unused;
  assign unused = ^pass_i;
endmodule
