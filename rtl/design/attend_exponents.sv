// The exponents of keys and values. As the slots of a block pass, the keys' exponents go with the
// beats, the values' are kept for two pairs until the weights are made, and E of each pair is the
// greatest of those that take part.
//
// Latency: key exponents one cycle after the block's beat; E four cycles after the slot; kept
// exponents one cycle after they are asked for. Throughput: a slot a cycle.
// Nothing to reset: all is written before it is read.
module attend_exponents #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic          clk_i,
    // A pair begins: E is ZE.
    input  logic          start_i,
    input  logic          start_parity_i,
    // A beat of exponents.
    input  logic          beat_valid_i,
    input  logic [2047:0] beat_i,
    // The slot in front passes.
    input  logic          slot_valid_i,
    input  logic          slot_parity_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [  15:0] slot_i,          // below Config.positions / 4
    input  logic [  15:0] read_slot_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [   3:0] takes_part_i,
    output logic [  31:0] key_exponents_o,
    // Kept: of each parity {takes part, value exponents} of a slot.
    input  logic          read_valid_i,
    input  logic          read_parity_i,
    output logic [  71:0] read_o,
    output logic [  15:0] greatest_o       // E of each parity
);
  localparam int Slots = Config.positions / 4;
  localparam int SlotBits = $clog2(Slots);

  // {value, key} of each slot of the block, and those of the slot in front.
  logic [511:0] bank0_q, bank1_q, bank2_q, bank3_q;
  logic [15:0] bank0, bank1, bank2, bank3;
  assign bank0           = bank0_q[{slot_i[4:0], 4'd0}+:16];
  assign bank1           = bank1_q[{slot_i[4:0], 4'd0}+:16];
  assign bank2           = bank2_q[{slot_i[4:0], 4'd0}+:16];
  assign bank3           = bank3_q[{slot_i[4:0], 4'd0}+:16];
  assign key_exponents_o = {bank3[7:0], bank2[7:0], bank1[7:0], bank0[7:0]};

  // The values' of the slot that passed.
  logic passed_q, passed_parity_q;
  logic [SlotBits-1:0] passed_slot_q;
  logic [3:0] takes_part_q;
  logic [31:0] values_q;

  logic [35:0] kept0[0:Slots-1], kept1[0:Slots-1];
  logic [35:0] kept0_q, kept1_q;
  assign read_o = {kept1_q, kept0_q};

  // The maximum: of two banks each, of the slot, of the pair.
  logic pairs_valid_q, slot_valid_q, pairs_parity_q, slot_parity_q;
  logic signed [7:0] low_q, high_q, slot_greatest_q;
  logic signed [7:0] greatest0_q, greatest1_q;
  assign greatest_o = {greatest1_q, greatest0_q};

  function automatic logic signed [7:0] larger(input logic signed [7:0] a,
                                               input logic signed [7:0] b);
    larger = a > b ? a : b;
  endfunction

  always_ff @(posedge clk_i) begin
    if (beat_valid_i) begin
      bank0_q <= beat_i[511:0];
      bank1_q <= beat_i[1023:512];
      bank2_q <= beat_i[1535:1024];
      bank3_q <= beat_i[2047:1536];
    end
    if (slot_valid_i) begin
      values_q        <= {bank3[15:8], bank2[15:8], bank1[15:8], bank0[15:8]};
      takes_part_q    <= takes_part_i;
      passed_slot_q   <= slot_i[SlotBits-1:0];
      passed_parity_q <= slot_parity_i;
    end
    if (passed_q) begin
      if (passed_parity_q) kept1[passed_slot_q] <= {takes_part_q, values_q};
      else kept0[passed_slot_q] <= {takes_part_q, values_q};
      low_q  <= larger(takes_part_q[0] ? values_q[7:0] : 8'h80,
                       takes_part_q[1] ? values_q[15:8] : 8'h80);
      high_q <= larger(takes_part_q[2] ? values_q[23:16] : 8'h80,
                       takes_part_q[3] ? values_q[31:24] : 8'h80);
      pairs_parity_q <= passed_parity_q;
    end
    if (read_valid_i && !read_parity_i) kept0_q <= kept0[read_slot_i[SlotBits-1:0]];
    if (read_valid_i && read_parity_i) kept1_q <= kept1[read_slot_i[SlotBits-1:0]];
  end

  always_ff @(posedge clk_i) begin
    passed_q      <= slot_valid_i;
    pairs_valid_q <= passed_q;
    slot_valid_q  <= pairs_valid_q;
    if (pairs_valid_q) begin
      slot_greatest_q <= larger(low_q, high_q);
      slot_parity_q   <= pairs_parity_q;
    end
    if (slot_valid_q && !slot_parity_q) greatest0_q <= larger(greatest0_q, slot_greatest_q);
    if (slot_valid_q && slot_parity_q) greatest1_q <= larger(greatest1_q, slot_greatest_q);
    if (start_i && !start_parity_i) greatest0_q <= 8'h80;
    if (start_i && start_parity_i) greatest1_q <= 8'h80;
  end
endmodule
