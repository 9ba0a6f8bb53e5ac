// Vector memory behind its arbiters.
module vector_memory_bench (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic [   3:0] write_valid_i,  // product, attend, heads, rows
    output logic [   3:0] write_ready_o,
    input  logic [  63:0] write_address_i,
    input  logic [  31:0] write_slices_i,
    input  logic [4095:0] write_data_i,
    input  logic [   3:0] read_valid_i,   // product, heads, rows, store
    output logic [   3:0] read_ready_o,
    input  logic [  63:0] read_address_i,
    output logic [   3:0] data_valid_o,
    output logic [1023:0] data_o
);
  localparam engine_pkg::config_t Config = {
    32'd8, 32'd8, 32'd1, 32'd64, 32'd512, 32'd1024, 32'd1024, 32'd65536, 32'd16384, 32'd1024,
    32'd2048, 32'd8192
  };

  logic write_valid, read_valid;
  logic [15:0] write_address, read_address;
  logic [7:0] write_slices;
  logic [1023:0] write_data;

  vector_ports u_ports (
      .clk_i, .rst_ni,
      .product_write_valid_i(write_valid_i[0]), .product_write_ready_o(write_ready_o[0]),
      .product_write_address_i(write_address_i[15:0]),
      .product_write_slices_i(write_slices_i[7:0]), .product_write_data_i(write_data_i[1023:0]),
      .attend_write_valid_i(write_valid_i[1]), .attend_write_ready_o(write_ready_o[1]),
      .attend_write_address_i(write_address_i[31:16]),
      .attend_write_slices_i(write_slices_i[15:8]), .attend_write_data_i(write_data_i[2047:1024]),
      .heads_write_valid_i(write_valid_i[2]), .heads_write_ready_o(write_ready_o[2]),
      .heads_write_address_i(write_address_i[47:32]),
      .heads_write_slices_i(write_slices_i[23:16]), .heads_write_data_i(write_data_i[3071:2048]),
      .rows_write_valid_i(write_valid_i[3]), .rows_write_ready_o(write_ready_o[3]),
      .rows_write_address_i(write_address_i[63:48]),
      .rows_write_slices_i(write_slices_i[31:24]), .rows_write_data_i(write_data_i[4095:3072]),
      .product_read_valid_i(read_valid_i[0]), .product_read_ready_o(read_ready_o[0]),
      .product_read_address_i(read_address_i[15:0]), .product_data_valid_o(data_valid_o[0]),
      .heads_read_valid_i(read_valid_i[1]), .heads_read_ready_o(read_ready_o[1]),
      .heads_read_address_i(read_address_i[31:16]), .heads_data_valid_o(data_valid_o[1]),
      .rows_read_valid_i(read_valid_i[2]), .rows_read_ready_o(read_ready_o[2]),
      .rows_read_address_i(read_address_i[47:32]), .rows_data_valid_o(data_valid_o[2]),
      .store_read_valid_i(read_valid_i[3]), .store_read_ready_o(read_ready_o[3]),
      .store_read_address_i(read_address_i[63:48]), .store_data_valid_o(data_valid_o[3]),
      .memory_write_valid_o(write_valid), .memory_write_address_o(write_address),
      .memory_write_slices_o(write_slices), .memory_write_data_o(write_data),
      .memory_read_valid_o(read_valid), .memory_read_address_o(read_address)
  );

  vector_memory #(
      .Config(Config)
  ) u_memory (
      .clk_i,
      .write_valid_i  (write_valid),
      .write_address_i(write_address),
      .write_slices_i (write_slices),
      .write_data_i   (write_data),
      .read_valid_i   (read_valid),
      .read_address_i (read_address),
      .read_data_o    (data_o)
  );
endmodule
