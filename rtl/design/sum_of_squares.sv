// The sum of the squares of a row's int16, word by word: S of arithmetic.md section 5.
//
// last_i marks a row's last word; the next word begins another row. The tag of the last word comes
// out with the sum. Squares, two 4:1 levels and one of Lanes / 16, then an accumulator in two parts
// of 23 and 25 bits.
// Latency: 6 cycles from a row's last word to valid_o, which lasts one cycle. Throughput: one word a
// cycle; no back-pressure. Overflow: none below 2^18 elements (48 bits). Reset clears what is under
// way and the sum so far.
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

  logic [Lanes*30-1:0] squares_q;
  logic [Fours*32-1:0] fours_q;
  logic [Sixteens*34-1:0] sixteens_q;
  logic [34:0] word_q;
  logic [22:0] low_q;
  logic [24:0] high_q;
  logic carry_q;
  logic [11:0] upper_q;  // of the word whose low part is in low_q
  logic [4:0] valid_q, last_q;
  logic [TagBits*5-1:0] tags_q;

  function automatic logic [29:0] square(input logic [15:0] q);
    logic [31:0] wide;
    wide   = {{16{q[15]}}, q};
    square = 30'(wide * wide);
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      for (int k = 0; k < Lanes; k++) begin
        squares_q[k*30+:30] <= square(q_i[k*16+:16]);
      end
    end
    if (valid_q[0]) begin
      for (int k = 0; k < Fours; k++) begin
        fours_q[k*32+:32] <= {2'd0, squares_q[k*120+:30]} + {2'd0, squares_q[k*120+30+:30]} +
                             {2'd0, squares_q[k*120+60+:30]} + {2'd0, squares_q[k*120+90+:30]};
      end
    end
  end

  for (genvar k = 0; k < Sixteens; k++) begin : gen_sixteen
    if (Fours >= 4) begin : gen_four
      always_ff @(posedge clk_i) begin
        if (valid_q[1]) begin
          sixteens_q[k*34+:34] <= {2'd0, fours_q[k*128+:32]} + {2'd0, fours_q[k*128+32+:32]} +
                                  {2'd0, fours_q[k*128+64+:32]} + {2'd0, fours_q[k*128+96+:32]};
        end
      end
    end else if (Fours == 2) begin : gen_two
      always_ff @(posedge clk_i) begin
        if (valid_q[1]) sixteens_q <= {2'd0, fours_q[31:0]} + {2'd0, fours_q[63:32]};
      end
    end else begin : gen_one
      always_ff @(posedge clk_i) begin
        if (valid_q[1]) sixteens_q <= {2'd0, fours_q};
      end
    end
  end

  if (Sixteens == 2) begin : gen_word_two
    always_ff @(posedge clk_i) begin
      if (valid_q[2]) word_q <= {1'b0, sixteens_q[33:0]} + {1'b0, sixteens_q[67:34]};
    end
  end else begin : gen_word_one
    always_ff @(posedge clk_i) begin
      if (valid_q[2]) word_q <= {1'b0, sixteens_q};
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0 || valid_o) begin
      valid_q <= {valid_q[3:0], valid_i};
      last_q  <= {last_q[3:0], last_i};
      tags_q  <= (tags_q << TagBits) | {{(4 * TagBits) {1'b0}}, tag_i};
      valid_o <= valid_q[4] && last_q[4];
      if (valid_q[3]) begin  // the low part; last_q[4] is of the word before
        {carry_q, low_q} <= {1'b0, word_q[22:0]} + {1'b0, valid_q[4] && last_q[4] ? 23'd0 : low_q};
        upper_q          <= word_q[34:23];
      end else if (valid_q[4] && last_q[4]) begin
        low_q <= '0;
      end
      if (valid_q[4]) begin
        high_q <= last_q[4] ? '0 : high_q + {13'd0, upper_q} + {24'd0, carry_q};
        if (last_q[4]) begin
          sum_o <= {high_q + {13'd0, upper_q} + {24'd0, carry_q}, low_q};
          tag_o <= tags_q[TagBits*4+:TagBits];
        end
      end
    end
    if (!rst_ni) begin
      valid_q <= '0;
      valid_o <= 1'b0;
      low_q   <= '0;
      high_q  <= '0;
    end
  end
endmodule
