// The multipliers of the product unit: a mac_row for each of MAC_ROWS rows, the registers in front of
// them and the slots of finished sums behind them.
//
// A step is one phase of one weight super-beat: cycle 0 step_*_i (and with the super-beat's first
// phase load_i, weights_i, multipliers_i; the other phases follow at once or later, before the next
// load_i); cycle 2 activations_i, what activation memory answers to a read of cycle 0. With
// step_last_i the sums of the step's phase of all rows go to the next of Slots slots, in turn, and
// finished_o says so in cycle 9. Throughput: one step a cycle; no back-pressure: the issuing side
// keeps count of free slots. Reading: read_rows_i (one row), read_slot_i; 2 cycles later sums_o, bank b
// at [64b +: 46].
//
// Only rows of step_rows_i do anything. Reset clears what is under way.
module mac_array #(
    parameter engine_pkg::config_t Config = engine_pkg::Default,
    parameter int Slots = 16,
    localparam int MacRows = Config.mac_rows,
    localparam int Hold = Config.hold,
    localparam int SlotBits = $clog2(Slots),
    localparam int PhaseBits = Hold > 1 ? $clog2(Hold) : 1
) (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    input  logic                                 step_valid_i,
    input  logic                                 step_first_i,
    input  logic                                 step_last_i,
    input  logic [                PhaseBits-1:0] step_phase_i,
    input  logic [                  MacRows-1:0] step_rows_i,
    input  logic                                 load_i,
    input  logic [engine_pkg::StreamBits-1:0] weights_i,
    input  logic [                         63:0] multipliers_i,  // bank b at [16b +: 16]
    input  logic [             MacRows*1024-1:0] activations_i,
    output logic                                 finished_o,
    input  logic [                  MacRows-1:0] read_rows_i,
    input  logic [                 SlotBits-1:0] read_slot_i,
    output logic [                        183:0] sums_o
);
  localparam int TagBits = PhaseBits + 2;
  localparam int Cycles = 9;  // from a step to its word_q in mac_row

  // Control: bit c of valid_q (and place c of the tags) is a step in cycle c + 1.
  logic [Cycles-2:0] valid_q;
  logic [(Cycles-1)*TagBits-1:0] tags_q;
  logic [TagBits-1:0] tag;
  logic [1:0] load_q;
  logic [MacRows-1:0] rows1_q, rows2_q;
  logic [SlotBits-1:0] write_slot_q;
  logic finished_q;

  assign tag = tags_q[(Cycles-2)*TagBits+:TagBits];

  always_ff @(posedge clk_i) begin
    if (step_valid_i || valid_q != '0) begin
      valid_q <= {valid_q[Cycles-3:0], step_valid_i};
      tags_q  <= {tags_q[(Cycles-2)*TagBits-1:0], step_phase_i, step_last_i, step_first_i};
    end
    if (!rst_ni) valid_q <= '0;
  end
  always_ff @(posedge clk_i) if (step_valid_i) rows1_q <= step_rows_i;
  always_ff @(posedge clk_i) if (valid_q[0]) rows2_q <= rows1_q;
  always_ff @(posedge clk_i) begin
    load_q <= rst_ni ? {load_q[0], load_i} : 2'b00;
  end
  always_ff @(posedge clk_i) begin
    finished_q <= valid_q[Cycles-2] && tag[1];
    if (valid_q[Cycles-2] && tag[1]) write_slot_q <= write_slot_q + 1'b1;
    if (!rst_ni) begin
      finished_q   <= 1'b0;
      write_slot_q <= '0;
    end
  end
  assign finished_o = finished_q;

  // A super-beat's multipliers: kept for its phases, then along with each step to cycle 6.
  logic [63:0] multipliers1_q, multipliers2_q, multipliers3_q, multipliers4_q, multipliers5_q;
  logic [63:0] multipliers6_q;
  always_ff @(posedge clk_i) if (load_i) multipliers1_q <= multipliers_i;
  always_ff @(posedge clk_i) if (valid_q[0]) multipliers2_q <= multipliers1_q;
  always_ff @(posedge clk_i) if (valid_q[1]) multipliers3_q <= multipliers2_q;
  always_ff @(posedge clk_i) if (valid_q[2]) multipliers4_q <= multipliers3_q;
  always_ff @(posedge clk_i) if (valid_q[3]) multipliers5_q <= multipliers4_q;
  always_ff @(posedge clk_i) if (valid_q[4]) multipliers6_q <= multipliers5_q;

  // Weights meet their activations in cycle 2; from there on both are lanes of 32 bits.
  logic [engine_pkg::StreamBits-1:0] weights1_q, weights2_q;
  always_ff @(posedge clk_i) if (load_i) weights1_q <= weights_i;
  always_ff @(posedge clk_i) if (load_q[0]) weights2_q <= weights1_q;

  // All rows but the first sleep while one row alone is at work, as in a decode step.
  if (MacRows > 1) begin : g_sleep
    logic others_clk;
    clock_gate u_others_clk (
        .clk_i,
        .rst_ni,
        .wake_i((step_valid_i && step_rows_i[MacRows-1:1] != '0) || read_rows_i[MacRows-1:1] != '0),
        .clk_o (others_clk)
    );
  end

  for (genvar m = 0; m < MacRows; m++) begin : g_activations
    logic row_clk;
    logic [2047:0] lanes_q;
    logic [5:0] valid_row_q;  // bit c: cycle c of mac_row
    if (m == 0) begin : g_first
      assign row_clk = clk_i;
    end else begin : g_other
      assign row_clk = g_sleep.others_clk;
    end
    always_ff @(posedge row_clk) begin
      if ((valid_q[1] && rows2_q[m]) || valid_row_q != '0) begin
        valid_row_q <= {valid_row_q[4:0], valid_q[1] && rows2_q[m]};
      end
      if (!rst_ni) valid_row_q <= '0;
    end
    always_ff @(posedge row_clk) begin
      if (valid_q[1] && rows2_q[m]) begin
        for (int j = 0; j < 16; j++) begin
          for (int p = 0; p < 2; p++) begin
            lanes_q[1024*p+32*j+:32] <= {
              {16{activations_i[1024*m+512*p+32*j+15]}}, activations_i[1024*m+512*p+32*j+:16]
            };
            lanes_q[1024*p+512+32*j+:32] <= {
              {16{activations_i[1024*m+512*p+32*j+31]}}, activations_i[1024*m+512*p+32*j+16+:16]
            };
          end
        end
      end
    end
  end

  logic [8191:0] weight_lanes_q;
  always_ff @(posedge clk_i) begin
    if (load_q[1]) begin
      for (int b = 0; b < engine_pkg::Banks; b++) begin
        for (int p = 0; p < 4; p++) begin
          for (int j = 0; j < 16; j++) begin
            weight_lanes_q[2048*b+512*p+32*j+:32] <= {
              {24{weights2_q[512*b+32*j+8*p+7]}}, weights2_q[512*b+32*j+8*p+:8]
            };
          end
        end
      end
    end
  end

  // One row's sums at most are not 0; they are ORed from row to row.
  for (genvar m = 0; m < MacRows; m++) begin : g_row
    logic [183:0] row_sums, sums;
    if (m == 0) begin : g_first
      assign sums = row_sums;
    end else begin : g_next
      assign sums = row_sums | g_row[m-1].sums;
    end
    mac_row #(
        .Hold (Hold),
        .Slots(Slots)
    ) u_row (
        .clk_i        (g_activations[m].row_clk),
        .rst_ni,
        .valid_i      (g_activations[m].valid_row_q),
        .weights_i    (weight_lanes_q),
        .activations_i(g_activations[m].lanes_q),
        .multipliers_i(multipliers6_q),
        .first_i      (tag[0]),
        .last_i       (tag[1]),
        .phase_i      (tag[TagBits-1:2]),
        .write_slot_i (write_slot_q),
        .read_i       (read_rows_i[m]),
        .read_slot_i,
        .sums_o       (row_sums)
    );
  end

  logic read_q;
  logic [183:0] sums_q;
  always_ff @(posedge clk_i) read_q <= read_rows_i != '0;
  always_ff @(posedge clk_i) if (read_q) sums_q <= g_row[MacRows-1].sums;
  assign sums_o = sums_q;
endmodule
