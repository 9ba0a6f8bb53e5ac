// The sum of the squares of a row's int16, word by word: S of arithmetic.md section 5.
//
// last_i marks a row's last word; the next word begins another row. The tag of the last word comes
// out with the sum. Squares, two 4:1 levels and one of Lanes / 16, then an accumulator in two parts
// of 23 and 25 bits. Latency: 6 cycles from a row's last word to valid_o, which lasts one cycle.
// Throughput: one word a cycle; no back-pressure. Overflow: none below 2^18 elements (48 bits).
// Reset clears what is under way and the sum so far.
module sum_of_squares #(
    parameter int Lanes   = 32,  // 4, 8, 16 or 32
    parameter int TagBits = 1
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                valid_i,
    input  logic                last_i,
    input  logic [Lanes*16-1:0] q_i,      // signed, from -32767 on
    input  logic [ TagBits-1:0] tag_i,
    output logic                valid_o,
    output logic [        47:0] sum_o,
    output logic [ TagBits-1:0] tag_o
);
  localparam int Fours = Lanes / 4;
  localparam int Sixteens = (Lanes + 15) / 16;

  logic [4:0] valid_q, last_q;
  logic [TagBits-1:0] tag1_q, tag2_q, tag3_q, tag4_q, tag5_q;

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[3:0], valid_i};
    last_q  <= {last_q[3:0], last_i};
    valid_o <= valid_q[4] && last_q[4];
    if (!rst_ni) begin
      valid_q <= '0;
      valid_o <= 1'b0;
    end
  end

  // Stage 1: squares, each in 32 bits.
  function automatic logic [31:0] square(input logic [15:0] q);
    logic [31:0] wide;
    wide   = {{16{q[15]}}, q};
    square = wide * wide;
  endfunction

  logic [Lanes*32-1:0] squares_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      for (int k = 0; k < Lanes; k++) squares_q[k*32+:32] <= square(q_i[k*16+:16]);
      tag1_q <= tag_i;
    end
  end

  // Stage 2: sums of four, below 2^32.
  logic [Fours*32-1:0] fours_q;
  always_ff @(posedge clk_i) begin
    if (valid_q[0]) begin
      for (int k = 0; k < Fours; k++) begin
        fours_q[k*32+:32] <= squares_q[k*128+:32] + squares_q[k*128+32+:32] +
                             squares_q[k*128+64+:32] + squares_q[k*128+96+:32];
      end
      tag2_q <= tag1_q;
    end
  end

  // Stage 3: sums of sixteen, below 2^34; stage 4: of a word.
  logic [34:0] word_q;
  for (genvar k = 0; k < Sixteens; k++) begin : gen_sixteen
    logic [33:0] sum_q;
    if (Fours >= 4) begin : gen_four
      always_ff @(posedge clk_i) begin
        if (valid_q[1]) begin
          sum_q <= {2'd0, fours_q[k*128+:32]} + {2'd0, fours_q[k*128+32+:32]} +
                   {2'd0, fours_q[k*128+64+:32]} + {2'd0, fours_q[k*128+96+:32]};
        end
      end
    end else if (Fours == 2) begin : gen_two
      always_ff @(posedge clk_i) begin
        if (valid_q[1]) sum_q <= {2'd0, fours_q[31:0]} + {2'd0, fours_q[63:32]};
      end
    end else begin : gen_one
      always_ff @(posedge clk_i) begin
        if (valid_q[1]) sum_q <= {2'd0, fours_q};
      end
    end
  end

  if (Sixteens == 2) begin : gen_word_two
    always_ff @(posedge clk_i) begin
      if (valid_q[2]) word_q <= {1'b0, gen_sixteen[0].sum_q} + {1'b0, gen_sixteen[1].sum_q};
    end
  end else begin : gen_word_one
    always_ff @(posedge clk_i) begin
      if (valid_q[2]) word_q <= {1'b0, gen_sixteen[0].sum_q};
    end
  end

  // Stage 5: the low part of the row's sum; stage 6: the high part.
  logic [22:0] low_q;
  logic [24:0] high_q;
  logic [11:0] upper_q;  // of the word whose low part is in low_q
  logic carry_q, row_ends;
  assign row_ends = valid_q[4] && last_q[4];

  always_ff @(posedge clk_i) begin
    if (valid_q[3]) begin
      {carry_q, low_q} <= {1'b0, word_q[22:0]} + {1'b0, row_ends ? 23'd0 : low_q};
      upper_q          <= word_q[34:23];
    end else if (row_ends) begin
      low_q <= '0;
    end
    if (!rst_ni) low_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (valid_q[4]) high_q <= row_ends ? '0 : high_q + {13'd0, upper_q} + {24'd0, carry_q};
    if (!rst_ni) high_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (valid_q[1]) tag3_q <= tag2_q;
  end
  always_ff @(posedge clk_i) begin
    if (valid_q[2]) tag4_q <= tag3_q;
  end
  always_ff @(posedge clk_i) begin
    if (valid_q[3]) tag5_q <= tag4_q;
  end

  always_ff @(posedge clk_i) begin
    if (row_ends) begin
      sum_o <= {high_q + {13'd0, upper_q} + {24'd0, carry_q}, low_q};
      tag_o <= tag5_q;
    end
  end
endmodule
