// From finished sums to y: takes the sums of a quad (4 outputs, one of each bank) row by row from the
// array's slots or from product_sums, and sends them through four product_lanes with the row scales,
// biases and exponents that belong to them.
//
// One instruction at a time: start_i, then all its sums, then it waits for the next. Throughput: a quad
// of a row a cycle as long as room_i (or, for a gate's quad, gate_room_i) says that y has a place;
// reserve_o takes that place 20 cycles before y_valid_o. Row scales and biases: those of 16 quads are in
// use, those of the next 16 may lie ready. With PostSums y is the four sums as they are, 2 cycles after
// reserve_o. Reset forgets the instruction, the constants and what is under way.
module product_drain #(
    parameter engine_pkg::config_t Config = engine_pkg::Default,
    parameter int Slots = 16,
    localparam int Rows = Config.rows,
    localparam int MacRows = Config.mac_rows,
    localparam int SlotBits = $clog2(Slots)
) (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    // start; these stay as they are to the end
    input  logic                                 start_i,
    input  logic [                          5:0] rows_i,
    input  logic [                         18:0] quads_i,
    input  logic                                 from_sums_i,  // OpScale: row by row, from product_sums
    input  logic                                 biased_i,
    input  logic                                 gated_i,      // PostSilu: gate and up alternate
    input  logic                                 unscaled_i,   // PostSums
    input  logic [                   Rows*8-1:0] exponents_i,
    // constants, as they stand in the stream
    input  logic                                 scales_load_i,
    output logic                                 scales_ready_o,
    input  logic                                 biases_load_i,
    output logic                                 biases_ready_o,
    input  logic [engine_pkg::StreamBits-1:0] constants_i,
    // the array's slots
    input  logic                                 finished_i,
    output logic [                  MacRows-1:0] read_rows_o,
    output logic [                 SlotBits-1:0] read_slot_o,
    input  logic [                        183:0] array_sums_i,  // bank b at [46b +: 46]
    output logic                                 slot_freed_o,
    // product_sums
    input  logic                                 quad_valid_i,
    output logic                                 quad_ready_o,
    input  logic [                        255:0] quad_sums_i,
    // y
    input  logic                                 room_i,
    input  logic                                 gate_room_i,
    output logic                                 reserve_o,
    output logic                                 reserve_gate_o,
    output logic                                 y_valid_o,
    output logic [                        255:0] y_o  // 4 binary32, or 4 int64 of PostSums
);
  localparam int StreamBits = engine_pkg::StreamBits;
  localparam int ExponentIndex = $clog2(Rows * 8);
  localparam logic [31:0] MinusZero = 32'h80000000;

  // Where it is.
  logic active_q;
  logic [4:0] row_q;
  logic [18:0] quad_q;
  logic [MacRows-1:0] memory_q;  // one-hot: the row's place in the array
  logic [SlotBits-1:0] slot_q;
  logic [SlotBits:0] slots_filled_q;

  logic issue, last_row, last_quad, row_done, quad_done, slot_done, group_done, have_sums, have_room;
  logic gate;

  assign gate       = gated_i && !quad_q[0];
  assign last_row   = {1'b0, row_q} + 6'd1 == rows_i;
  assign last_quad  = quad_q + 19'd1 == quads_i;
  assign row_done   = from_sums_i ? last_quad : 1'b1;
  assign quad_done  = from_sums_i ? 1'b1 : last_row;
  assign slot_done  = memory_q[MacRows-1] || last_row;
  assign group_done = quad_done && (quad_q[3:0] == 4'd15 || last_quad);

  // Constants of the 16 quads in use, and of the next 16.
  logic scales_valid_q, biases_valid_q, next_scales_valid_q, next_biases_valid_q;
  logic scales_move, biases_move;
  logic [StreamBits-1:0] scales_q, biases_q, next_scales_q, next_biases_q;

  assign scales_ready_o = !next_scales_valid_q;
  assign biases_ready_o = !next_biases_valid_q;
  assign scales_move    = next_scales_valid_q && !scales_valid_q;
  assign biases_move    = next_biases_valid_q && !biases_valid_q;
  always_ff @(posedge clk_i) begin
    if (scales_load_i) next_scales_valid_q <= 1'b1;
    else if (scales_move) next_scales_valid_q <= 1'b0;
    if (scales_move) scales_valid_q <= 1'b1;
    else if (issue && group_done) scales_valid_q <= 1'b0;
    if (biases_load_i) next_biases_valid_q <= 1'b1;
    else if (biases_move) next_biases_valid_q <= 1'b0;
    if (biases_move) biases_valid_q <= 1'b1;
    else if (issue && group_done && biased_i) biases_valid_q <= 1'b0;
    if (!rst_ni) begin
      next_scales_valid_q <= 1'b0;
      scales_valid_q      <= 1'b0;
      next_biases_valid_q <= 1'b0;
      biases_valid_q      <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) if (scales_load_i) next_scales_q <= constants_i;
  always_ff @(posedge clk_i) if (biases_load_i) next_biases_q <= constants_i;
  always_ff @(posedge clk_i) if (scales_move) scales_q <= next_scales_q;
  always_ff @(posedge clk_i) if (biases_move) biases_q <= next_biases_q;

  // A quad of a row goes.
  assign have_sums = from_sums_i ? quad_valid_i : slots_filled_q != '0;
  assign have_room = gate ? gate_room_i : room_i;
  assign issue     = active_q && have_sums && have_room && scales_valid_q &&
                     (!biased_i || biases_valid_q);

  assign reserve_o      = issue && !gate;
  assign reserve_gate_o = issue && gate;
  assign quad_ready_o   = issue && from_sums_i;
  assign read_rows_o    = issue && !from_sums_i ? memory_q : '0;
  assign read_slot_o    = slot_q;
  assign slot_freed_o   = issue && !from_sums_i && slot_done;

  always_ff @(posedge clk_i) begin
    if (start_i) active_q <= 1'b1;
    else if (issue && last_row && last_quad) active_q <= 1'b0;
    if (!rst_ni) active_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q    <= '0;
      quad_q   <= '0;
      memory_q <= MacRows'(1);
    end else if (issue) begin
      if (row_done) row_q <= last_row ? 5'd0 : row_q + 5'd1;
      if (quad_done) quad_q <= last_quad ? 19'd0 : quad_q + 19'd1;
      memory_q <= slot_done ? MacRows'(1) : memory_q << 1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (slot_freed_o) slot_q <= slot_q + 1'b1;
    if (finished_i != slot_freed_o) begin
      slots_filled_q <= finished_i ? slots_filled_q + 1'b1 : slots_filled_q - 1'b1;
    end
    if (!rst_ni) begin
      slot_q         <= '0;
      slots_filled_q <= '0;
    end
  end

  // Beside the two cycles in which the sums are read: constants and exponent.
  logic [1:0] issued_q;
  logic [127:0] scales1_q, scales2_q, biases1_q, biases2_q;
  logic [7:0] exponent1_q, exponent2_q;
  logic [255:0] sums1_q, sums2_q;

  always_ff @(posedge clk_i) begin
    issued_q <= rst_ni ? {issued_q[0], issue} : 2'b00;
  end
  always_ff @(posedge clk_i) begin
    if (issue) begin
      for (int b = 0; b < engine_pkg::Banks; b++) begin
        scales1_q[32*b+:32] <= scales_q[{2'(b), quad_q[3:0], 5'd0}+:32];
        biases1_q[32*b+:32] <= biased_i ? biases_q[{2'(b), quad_q[3:0], 5'd0}+:32] : MinusZero;
      end
      exponent1_q <= exponents_i[ExponentIndex'({row_q, 3'd0})+:8];
    end
  end
  always_ff @(posedge clk_i) begin
    if (issued_q[0]) begin
      scales2_q   <= scales1_q;
      biases2_q   <= biases1_q;
      exponent2_q <= exponent1_q;
    end
  end
  always_ff @(posedge clk_i) if (quad_ready_o) sums1_q <= quad_sums_i;
  always_ff @(posedge clk_i) if (issued_q[0] && from_sums_i) sums2_q <= sums1_q;

  // The lanes.
  logic [255:0] sums;
  logic [127:0] y;
  logic [3:0] y_valid;
  always_comb begin
    sums = sums2_q;
    if (!from_sums_i) begin
      for (int b = 0; b < engine_pkg::Banks; b++) begin
        sums[64*b+:64] = {{18{array_sums_i[46*b+45]}}, array_sums_i[46*b+:46]};
      end
    end
  end
  for (genvar b = 0; b < engine_pkg::Banks; b++) begin : g_lane
    product_lane u_lane (
        .clk_i, .rst_ni,
        .valid_i   (issued_q[1] && !unscaled_i),
        .sum_i     (sums[64*b+:64]),
        .scale_i   (scales2_q[32*b+:32]),
        .bias_i    (biases2_q[32*b+:32]),
        .exponent_i(exponent2_q),
        .valid_o   (y_valid[b]),
        .y_o       (y[32*b+:32])
    );
  end

  assign y_valid_o = unscaled_i ? issued_q[1] : y_valid[0];
  assign y_o       = unscaled_i ? sums : {128'd0, y};

  logic unused;  // the lanes go together
  assign unused = ^y_valid;
endmodule
