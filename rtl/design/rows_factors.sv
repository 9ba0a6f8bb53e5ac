// The factor of each row's norm from its quantized words: sum of squares, then norm_root.
//
// start_i (with the columns; epsilon_i then stays) forgets the factors; words come row by row.
// rooted_o says of which rows the factor is there. Latency: that of sum_of_squares and norm_root
// and 1 cycle from a row's last word to its factor. Throughput: one word a cycle, one row every two
// cycles; no back-pressure. Overflow: none below 2^18 columns. Reset clears what is under way.
module rows_factors #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         start_i,
    input  logic [                 19:0] columns_i,
    input  logic [                 31:0] epsilon_i,
    input  logic [    Config.rows*8-1:0] shift_i,     // 14 - X of each row, signed
    input  logic [      Config.rows-1:0] zero_i,      // ZE
    input  logic                         valid_i,
    input  logic                         last_i,      // the row's last word
    input  logic [                  4:0] row_i,
    input  logic [engine_pkg::Lanes*16-1:0] q_i,
    output logic [      Config.rows-1:0] rooted_o,
    output logic [   Config.rows*32-1:0] roots_o
);
  localparam int Rows = Config.rows;

  logic sum_valid, sum_zero, root_valid;
  logic [47:0] sum;
  logic [4:0] sum_row, root_row;
  logic [7:0] sum_shift;
  logic [31:0] root;

  sum_of_squares #(
      .Lanes  (engine_pkg::Lanes),
      .TagBits(5)
  ) u_squares (
      .clk_i,
      .rst_ni,
      .valid_i,
      .last_i,
      .q_i,
      .tag_i  (row_i),
      .valid_o(sum_valid),
      .sum_o  (sum),
      .tag_o  (sum_row)
  );

  always_comb begin
    sum_shift = '0;
    sum_zero  = 1'b0;
    for (int k = 0; k < Rows; k++) begin
      if (sum_row == 5'(k)) begin
        sum_shift = shift_i[k*8+:8];
        sum_zero  = zero_i[k];
      end
    end
  end

  norm_root #(
      .TagBits(5),
      .Depth  (32)
  ) u_root (
      .clk_i,
      .rst_ni,
      .columns_valid_i(start_i),
      .columns_i,
      .epsilon_i,
      .valid_i        (sum_valid),
      .sum_i          (sum),
      .e_i            (-sum_shift),
      .zero_i         (sum_zero),
      .tag_i          (sum_row),
      .valid_o        (root_valid),
      .root_o         (root),
      .tag_o          (root_row)
  );

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      rooted_o <= '0;
    end else if (root_valid) begin
      for (int k = 0; k < Rows; k++) begin
        if (root_row == 5'(k)) begin
          rooted_o[k]       <= 1'b1;
          roots_o[k*32+:32] <= root;
        end
      end
    end
  end
endmodule
