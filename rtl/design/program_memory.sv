// The program: instructions of 64 bytes, one write port, one read port that two readers share.
//
// A read is granted by ready in the cycle it is asked for; the dispatcher goes first. Data come 2
// cycles after the grant, with the valid of the reader that asked. Throughput: one read a cycle.
// The memory keeps its contents over a reset.
module program_memory #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         write_valid_i,
    input  logic [ 15:0] write_address_i,
    input  logic [2047:0] write_data_i,  // a super-beat; the address' two lowest bits say which
    input  logic         dispatch_valid_i,
    output logic         dispatch_ready_o,
    input  logic [ 15:0] dispatch_address_i,
    output logic         dispatch_data_valid_o,
    input  logic         fetch_valid_i,
    output logic         fetch_ready_o,
    input  logic [ 15:0] fetch_address_i,
    output logic         fetch_data_valid_o,
    output logic [511:0] data_o
);
  localparam int Words = Config.instructions;
  localparam int IndexBits = $clog2(Words);

  logic [511:0] words[0:Words-1];
  logic [511:0] read_q;
  logic [IndexBits-1:0] address;
  logic dispatch_q, fetch_q;

  assign dispatch_ready_o = 1'b1;
  assign fetch_ready_o = !dispatch_valid_i;
  assign address = dispatch_valid_i ? dispatch_address_i[IndexBits-1:0] : fetch_address_i[IndexBits-1:0];

  always_ff @(posedge clk_i) begin
    if (write_valid_i) begin
      unique case (write_address_i[1:0])
        2'd0: words[write_address_i[IndexBits-1:0]] <= write_data_i[511:0];
        2'd1: words[write_address_i[IndexBits-1:0]] <= write_data_i[1023:512];
        2'd2: words[write_address_i[IndexBits-1:0]] <= write_data_i[1535:1024];
        default: words[write_address_i[IndexBits-1:0]] <= write_data_i[2047:1536];
      endcase
    end
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
