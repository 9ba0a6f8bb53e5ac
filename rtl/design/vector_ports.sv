// The arbiters in front of vector memory: four units write, four read; a fixed order of priority.
//
// Stream law at each port: once valid, valid stays and address, slices and data stay as they are until
// ready. Combinational from the units' registers to the memory's: a grant takes effect in its cycle, so
// a request granted later sees what was written. Read data come from the memory to all units alike, 2
// cycles after the grant, with the valid bit of the unit that asked. Throughput: a write and a read a
// cycle. Priority: writes product, attend, heads, rows; reads product, heads, rows, store. Who comes
// last waits; the units in front never use every cycle (the product unit writes at most 4 rows of 33
// cycles each, attention less). Reset drops the reads under way.
module vector_ports (
    input  logic clk_i,
    input  logic rst_ni,

    input  logic                              product_write_valid_i,
    output logic                              product_write_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] product_write_address_i,
    input  logic [    engine_pkg::Slices-1:0] product_write_slices_i,
    input  logic [  engine_pkg::WordBits-1:0] product_write_data_i,

    input  logic                              attend_write_valid_i,
    output logic                              attend_write_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] attend_write_address_i,
    input  logic [    engine_pkg::Slices-1:0] attend_write_slices_i,
    input  logic [  engine_pkg::WordBits-1:0] attend_write_data_i,

    input  logic                              heads_write_valid_i,
    output logic                              heads_write_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] heads_write_address_i,
    input  logic [    engine_pkg::Slices-1:0] heads_write_slices_i,
    input  logic [  engine_pkg::WordBits-1:0] heads_write_data_i,

    input  logic                              rows_write_valid_i,
    output logic                              rows_write_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] rows_write_address_i,
    input  logic [    engine_pkg::Slices-1:0] rows_write_slices_i,
    input  logic [  engine_pkg::WordBits-1:0] rows_write_data_i,

    input  logic                              product_read_valid_i,
    output logic                              product_read_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] product_read_address_i,
    output logic                              product_data_valid_o,

    input  logic                              heads_read_valid_i,
    output logic                              heads_read_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] heads_read_address_i,
    output logic                              heads_data_valid_o,

    input  logic                              rows_read_valid_i,
    output logic                              rows_read_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] rows_read_address_i,
    output logic                              rows_data_valid_o,

    input  logic                              store_read_valid_i,
    output logic                              store_read_ready_o,
    input  logic [engine_pkg::VectorBits-1:0] store_read_address_i,
    output logic                              store_data_valid_o,

    output logic                              memory_write_valid_o,
    output logic [engine_pkg::VectorBits-1:0] memory_write_address_o,
    output logic [    engine_pkg::Slices-1:0] memory_write_slices_o,
    output logic [  engine_pkg::WordBits-1:0] memory_write_data_o,
    output logic                              memory_read_valid_o,
    output logic [engine_pkg::VectorBits-1:0] memory_read_address_o
);
  assign product_write_ready_o = 1'b1;
  assign attend_write_ready_o = !product_write_valid_i;
  assign heads_write_ready_o = !product_write_valid_i && !attend_write_valid_i;
  assign rows_write_ready_o = !product_write_valid_i && !attend_write_valid_i && !heads_write_valid_i;
  assign product_read_ready_o = 1'b1;
  assign heads_read_ready_o = !product_read_valid_i;
  assign rows_read_ready_o = !product_read_valid_i && !heads_read_valid_i;
  assign store_read_ready_o = !product_read_valid_i && !heads_read_valid_i && !rows_read_valid_i;

  assign memory_write_valid_o = product_write_valid_i || attend_write_valid_i || heads_write_valid_i || rows_write_valid_i;
  assign memory_read_valid_o = product_read_valid_i || heads_read_valid_i || rows_read_valid_i || store_read_valid_i;

  always_comb begin
    if (product_write_valid_i) begin
      memory_write_address_o = product_write_address_i;
      memory_write_slices_o = product_write_slices_i;
      memory_write_data_o = product_write_data_i;
    end else if (attend_write_valid_i) begin
      memory_write_address_o = attend_write_address_i;
      memory_write_slices_o = attend_write_slices_i;
      memory_write_data_o = attend_write_data_i;
    end else if (heads_write_valid_i) begin
      memory_write_address_o = heads_write_address_i;
      memory_write_slices_o = heads_write_slices_i;
      memory_write_data_o = heads_write_data_i;
    end else begin
      memory_write_address_o = rows_write_address_i;
      memory_write_slices_o = rows_write_slices_i;
      memory_write_data_o = rows_write_data_i;
    end
  end

  always_comb begin
    if (product_read_valid_i) memory_read_address_o = product_read_address_i;
    else if (heads_read_valid_i) memory_read_address_o = heads_read_address_i;
    else if (rows_read_valid_i) memory_read_address_o = rows_read_address_i;
    else memory_read_address_o = store_read_address_i;
  end

  // Who gets the data: granted a cycle ago, two cycles ago.
  logic [3:0] granted, granted1_q, granted2_q;
  assign granted = {
    store_read_valid_i && store_read_ready_o,
    rows_read_valid_i && rows_read_ready_o,
    heads_read_valid_i && heads_read_ready_o,
    product_read_valid_i && product_read_ready_o
  };
  always_ff @(posedge clk_i) begin
    granted1_q <= rst_ni ? granted : '0;
    granted2_q <= rst_ni ? granted1_q : '0;
  end
  assign product_data_valid_o = granted2_q[0];
  assign heads_data_valid_o = granted2_q[1];
  assign rows_data_valid_o = granted2_q[2];
  assign store_data_valid_o = granted2_q[3];
endmodule
