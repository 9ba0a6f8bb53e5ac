// The row table: `{position from 0, token from 0}` of each row of a run.
//
// Written and read back by the CSRs in the host's clock, read by the engine in its own: a block RAM
// of two clocks. The CSRs write it before a run alone. Engine side: a read is granted by ready in
// the cycle it is asked for, the dispatcher first; data come 2 cycles after the grant with the valid
// of the reader that asked. Host side: data 1 cycle after the address. Contents outlive a reset.
module row_table #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic        host_clk_i,
    input  logic        host_write_valid_i,
    input  logic [13:0] host_address_i,
    input  logic [63:0] host_data_i,
    output logic [63:0] host_data_o,
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        dispatch_valid_i,
    output logic        dispatch_ready_o,
    input  logic [15:0] dispatch_address_i,
    output logic        dispatch_data_valid_o,
    input  logic        fetch_valid_i,
    output logic        fetch_ready_o,
    input  logic [15:0] fetch_address_i,
    output logic        fetch_data_valid_o,
    output logic [63:0] data_o
);
  localparam int Words = Config.table_rows;
  localparam int IndexBits = $clog2(Words);

  logic [63:0] words[0:Words-1];
  logic [63:0] read_q;
  logic [IndexBits-1:0] address;
  logic dispatch_q, fetch_q;

  always_ff @(posedge host_clk_i) begin
    if (host_write_valid_i) words[host_address_i[IndexBits-1:0]] <= host_data_i;
    host_data_o <= words[host_address_i[IndexBits-1:0]];
  end

  assign dispatch_ready_o = 1'b1;
  assign fetch_ready_o = !dispatch_valid_i;
  assign address = dispatch_valid_i ? dispatch_address_i[IndexBits-1:0] : fetch_address_i[IndexBits-1:0];

  always_ff @(posedge clk_i) begin
    if (dispatch_valid_i || fetch_valid_i) read_q <= words[address];
    if (dispatch_q || fetch_q) data_o <= read_q;
    if (!rst_ni) begin
      dispatch_q <= 1'b0;
      fetch_q <= 1'b0;
      dispatch_data_valid_o <= 1'b0;
      fetch_data_valid_o <= 1'b0;
    end else begin
      dispatch_q <= dispatch_valid_i;
      fetch_q <= fetch_valid_i && fetch_ready_o;
      dispatch_data_valid_o <= dispatch_q;
      fetch_data_valid_o <= fetch_q;
    end
  end
endmodule
