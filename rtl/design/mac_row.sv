// One row's 64 activations times the 64 weights of each bank, a step a cycle: the sum of each group of
// 32 columns times the group's multiplier, added up over a row's words (arithmetic.md section 4).
//
// A step's cycles (valid_i has a bit for each), all for each bank: 0 sixteen sums of four products, 1
// four sums of those, 2 two groups, 3 groups times multipliers (multipliers_i of the step is read
// here), 4 their sum, 5 the sum over the words (first_i, last_i, phase_i, write_slot_i of the step are
// read here). With last_i it goes to slot write_slot_i, readable from cycle 6 on. Throughput: one step
// a cycle; no back-pressure: who issues steps sees to it that the slot is free. HOLD sums are open at a
// time, one for each phase. Reading: sums_o is slot read_slot_i of the cycle before where read_i was
// set, else 0, so that rows are simply ORed.
//
// Cycle 0 is two DSP blocks: four 18x19 multipliers and their chain of adders. The longest path is the
// 46-bit sum of cycle 5, one carry chain.
//
// Overflow: weights of 8 bits, activations of 16: a group's sum has 28 bits, so its half (27) goes
// through the multiplier and its lowest bit beside it; a row of 32,768 columns has 46 bits. What is
// added lies at multiples of 32 or 64 bits, sign-extended: copies of a sign cost no registers, and the
// simulation is spared the extensions. Column 4j + p of activations_i lies at [512p + 32j +: 32], of
// bank b's weights_i at [2048b + 512p + 32j +: 32].
// Reset clears what is under way; slots keep what they hold.
module mac_row #(
    parameter int Hold  = 1,
    parameter int Slots = 16
) (
    input  logic                                      clk_i,
    input  logic                                      rst_ni,
    input  logic [                               5:0] valid_i,  // bit c: a step is in its cycle c
    input  logic [                            8191:0] weights_i,
    input  logic [                            2047:0] activations_i,
    input  logic [                              63:0] multipliers_i,  // bank b: 16b columns 0-31, then 32-63
    input  logic                                      first_i,
    input  logic                                      last_i,
    input  logic [(Hold > 1 ? $clog2(Hold) : 1)-1:0] phase_i,
    input  logic [                 $clog2(Slots)-1:0] write_slot_i,
    input  logic                                      read_i,
    input  logic [                 $clog2(Slots)-1:0] read_slot_i,
    output logic [                             183:0] sums_o  // bank b at [46b +: 46]
);
  localparam int Banks = engine_pkg::Banks;

  // A weight's lane times an activation's. Both give the same bits: for synthesis the multiplier's true
  // widths, for simulation plain words, which the compiler turns into vector code.
  function automatic logic [31:0] product(input logic [31:0] weight, input logic [31:0] activation);
`ifdef SYNTHESIS
    product = $signed(weight[7:0]) * $signed(activation[15:0]);
`else
    product = weight * activation;
`endif
  endfunction

  logic [Banks*512-1:0] dots_q;      // 16 of 26 bits a bank, at multiples of 32
  logic [Banks*128-1:0] halves_q;    // 4 of 27 bits
  logic [Banks*64-1:0] groups_q;     // 2 of 28 bits
  logic [Banks*128-1:0] products_q;  // 2 of 35 bits, at multiples of 64
  logic [Banks*16-1:0] odds_q;       // 2 of 8 bits
  logic [Banks*64-1:0] words_q;      // 37 bits
  logic [Banks*64-1:0] totals_q[0:Hold-1];  // 46 bits
  logic [183:0] slots[0:Slots-1];
  logic [183:0] sums_q;
  logic sums_valid_q;

  assign sums_o = sums_q;

  // One block a stage: the simulator then needs no second copy of any register.
  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      for (int b = 0; b < Banks; b++) begin
        for (int j = 0; j < 16; j++) begin
          dots_q[512*b+32*j+:32] <=
              product(weights_i[2048*b+32*j+:32], activations_i[32*j+:32]) +
              product(weights_i[2048*b+512+32*j+:32], activations_i[512+32*j+:32]) +
              product(weights_i[2048*b+1024+32*j+:32], activations_i[1024+32*j+:32]) +
              product(weights_i[2048*b+1536+32*j+:32], activations_i[1536+32*j+:32]);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[1]) begin
      for (int h = 0; h < 4 * Banks; h++) begin
        halves_q[32*h+:32] <= dots_q[128*h+:32] + dots_q[128*h+32+:32] +
                              dots_q[128*h+64+:32] + dots_q[128*h+96+:32];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[2]) begin
      for (int g = 0; g < 2 * Banks; g++) begin
        groups_q[32*g+:32] <= halves_q[64*g+:32] + halves_q[64*g+32+:32];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[3]) begin
      for (int g = 0; g < 2 * Banks; g++) begin
        products_q[64*g+:64] <= $signed(groups_q[32*g+1+:27]) *
                                $signed({1'b0, multipliers_i[8*g+:8]});
        odds_q[8*g+:8]       <= groups_q[32*g] ? multipliers_i[8*g+:8] : 8'd0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[4]) begin
      for (int b = 0; b < Banks; b++) begin
        words_q[64*b+:64] <= {products_q[128*b+:63], 1'b0} + {products_q[128*b+64+:63], 1'b0} +
                             {56'd0, odds_q[16*b+:8]} + {56'd0, odds_q[16*b+8+:8]};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[5]) begin : accumulate
      logic [Banks*64-1:0] total;
      for (int b = 0; b < Banks; b++) begin
        total[64*b+:64] = {
          18'd0, words_q[64*b+:46] + (first_i ? 46'd0 : totals_q[phase_i][64*b+:46])
        };
      end
      totals_q[phase_i] <= total;
      if (last_i) begin
        slots[write_slot_i] <= {total[237:192], total[173:128], total[109:64], total[45:0]};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (read_i || sums_valid_q) begin
      sums_valid_q <= read_i;
      sums_q <= read_i ? slots[read_slot_i] : '0;
    end
    if (!rst_ni) begin
      sums_valid_q <= 1'b0;
      sums_q <= '0;
    end
  end
endmodule
