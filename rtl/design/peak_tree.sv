// The largest magnitude of a row: the maximum of bits 30:0 of its binary32, word by word.
//
// A word's maximum takes log2(Lanes) compare stages; one more keeps the maximum so far. last_i
// marks a row's last word; the next word begins another row. Latency: log2(Lanes) + 1 cycles from a
// row's last word to valid_o, which lasts one cycle. Throughput: one word a cycle; no back-
// pressure. Nothing overflows. Reset clears what is under way.
module peak_tree #(
    parameter int Lanes = 32  // a power of two, from 4 on
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                valid_i,
    input  logic                last_i,
    input  logic [Lanes*32-1:0] data_i,
    output logic                valid_o,
    output logic [        30:0] peak_o
);
  localparam int Levels = $clog2(Lanes);

  initial begin
    if (Lanes < 4 || (1 << Levels) != Lanes) $fatal(1, "peak_tree: Lanes: want 4, 8, 16, ...");
  end

  logic [Levels-1:0] valid_q, last_q;
  logic [31:0] word_peak, so_far_q;  // bit 31 is 0
  logic [30:0] peak_q;
  logic done_q;

  assign valid_o = done_q;
  assign peak_o  = peak_q;

  function automatic logic [31:0] larger(input logic [31:0] a, input logic [31:0] b);
    larger = a > b ? a : b;
  endfunction

  // Level l holds Lanes >> (l + 1) maxima.
  for (genvar l = 0; l < Levels; l++) begin : gen_level
    localparam int Count = Lanes >> (l + 1);
    logic [Count*32-1:0] maxima_q;
    if (l == 0) begin : gen_first
      always_ff @(posedge clk_i) begin
        if (valid_i) begin
          for (int k = 0; k < Count; k++) begin
            maxima_q[k*32+:32] <= larger({1'b0, data_i[k*64+:31]}, {1'b0, data_i[k*64+32+:31]});
          end
        end
      end
    end else begin : gen_other
      always_ff @(posedge clk_i) begin
        if (valid_q[l-1]) begin
          for (int k = 0; k < Count; k++) begin
            maxima_q[k*32+:32] <= larger(gen_level[l-1].maxima_q[k*64+:32],
                                         gen_level[l-1].maxima_q[k*64+32+:32]);
          end
        end
      end
    end
  end

  assign word_peak = gen_level[Levels-1].maxima_q[31:0];

  always_ff @(posedge clk_i) begin
    if (valid_q[Levels-1]) so_far_q <= last_q[Levels-1] ? '0 : larger(word_peak, so_far_q);
    if (!rst_ni) so_far_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (valid_q[Levels-1]) peak_q <= 31'(larger(word_peak, so_far_q));
  end

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[Levels-2:0], valid_i};
    last_q  <= {last_q[Levels-2:0], last_i};
    done_q  <= valid_q[Levels-1] && last_q[Levels-1];
    if (!rst_ni) begin
      valid_q <= '0;
      done_q  <= 1'b0;
    end
  end
endmodule
