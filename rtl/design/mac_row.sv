// One bank's 64 weights times one row's 64 activations, a step a cycle: the sum of each group of 32
// columns times the group's multiplier, added up over a row's words (arithmetic.md section 4).
//
// A step's cycles (valid_i has a bit for each): 0 sixteen sums of four products, 1 four sums of those, 2 two
// groups, 3 groups times multipliers (multipliers_i of the step is read here), 4 their sum, 5 the sum
// over the words (first_i, last_i, phase_i, write_slot_i of the step are read here). With last_i it
// goes to slot write_slot_i, readable from cycle 6 on. Throughput: one step a cycle; no back-pressure:
// who issues steps sees to it that the slot is free. HOLD sums are open at a time, one for each phase.
// Reading: sum_o is slot read_slot_i of the cycle before where read_i was set, else 0, so that the
// rows of a bank are simply ORed.
//
// Cycle 0 is two DSP blocks: four 18x19 multipliers and their chain of adders. The longest path is the
// 46-bit sum of cycle 5, one carry chain.
//
// Overflow: weights of 8 bits, activations of 16: a group's sum has 28 bits, so its half (27) goes
// through the multiplier and its lowest bit beside it; a row of 32,768 columns has 46 bits. The lanes
// of weights_i and activations_i are sign-extended to 32 bits and sums are declared with 32, since
// registers of copies of a sign cost nothing and the simulation is spared the extensions. Lane
// [512b + 32j +: 32] is column 4j + b.
// Reset clears what is under way; slots keep what they hold.
module mac_row #(
    parameter int Hold  = 1,
    parameter int Slots = 16
) (
    input  logic                                    clk_i,
    input  logic                                    rst_ni,
    input  logic [                             5:0] valid_i,  // bit c: a step is in its cycle c
    input  logic [                          2047:0] weights_i,
    input  logic [                          2047:0] activations_i,
    input  logic [                            15:0] multipliers_i,  // columns 0-31, columns 32-63
    input  logic                                    first_i,
    input  logic                                    last_i,
    input  logic [(Hold > 1 ? $clog2(Hold) : 1)-1:0] phase_i,
    input  logic [               $clog2(Slots)-1:0] write_slot_i,
    input  logic                                    read_i,
    input  logic [               $clog2(Slots)-1:0] read_slot_i,
    output logic [                            45:0] sum_o
);
  // A weight's lane times an activation's. Both give the same bits: for synthesis the multiplier's true
  // widths, for simulation plain words, which the compiler turns into vector code.
  function automatic logic [31:0] product(input logic [31:0] weight, input logic [31:0] activation);
`ifdef SYNTHESIS
    product = $signed(weight[7:0]) * $signed(activation[15:0]);
`else
    product = weight * activation;
`endif
  endfunction

  logic [511:0] dots_q;                             // 16 of 26 bits
  logic [31:0] half0_q, half1_q, half2_q, half3_q;  // 27 bits
  logic [27:0] group0_q, group1_q;
  logic signed [34:0] product0_q, product1_q;
  logic [7:0] odd0_q, odd1_q;
  logic signed [36:0] word_q;
  logic signed [45:0] total_q[0:Hold-1];
  logic [45:0] sums[0:Slots-1];
  logic [45:0] sum_q;
  logic sum_valid_q;

  assign sum_o = sum_q;

  // One block a stage: the simulator then needs no second copy of any register.
  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      for (int j = 0; j < 16; j++) begin
        dots_q[32*j+:32] <= product(weights_i[32*j+:32], activations_i[32*j+:32]) +
                            product(weights_i[512+32*j+:32], activations_i[512+32*j+:32]) +
                            product(weights_i[1024+32*j+:32], activations_i[1024+32*j+:32]) +
                            product(weights_i[1536+32*j+:32], activations_i[1536+32*j+:32]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[1]) begin
      half0_q <= dots_q[31:0] + dots_q[63:32] + dots_q[95:64] + dots_q[127:96];
      half1_q <= dots_q[159:128] + dots_q[191:160] + dots_q[223:192] + dots_q[255:224];
      half2_q <= dots_q[287:256] + dots_q[319:288] + dots_q[351:320] + dots_q[383:352];
      half3_q <= dots_q[415:384] + dots_q[447:416] + dots_q[479:448] + dots_q[511:480];
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[2]) begin
      group0_q <= 28'(half0_q + half1_q);
      group1_q <= 28'(half2_q + half3_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[3]) begin
      product0_q <= $signed(group0_q[27:1]) * $signed({1'b0, multipliers_i[7:0]});
      product1_q <= $signed(group1_q[27:1]) * $signed({1'b0, multipliers_i[15:8]});
      odd0_q <= group0_q[0] ? multipliers_i[7:0] : 8'd0;
      odd1_q <= group1_q[0] ? multipliers_i[15:8] : 8'd0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[4]) begin
      word_q <= $signed({product0_q[34], product0_q, 1'b0}) +
                $signed({product1_q[34], product1_q, 1'b0}) + $signed({29'd0, odd0_q}) +
                $signed({29'd0, odd1_q});
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[5]) begin : accumulate
      logic signed [45:0] total;
      total = $signed({{9{word_q[36]}}, word_q}) + (first_i ? 46'sd0 : total_q[phase_i]);
      total_q[phase_i] <= total;
      if (last_i) sums[write_slot_i] <= total;
    end
  end

  always_ff @(posedge clk_i) begin
    if (read_i || sum_valid_q) begin
      sum_valid_q <= read_i;
      sum_q <= read_i ? sums[read_slot_i] : '0;
    end
    if (!rst_ni) begin
      sum_valid_q <= 1'b0;
      sum_q <= '0;
    end
  end
endmodule
