// The largest magnitude of a row: the maximum of bits 30:0 of its binary32, word by word.
//
// A word's maximum takes log2(Lanes) compare stages; one more keeps the maximum so far. last_i marks
// a row's last word; the next word begins another row.
// Latency: log2(Lanes) + 1 cycles from a row's last word to valid_o, which lasts one cycle.
// Throughput: one word a cycle; no back-pressure. Nothing overflows. Reset clears what is under way.
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

  initial if (Lanes < 4 || (1 << Levels) != Lanes) $fatal(1, "peak_tree: Lanes: want 4, 8, 16, ...");

  // Level l holds Lanes >> (l + 1) maxima, from place Lanes - (Lanes >> l) on.
  logic [(Lanes-1)*31-1:0] tree_q;
  logic [Levels-1:0] valid_q, last_q;
  logic [30:0] word_peak, so_far_q, peak_q;
  logic done_q, unused_signs;

  assign word_peak    = tree_q[(Lanes-2)*31+:31];
  assign valid_o      = done_q;
  assign peak_o       = peak_q;
  assign unused_signs = ^data_i;

  for (genvar l = 0; l < Levels; l++) begin : gen_level
    localparam int Count = Lanes >> (l + 1);
    localparam int To = Lanes - (Lanes >> l);
    if (l == 0) begin : gen_first
      always_ff @(posedge clk_i) begin
        if (valid_i) begin
          for (int k = 0; k < Count; k++) begin
            tree_q[k*31+:31] <= data_i[k*64+:31] > data_i[k*64+32+:31] ? data_i[k*64+:31]
                                                                       : data_i[k*64+32+:31];
          end
        end
      end
    end else begin : gen_other
      localparam int From = Lanes - (Lanes >> (l - 1));
      always_ff @(posedge clk_i) begin
        if (valid_q[l-1]) begin
          for (int k = 0; k < Count; k++) begin
            tree_q[(To+k)*31+:31] <=
                tree_q[(From+2*k)*31+:31] > tree_q[(From+2*k+1)*31+:31]
                ? tree_q[(From+2*k)*31+:31] : tree_q[(From+2*k+1)*31+:31];
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i || valid_q != '0 || done_q) begin
      valid_q <= (valid_q << 1) | {{(Levels - 1) {1'b0}}, valid_i};
      last_q  <= (last_q << 1) | {{(Levels - 1) {1'b0}}, last_i};
      done_q  <= valid_q[Levels-1] && last_q[Levels-1];
      if (valid_q[Levels-1]) begin
        if (last_q[Levels-1]) begin
          peak_q   <= word_peak > so_far_q ? word_peak : so_far_q;
          so_far_q <= '0;
        end else if (word_peak > so_far_q) begin
          so_far_q <= word_peak;
        end
      end
    end
    if (!rst_ni) begin
      valid_q  <= '0;
      done_q   <= 1'b0;
      so_far_q <= '0;
    end
  end
endmodule
