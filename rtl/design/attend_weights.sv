// The exponentials of a pair, four positions of one head a cycle, slot by slot and head by head: the
// scores in the group buffer give way to the weights w, and L of each head is added up.
//
// Latency: 5 cycles and that of a lane from a slot's issue to its weights. Throughput: pairs are
// issued one after the other with 2 cycles between; the pipe does not run empty. No back-pressure.
// A pair waits for its scores and for the outputs of the pair before it under the same parity.
// Overflow: L has 42 bits, enough for 131,072 positions; a stage adds 42 bits. Reset ends the pass.
module attend_weights (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              start_i,           // of an instruction
    input  logic              scored_i,
    input  logic              scored_parity_i,
    input  logic [       1:0] hold_i,            // of each parity: outputs still read what it wrote
    input  logic              keys_start_i,      // a pair begins: no slot has weights
    input  logic              keys_parity_i,
    // verilator lint_off UNUSEDSIGNAL
    input  attend_pkg::pair_t pair0_i,
    input  attend_pkg::pair_t pair1_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [      15:0] greatest_exponents_i,  // E of each parity
    // The group buffer: a word of each parity one cycle after the read.
    output logic              read_valid_o,
    output logic              read_parity_o,
    output logic [      15:0] read_address_o,
    input  logic [     511:0] word0_i,
    input  logic [     511:0] word1_i,
    // Value exponents likewise.
    output logic              exponents_valid_o,
    output logic [      15:0] exponents_slot_o,
    input  logic [      71:0] exponents_i,
    // m of a head of a pair, at once.
    output logic              greatest_parity_o,
    output logic [       3:0] greatest_head_o,
    input  logic [      31:0] greatest_i,
    // Weights.
    output logic              write_valid_o,
    output logic              write_parity_o,
    output logic [       1:0] write_head_o,
    output logic [      15:0] write_address_o,
    output logic [     127:0] write_data_o,
    output logic [      31:0] slots_o,           // of each parity, slots whose weights stand
    output logic              done_o,            // all of a pair, and its L
    output logic              done_parity_o,
    output logic [       3:0] done_head_o,       // its last head
    // L of a head, {parity, head}, at once.
    input  logic [       4:0] sum_index_i,
    output logic [      41:0] sum_o
);
  typedef struct packed {
    logic        pair_last;
    logic        slot_last;
    logic        parity;
    logic [3:0]  head;
    logic [15:0] address;
  } place_t;

  // Issue.
  logic [1:0] scored_q;
  logic turn_q, active_q;
  logic [15:0] slot_q, address_q;
  logic [3:0] head_q;
  logic [9:0] base_q;  // 23 - E
  logic [15:0] pair_last_slot;
  logic [3:0] pair_last_head;
  logic begin_pair, last_head, last_slot, new_word;
  assign pair_last_slot = turn_q ? pair1_i.last_slot : pair0_i.last_slot;
  assign pair_last_head = turn_q ? pair1_i.last_head : pair0_i.last_head;
  assign begin_pair = !active_q && scored_q[turn_q] && !hold_i[turn_q];
  assign last_head  = head_q == pair_last_head;
  assign last_slot  = slot_q == pair_last_slot;
  assign new_word   = head_q[1:0] == 2'd0;

  assign read_valid_o      = active_q && new_word;
  assign read_parity_o     = turn_q;
  assign read_address_o    = address_q;
  assign exponents_valid_o = active_q && head_q == 4'd0;
  assign exponents_slot_o  = slot_q;

  logic valid1_q, valid2_q, new_word1_q;
  place_t place1_q, place2_q;
  logic [7:0] greatest_exponent;
  assign greatest_exponent = turn_q ? greatest_exponents_i[15:8] : greatest_exponents_i[7:0];

  always_ff @(posedge clk_i) begin
    if (scored_i) scored_q[scored_parity_i] <= 1'b1;
    if (begin_pair) begin
      scored_q[turn_q] <= 1'b0;
      active_q  <= 1'b1;
      slot_q    <= 16'd0;
      address_q <= 16'd0;
      head_q    <= 4'd0;
      base_q    <= 10'd23 - {{2{greatest_exponent[7]}}, greatest_exponent};
    end
    if (active_q) begin
      head_q <= last_head ? 4'd0 : head_q + 4'd1;
      if (last_head || head_q[1:0] == 2'd3) address_q <= address_q + 16'd1;
      if (last_head) slot_q <= slot_q + 16'd1;
      if (last_head && last_slot) begin
        active_q <= 1'b0;
        turn_q   <= !turn_q;
      end
      place1_q    <= {last_head && last_slot, last_head, turn_q, head_q, address_q};
      new_word1_q <= new_word;
    end
    valid1_q <= active_q;
    if (start_i) begin
      turn_q   <= 1'b0;
      scored_q <= 2'd0;
    end
    if (!rst_ni) begin
      active_q <= 1'b0;
      scored_q <= 2'd0;
      valid1_q <= 1'b0;
    end
  end

  // One cycle later: the quad of the head out of the word, m, and the lanes' shifts.
  logic [127:0] quad_q;
  logic [383:0] rest_q;  // heads 1 to 3 of the word
  logic [31:0] greatest_q;
  logic [39:0] shifts_q;
  logic [3:0] takes_part_q, zeros_q;
  assign greatest_parity_o = place1_q.parity;
  assign greatest_head_o   = place1_q.head;

  always_ff @(posedge clk_i) begin
    valid2_q <= valid1_q;
    if (valid1_q) begin : choose
      logic [35:0] exponents;
      exponents = place1_q.parity ? exponents_i[71:36] : exponents_i[35:0];
      if (new_word1_q) begin
        quad_q <= place1_q.parity ? word1_i[127:0] : word0_i[127:0];
        rest_q <= place1_q.parity ? word1_i[511:128] : word0_i[511:128];
      end else begin
        unique case (place1_q.head[1:0])
          2'd1: quad_q <= rest_q[127:0];
          2'd2: quad_q <= rest_q[255:128];
          default: quad_q <= rest_q[383:256];
        endcase
      end
      greatest_q   <= greatest_i;
      place2_q     <= place1_q;
      takes_part_q <= exponents[35:32];
      for (int b = 0; b < 4; b++) begin
        shifts_q[10*b+:10] <= base_q + {{2{exponents[8*b+7]}}, exponents[8*b+:8]};
        zeros_q[b]         <= exponents[8*b+:8] == 8'h80;
      end
    end
    if (!rst_ni) valid2_q <= 1'b0;
  end

  // Four lanes; the first carries the place.
  logic weight_valid;
  place_t place;
  logic [95:0] parts;
  for (genvar b = 0; b < 4; b++) begin : g_lane
    localparam int TagBits = b == 0 ? 23 : 1;
    logic [TagBits-1:0] tag, tag_out;
    logic valid;
    logic [23:0] weight;
    if (b == 0) begin : g_place
      assign tag          = place2_q;
      assign place        = tag_out;
      assign weight_valid = valid;
    end else begin : g_bare
      logic unused;
      assign tag    = 1'b0;
      assign unused = ^{tag_out, valid};
    end
    attend_weight_lane #(
        .TagBits(TagBits)
    ) lane (
        .clk_i,
        .rst_ni,
        .valid_i     (valid2_q),
        .score_i     (quad_q[32*b+:32]),
        .greatest_i  (greatest_q),
        .shift_i     (shifts_q[10*b+:10]),
        .takes_part_i(takes_part_q[b]),
        .zero_i      (zeros_q[b]),
        .tag_i       (tag),
        .valid_o     (valid),
        .weight_o    (weight),
        .part_o      (parts[24*b+:24]),
        .tag_o       (tag_out)
    );
    assign write_data_o[32*b+:32] = {8'd0, weight};
  end

  assign write_valid_o   = weight_valid;
  assign write_parity_o  = place.parity;
  assign write_head_o    = place.head[1:0];
  assign write_address_o = place.address;

  // L: of two banks each, of the slot, of the head so far.
  logic [15:0] slots0_q, slots1_q;
  logic [24:0] low_q, high_q;
  logic [25:0] four_q;
  logic twos_valid_q, fours_valid_q, twos_last_q, fours_last_q;
  logic [4:0] twos_index_q, fours_index_q;  // {parity, head}
  logic [31:0] fresh_q;                     // nothing added yet
  logic [41:0] sums[0:31];
  assign slots_o = {slots1_q, slots0_q};
  assign sum_o   = sums[sum_index_i];

  always_ff @(posedge clk_i) begin
    if (weight_valid || twos_valid_q || fours_valid_q || done_o) begin
      twos_valid_q  <= weight_valid;
      fours_valid_q <= twos_valid_q;
      done_o        <= fours_valid_q && fours_last_q;
    end
    if (weight_valid) begin
      low_q        <= {1'b0, parts[23:0]} + {1'b0, parts[47:24]};
      high_q       <= {1'b0, parts[71:48]} + {1'b0, parts[95:72]};
      twos_last_q  <= place.pair_last;
      twos_index_q <= {place.parity, place.head};
      if (place.slot_last && !place.parity) slots0_q <= slots0_q + 16'd1;
      if (place.slot_last && place.parity) slots1_q <= slots1_q + 16'd1;
    end
    if (twos_valid_q) begin
      four_q        <= {1'b0, low_q} + {1'b0, high_q};
      fours_last_q  <= twos_last_q;
      fours_index_q <= twos_index_q;
    end
    if (fours_valid_q) begin
      sums[fours_index_q] <= (fresh_q[fours_index_q] ? 42'd0 : sums[fours_index_q]) +
                             {16'd0, four_q};
      fresh_q[fours_index_q] <= 1'b0;
      done_parity_o <= fours_index_q[4];
      done_head_o   <= fours_index_q[3:0];
    end
    if (keys_start_i && !keys_parity_i) begin
      slots0_q      <= 16'd0;
      fresh_q[15:0] <= 16'hFFFF;
    end
    if (keys_start_i && keys_parity_i) begin
      slots1_q       <= 16'd0;
      fresh_q[31:16] <= 16'hFFFF;
    end
    if (!rst_ni) begin
      twos_valid_q  <= 1'b0;
      fours_valid_q <= 1'b0;
      done_o        <= 1'b0;
    end
  end
endmodule
