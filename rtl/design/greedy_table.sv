// The greedy choice of each row of a run: written by the engine, read by the CSRs, a block RAM of two
// clocks. The CSRs read it after the run. Data 1 cycle after the address; contents outlive a reset.
module greedy_table #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic        clk_i,
    input  logic        write_valid_i,
    input  logic [15:0] write_address_i,
    input  logic [63:0] write_data_i,
    input  logic        host_clk_i,
    input  logic [13:0] host_address_i,
    output logic [63:0] host_data_o
);
  localparam int Words = Config.table_rows;
  localparam int IndexBits = $clog2(Words);

  logic [63:0] words[0:Words-1];

  always_ff @(posedge clk_i) begin
    if (write_valid_i) words[write_address_i[IndexBits-1:0]] <= write_data_i;
  end
  always_ff @(posedge host_clk_i) host_data_o <= words[host_address_i[IndexBits-1:0]];
endmodule
