// A memory of quads of binary32, written quad by quad and read at any element: the four elements
// from read_element_i on, which may lie in two quads. Four banks, one for each lane.
//
// Data 2 cycles after a read. A quad written is read from the next cycle on. Addresses wrap:
// elements in front of 0 are those at the end. Reset does nothing.
module quad_memory #(
    parameter int Quads = 128  // a power of two
) (
    input  logic                       clk_i,
    input  logic                       write_valid_i,
    input  logic [$clog2(Quads)-1:0]   write_quad_i,
    input  logic [            127:0]   write_data_i,
    input  logic                       read_valid_i,
    input  logic [$clog2(Quads)+1:0]   read_element_i,
    output logic [            127:0]   read_data_o
);
  localparam int Bits = $clog2(Quads);

  initial if ((1 << Bits) != Quads) $fatal(1, "quad_memory: Quads: want a power of two");

  logic [127:0] banks_q;
  logic [1:0] turn_q;
  logic valid_q;

  for (genvar b = 0; b < 4; b++) begin : gen_bank
    logic [31:0] elements[0:Quads-1];
    logic [Bits-1:0] quad;
    if (b == 3) begin : gen_last
      assign quad = read_element_i[Bits+1:2];
    end else begin : gen_other  // behind the first element only from the next quad on
      assign quad = read_element_i[Bits+1:2] +
                    {{(Bits - 1) {1'b0}}, read_element_i[1:0] > 2'(b)};
    end
    always_ff @(posedge clk_i) begin
      if (write_valid_i) elements[write_quad_i] <= write_data_i[b*32+:32];
      if (read_valid_i) banks_q[b*32+:32] <= elements[quad];
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= read_valid_i;
    if (read_valid_i) turn_q <= read_element_i[1:0];
    if (valid_q) begin
      unique case (turn_q)
        2'd0: read_data_o <= banks_q;
        2'd1: read_data_o <= {banks_q[31:0], banks_q[127:32]};
        2'd2: read_data_o <= {banks_q[63:0], banks_q[127:64]};
        default: read_data_o <= {banks_q[95:0], banks_q[127:96]};
      endcase
    end
  end
endmodule
