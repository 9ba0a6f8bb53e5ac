// Activations on chip: for each of MAC_ROWS rows a memory of words of 64 int16, HOLD of them for each
// word of the product; row r = h * MAC_ROWS + m lies in memory m at address word * HOLD + h.
//
// Write: half a word (32 columns) of a row, always taken. Read for the array: word and phase h, of the
// memories that read_rows_i names (the others keep their output), data 2 cycles later, one read a
// cycle. Read for an observer (the store unit): granted where the array does not read, data 3 cycles
// after the grant with store_data_valid_o, no back-pressure. A read sees writes of earlier cycles.
//
// read_data_o has the order in which the array takes a word: the 32-bit pair of columns (4j + 2p,
// 4j + 2p + 1) of memory m at [1024m + 512p + 32j +: 32]; store_data_o has the order of the columns.
// Reset clears valid bits, not the memories. Addresses beyond the memory wrap around.
module activation_memory #(
    parameter engine_pkg::config_t Config = engine_pkg::Default,
    localparam int MacRows = Config.mac_rows,
    localparam int Hold = Config.hold,
    localparam int Words = Config.activation_words * Hold
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    write_valid_i,
    input  logic [             4:0] write_row_i,
    input  logic [            11:0] write_word_i,
    input  logic                    write_half_i,
    input  logic [           511:0] write_data_i,
    input  logic                    read_valid_i,
    input  logic [            11:0] read_word_i,
    input  logic [             4:0] read_phase_i,
    input  logic [     MacRows-1:0] read_rows_i,
    output logic [MacRows*1024-1:0] read_data_o,
    input  logic                    store_read_valid_i,
    output logic                    store_read_ready_o,
    input  logic [             4:0] store_read_row_i,
    input  logic [            11:0] store_read_word_i,
    output logic                    store_data_valid_o,
    output logic [          1023:0] store_data_o
);
  localparam int AddressBits = $clog2(Words);
  localparam int RowBits = MacRows > 1 ? $clog2(MacRows) : 1;

  // A row's memory and its place there. MAC_ROWS and HOLD are constants, powers of two but for odd
  // configurations.
  function automatic logic [AddressBits-1:0] address(input logic [11:0] word,
                                                     input logic [4:0] phase);
    address = AddressBits'({20'd0, word} * Hold + {27'd0, phase});
  endfunction

  logic [4:0] write_phase, store_phase;
  logic [RowBits-1:0] write_memory, store_memory;
  logic [AddressBits-1:0] write_address, read_address;
  assign write_phase   = 5'({27'd0, write_row_i} / MacRows);
  assign write_memory  = RowBits'({27'd0, write_row_i} % MacRows);
  assign store_phase   = 5'({27'd0, store_read_row_i} / MacRows);
  assign store_memory  = RowBits'({27'd0, store_read_row_i} % MacRows);
  assign write_address = address(write_word_i, write_phase);
  assign read_address  = read_valid_i ? address(read_word_i, read_phase_i)
                                      : address(store_read_word_i, store_phase);
  assign store_read_ready_o = !read_valid_i;

  // Half a word in the memory's order: the pairs p = 0, then p = 1.
  logic [511:0] write_pairs;
  for (genvar j = 0; j < 8; j++) begin : g_pairs
    assign write_pairs[32*j+:32]     = write_data_i[64*j+:32];
    assign write_pairs[256+32*j+:32] = write_data_i[64*j+32+:32];
  end

  logic store_read;
  logic [2:0] store_valid_q;
  logic [RowBits-1:0] store_memory1_q, store_memory2_q;
  assign store_read = store_read_valid_i && store_read_ready_o;
  always_ff @(posedge clk_i) begin
    if (store_read || store_valid_q != '0) store_valid_q <= {store_valid_q[1:0], store_read};
    if (!rst_ni) store_valid_q <= '0;
  end
  always_ff @(posedge clk_i) if (store_read) store_memory1_q <= store_memory;
  always_ff @(posedge clk_i) if (store_valid_q[0]) store_memory2_q <= store_memory1_q;

  // Both read registers are flat, and each memory writes its part of them: put together from parts by
  // `assign` they would cost the simulator a copy of all rows a cycle.
  logic [MacRows*1024-1:0] data1_q, data2_q;
  for (genvar m = 0; m < MacRows; m++) begin : g_memory
    logic [511:0] low[0:Words-1];
    logic [511:0] high[0:Words-1];
    logic read, read_q;

    assign read = read_valid_i ? read_rows_i[m]
                               : store_read_valid_i && 32'(store_memory) == m;
    always_ff @(posedge clk_i) begin
      if (write_valid_i && 32'(write_memory) == m) begin
        if (write_half_i) high[write_address] <= write_pairs;
        else low[write_address] <= write_pairs;
      end
    end
    always_ff @(posedge clk_i) read_q <= read;
    always_ff @(posedge clk_i) begin
      if (read) data1_q[1024*m+:1024] <= {high[read_address], low[read_address]};
    end
    always_ff @(posedge clk_i) begin
      if (read_q) begin
        data2_q[1024*m+:256]     <= data1_q[1024*m+:256];
        data2_q[1024*m+256+:256] <= data1_q[1024*m+512+:256];
        data2_q[1024*m+512+:256] <= data1_q[1024*m+256+:256];
        data2_q[1024*m+768+:256] <= data1_q[1024*m+768+:256];
      end
    end
  end
  assign read_data_o = data2_q;

  // The observer's word back in the order of its columns.
  logic [1023:0] store_data_q;
  always_ff @(posedge clk_i) begin
    if (store_valid_q[1]) begin : reorder
      logic [1023:0] pairs;
      pairs = data2_q[1023:0];
      for (int m = 1; m < MacRows; m++) begin
        if (32'(store_memory2_q) == m) pairs = data2_q[1024*m+:1024];
      end
      for (int j = 0; j < 16; j++) begin
        store_data_q[64*j+:32]    <= pairs[32*j+:32];
        store_data_q[64*j+32+:32] <= pairs[512+32*j+:32];
      end
    end
  end
  assign store_data_valid_o = store_valid_q[2];
  assign store_data_o       = store_data_q;
endmodule
