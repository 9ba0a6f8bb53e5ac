// Vector memory: words of 32 binary32, one write port with an enable for each slice of 4 lanes, one
// read port.
//
// Always taken; read data 2 cycles after the request. A read sees the writes of earlier cycles, not
// that of its own cycle. Throughput: a write and a read a cycle. Nothing is reset; addresses beyond
// the memory wrap around.
module vector_memory #(
    parameter engine_pkg::config_t Config = engine_pkg::Default,
    localparam int Words = Config.vector_words
) (
    input  logic                               clk_i,
    input  logic                               write_valid_i,
    input  logic [engine_pkg::VectorBits-1:0] write_address_i,
    input  logic [    engine_pkg::Slices-1:0] write_slices_i,
    input  logic [  engine_pkg::WordBits-1:0] write_data_i,
    input  logic                               read_valid_i,
    input  logic [engine_pkg::VectorBits-1:0] read_address_i,
    output logic [  engine_pkg::WordBits-1:0] read_data_o
);
  localparam int AddressBits = $clog2(Words);
  localparam int SliceBits = engine_pkg::WordBits / engine_pkg::Slices;

  logic read_q;
  logic [AddressBits-1:0] write_address, read_address;
  assign write_address = AddressBits'(write_address_i);
  assign read_address  = AddressBits'(read_address_i);

  logic unused;  // the addresses' upper bits
  assign unused = ^{write_address_i, read_address_i};

  always_ff @(posedge clk_i) read_q <= read_valid_i;

  for (genvar s = 0; s < engine_pkg::Slices; s++) begin : g_slice
    logic [SliceBits-1:0] words[0:Words-1];
    logic [SliceBits-1:0] data1_q, data2_q;
    always_ff @(posedge clk_i) begin
      if (write_valid_i && write_slices_i[s]) begin
        words[write_address] <= write_data_i[SliceBits*s+:SliceBits];
      end
    end
    always_ff @(posedge clk_i) if (read_valid_i) data1_q <= words[read_address];
    always_ff @(posedge clk_i) if (read_q) data2_q <= data1_q;
    assign read_data_o[SliceBits*s+:SliceBits] = data2_q;
  end
endmodule
