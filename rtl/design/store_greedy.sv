// The first greatest of the logits that pass, for each row.
//
// Takes words of 32 binary32 of one row after another (`row_i`, `lanes_i` of them count, `index_i` is
// that of lane 0), keeps the greatest of each row over all words since the pass began (`clear_i`) and
// writes it to the greedy table after each row's last word: `{binary32 [63:32], index [31:0]}` at the
// row's index in the run. -0 and +0 are equal and come out as +0; of equals the first stays.
// Values are finite (arithmetic.md). Seven stages, each of
// one comparison of 32 bits at most; one word a cycle.
// `idle_o`: nothing is on its way. Reset forgets all rows.
module store_greedy #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          clear_i,
    input  logic          valid_i,
    input  logic [1023:0] data_i,
    input  logic [   5:0] lanes_i,
    input  logic [   4:0] row_i,
    input  logic [  31:0] index_i,
    input  logic          last_i,        // of the row
    input  logic [  15:0] table_row_i,   // the row's index in the run
    output logic          table_valid_o,
    output logic [  15:0] table_address_o,
    output logic [  63:0] table_data_o,
    output logic          idle_o
);
  localparam int Rows = Config.rows;

  // Keys order as unsigned numbers; 0 is below every finite value. Level l holds 32 >> l of them;
  // all levels in one vector, level l from node 64 - (64 >> l) on.
  logic [63*32-1:0] key;
  logic [63*5-1:0] lane;
  logic [5:0] valid;
  logic [5:0] last_q;
  logic [6*5-1:0] row;
  logic [6*32-1:0] index;
  logic [6*16-1:0] table_row;

  // The words' keys, registered: nothing is worked out while no word comes.
  for (genvar i = 0; i < 32; i++) begin : g_key
    logic [31:0] key_q;
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        if (6'(i) >= lanes_i) key_q <= 32'd0;
        else if (data_i[32*i+31] && data_i[32*i+:31] != 31'd0) key_q <= ~data_i[32*i+:32];
        else key_q <= {1'b1, data_i[32*i+:31]};
      end
    end
    assign key[32*i+:32] = key_q;
    assign lane[5*i+:5] = 5'(i);
  end

  logic first_valid_q, first_last_q;
  logic [4:0] first_row_q;
  logic [31:0] first_index_q;
  logic [15:0] first_table_row_q;

  always_ff @(posedge clk_i) begin
    first_valid_q <= valid_i && rst_ni;
    if (valid_i) begin
      first_last_q <= last_i;
      first_row_q <= row_i;
      first_index_q <= index_i;
      first_table_row_q <= table_row_i;
    end
  end
  assign valid[0] = first_valid_q;
  assign last_q[0] = first_last_q;
  assign row[4:0] = first_row_q;
  assign index[31:0] = first_index_q;
  assign table_row[15:0] = first_table_row_q;

  for (genvar l = 1; l <= 5; l++) begin : g_level
    localparam int From = 64 - (128 >> l);  // first node of the level before
    localparam int To = 64 - (64 >> l);
    logic valid_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) valid_q <= 1'b0;
      else valid_q <= valid[l-1];
    end
    assign valid[l] = valid_q;
    for (genvar n = 0; n < (32 >> l); n++) begin : g_node
      logic [31:0] key_q;
      logic [4:0] lane_q;
      logic second;
      assign second = key[32*(From+2*n+1)+:32] > key[32*(From+2*n)+:32];
      always_ff @(posedge clk_i) begin
        if (valid[l-1]) begin
          key_q <= second ? key[32*(From+2*n+1)+:32] : key[32*(From+2*n)+:32];
          lane_q <= second ? lane[5*(From+2*n+1)+:5] : lane[5*(From+2*n)+:5];
        end
      end
      assign key[32*(To+n)+:32] = key_q;
      assign lane[5*(To+n)+:5] = lane_q;
    end
    logic last_level_q;
    logic [4:0] row_q;
    logic [31:0] index_q;
    logic [15:0] table_row_q;
    always_ff @(posedge clk_i) begin
      if (valid[l-1]) begin
        last_level_q <= last_q[l-1];
        row_q <= row[5*(l-1)+:5];
        index_q <= index[32*(l-1)+:32];
        table_row_q <= table_row[16*(l-1)+:16];
      end
    end
    assign last_q[l] = last_level_q;
    assign row[5*l+:5] = row_q;
    assign index[32*l+:32] = index_q;
    assign table_row[16*l+:16] = table_row_q;
  end

  // The rows' greatest so far. A row whose key is 0 has none.
  logic [31:0] best_key[0:31];
  logic [31:0] best_index[0:31];
  logic [Rows-1:0] known_q;
  logic [31:0] new_key, old_key, new_index, old_index;
  logic [4:0] at;
  logic take, known, written_q;

  assign new_key = key[32*62+:32];
  assign new_index = index[32*5+:32] + 32'(lane[5*62+:5]);
  assign at = row[5*5+:5];
  assign old_key = best_key[at];
  assign old_index = best_index[at];
  assign known = |(known_q & (Rows'(1) << at));
  assign take = !known || new_key > old_key;

  always_ff @(posedge clk_i) begin
    if (valid[5] && take) begin
      best_key[at] <= new_key;
      best_index[at] <= new_index;
    end
    if (valid[5] && last_q[5]) begin
      table_address_o <= table_row[16*5+:16];
      table_data_o <= {
        take ? (new_key[31] ? {1'b0, new_key[30:0]} : ~new_key)
             : (old_key[31] ? {1'b0, old_key[30:0]} : ~old_key),
        take ? new_index : old_index
      };
    end
    if (!rst_ni) begin
      known_q <= '0;
      written_q <= 1'b0;
    end else begin
      if (clear_i) known_q <= '0;
      else if (valid[5]) known_q <= known_q | (Rows'(1) << at);
      written_q <= valid[5] && last_q[5];
    end
  end

  assign table_valid_o = written_q;
  assign idle_o = valid == 6'd0 && !written_q;
endmodule
