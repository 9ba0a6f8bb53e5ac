// The heads unit with gain, rotary and query memory, as a test sees them.
module heads_bench #(
    parameter logic [31:0] Rows = 32'd8
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              start_valid_i,
    output logic              start_ready_o,
    input  logic [     511:0] instruction_i,
    input  logic [      26:0] pass_i,
    output logic              done_o,
    output logic              fault_o,
    output logic [      15:0] fault_line_o,
    input  logic [       7:0] product_ended_i,
    input  logic [      17:0] product_progress_quads_i,
    output logic              vm_read_valid_o,
    input  logic              vm_read_ready_i,
    output logic [      15:0] vm_read_address_o,
    input  logic              vm_data_valid_i,
    input  logic [    1023:0] vm_data_i,
    output logic              vm_write_valid_o,
    input  logic              vm_write_ready_i,
    output logic [      15:0] vm_write_address_o,
    output logic [       7:0] vm_write_slices_o,
    output logic [    1023:0] vm_write_data_o,
    input  logic [Rows*32-1:0] positions_i,
    input  logic              gain_write_valid_i,
    input  logic [      15:0] gain_write_address_i,
    input  logic [    1023:0] gain_write_data_i,
    input  logic              rotary_write_valid_i,
    input  logic [       6:0] rotary_write_address_i,
    input  logic [    2047:0] rotary_write_data_i,
    input  logic              query_read_valid_i,
    input  logic [      15:0] query_read_address_i,
    output logic [     511:0] query_read_data_o,
    input  logic              query_read_exponent_valid_i,
    input  logic [      15:0] query_read_exponent_address_i,
    output logic [       7:0] query_read_exponent_o,
    output logic              query_write_valid_o,
    output logic              cache_write_valid_o,
    input  logic              cache_write_ready_i,
    output logic [       1:0] cache_write_bank_o,
    output logic [      27:0] cache_write_address_o,
    output logic [     511:0] cache_write_data_o,
    output logic [      63:0] cache_write_strobe_o,
    input  logic              cache_pending_i,
    output logic              busy_o,
    output logic              stalled_on_input_o,
    output logic              stalled_on_output_o
);
  localparam engine_pkg::config_t Config = {
    Rows, Rows, 32'd1, 32'd8192, 32'd512, 32'd1024, 32'd1024, 32'd65536, 32'd16384, 32'd1024,
    32'd2048, 32'd8192
  };

  logic gain_read_valid, rotary_read_valid, query_exponent_valid;
  logic [15:0] gain_read_address, query_address, query_exponent_address;
  logic [1023:0] gain_data, unused_data;
  logic [6:0] rotary_read_address;
  logic [2047:0] rotary_data;
  logic [511:0] query_data;
  logic [7:0] query_exponent;

  heads_unit #(
      .Config(Config)
  ) u_heads (
      .gain_read_valid_o             (gain_read_valid),
      .gain_read_address_o           (gain_read_address),
      .gain_data_i                   (gain_data),
      .rotary_read_valid_o           (rotary_read_valid),
      .rotary_read_address_o         (rotary_read_address),
      .rotary_data_i                 (rotary_data),
      .query_write_address_o         (query_address),
      .query_write_data_o            (query_data),
      .query_write_exponent_valid_o  (query_exponent_valid),
      .query_write_exponent_address_o(query_exponent_address),
      .query_write_exponent_o        (query_exponent),
      .*
  );


  gain_memory #(
      .Config(Config)
  ) u_gains (
      .clk_i,
      .write_valid_i       (gain_write_valid_i),
      .write_address_i     (gain_write_address_i),
      .write_data_i        (gain_write_data_i),
      .rows_read_valid_i   (1'b0),
      .rows_read_address_i (16'd0),
      .rows_read_data_o    (unused_data),
      .heads_read_valid_i  (gain_read_valid),
      .heads_read_address_i(gain_read_address),
      .heads_read_data_o   (gain_data)
  );

  rotary_memory #(
      .Config(Config)
  ) u_rotary (
      .clk_i,
      .write_valid_i  (rotary_write_valid_i),
      .write_address_i(rotary_write_address_i),
      .write_data_i   (rotary_write_data_i),
      .read_valid_i   (rotary_read_valid),
      .read_address_i (rotary_read_address),
      .read_data_o    (rotary_data)
  );

  query_memory #(
      .Config(Config)
  ) u_queries (
      .clk_i,
      .write_valid_i           (query_write_valid_o),
      .write_address_i         (query_address),
      .write_data_i            (query_data),
      .write_exponent_valid_i  (query_exponent_valid),
      .write_exponent_address_i(query_exponent_address),
      .write_exponent_i        (query_exponent),
      .read_valid_i            (query_read_valid_i),
      .read_address_i          (query_read_address_i),
      .read_data_o             (query_read_data_o),
      .read_exponent_valid_i   (query_read_exponent_valid_i),
      .read_exponent_address_i (query_read_exponent_address_i),
      .read_exponent_o         (query_read_exponent_o)
  );
endmodule
