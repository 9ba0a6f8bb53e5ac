// The rows unit with the memories that it alone writes, as a test sees them.
module rows_bench #(
    parameter logic [31:0] Rows = 32'd8
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            start_valid_i,
    output logic            start_ready_o,
    input  logic [   511:0] instruction_i,
    input  logic [    26:0] pass_i,
    output logic            done_o,
    output logic            fault_o,
    output logic [    15:0] fault_line_o,
    input  logic            stream_valid_i,
    output logic            stream_ready_o,
    input  logic [  2047:0] stream_data_i,
    output logic            vm_read_valid_o,
    input  logic            vm_read_ready_i,
    output logic [    15:0] vm_read_address_o,
    input  logic            vm_data_valid_i,
    input  logic [  1023:0] vm_data_i,
    output logic            vm_write_valid_o,
    input  logic            vm_write_ready_i,
    output logic [    15:0] vm_write_address_o,
    output logic [     7:0] vm_write_slices_o,
    output logic [  1023:0] vm_write_data_o,
    output logic [Rows*31-1:0] peaks_o,
    input  logic [Rows*31-1:0] product_peaks_i,
    input  logic [Rows*31-1:0] attend_peaks_i,
    output logic            activation_write_valid_o,
    output logic [     4:0] activation_write_row_o,
    output logic [    11:0] activation_write_word_o,
    output logic            activation_write_half_o,
    output logic [   511:0] activation_write_data_o,
    output logic [Rows*8-1:0] exponents_o,
    output logic [    11:0] quantized_words_o,
    input  logic            gain_read_valid_i,
    input  logic [    15:0] gain_read_address_i,
    output logic [  1023:0] gain_read_data_o,
    input  logic            rotary_read_valid_i,
    input  logic [     6:0] rotary_read_address_i,
    output logic [  2047:0] rotary_read_data_o,
    output logic            busy_o,
    output logic            stalled_on_input_o,
    output logic            stalled_on_output_o
);
  localparam engine_pkg::config_t Config = {
    Rows, Rows, 32'd1, 32'd8192, 32'd512, 32'd1024, 32'd1024, 32'd65536, 32'd16384,
    32'd1024, 32'd2048, 32'd8192
  };

  logic gain_write_valid, gain_read_valid, rotary_write_valid;
  logic [15:0] gain_write_address, gain_read_address;
  logic [1023:0] gain_write_data, gain_data;
  logic [6:0] rotary_write_address;
  logic [2047:0] rotary_write_data;

  rows_unit #(
      .Config(Config)
  ) u_rows (
      .gain_write_valid_o    (gain_write_valid),
      .gain_write_address_o  (gain_write_address),
      .gain_write_data_o     (gain_write_data),
      .gain_read_valid_o     (gain_read_valid),
      .gain_read_address_o   (gain_read_address),
      .gain_data_i           (gain_data),
      .rotary_write_valid_o  (rotary_write_valid),
      .rotary_write_address_o(rotary_write_address),
      .rotary_write_data_o   (rotary_write_data),
      .*
  );

  gain_memory #(
      .Config(Config)
  ) u_gains (
      .clk_i,
      .write_valid_i       (gain_write_valid),
      .write_address_i     (gain_write_address),
      .write_data_i        (gain_write_data),
      .rows_read_valid_i   (gain_read_valid),
      .rows_read_address_i (gain_read_address),
      .rows_read_data_o    (gain_data),
      .heads_read_valid_i  (gain_read_valid_i),
      .heads_read_address_i(gain_read_address_i),
      .heads_read_data_o   (gain_read_data_o)
  );

  rotary_memory #(
      .Config(Config)
  ) u_rotary (
      .clk_i,
      .write_valid_i  (rotary_write_valid),
      .write_address_i(rotary_write_address),
      .write_data_i   (rotary_write_data),
      .read_valid_i   (rotary_read_valid_i),
      .read_address_i (rotary_read_address_i),
      .read_data_o    (rotary_read_data_o)
  );
endmodule
