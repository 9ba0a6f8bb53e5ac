// The product unit with activation memory, as a test sees them: ports of the same width for every
// number of rows.
module product_bench #(
    parameter logic [31:0] Rows = 32'd8,
    parameter logic [31:0] MacRows = 32'd8
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          start_valid_i,
    output logic          start_ready_o,
    input  logic [ 511:0] instruction_i,
    input  logic [  26:0] pass_i,
    output logic          done_o,
    input  logic          stream_valid_i,
    output logic          stream_ready_o,
    input  logic [2047:0] stream_data_i,
    output logic          vm_read_valid_o,
    input  logic          vm_read_ready_i,
    output logic [  15:0] vm_read_address_o,
    input  logic          vm_data_valid_i,
    input  logic [1023:0] vm_data_i,
    output logic          vm_write_valid_o,
    input  logic          vm_write_ready_i,
    output logic [  15:0] vm_write_address_o,
    output logic [   7:0] vm_write_slices_o,
    output logic [1023:0] vm_write_data_o,
    input  logic          write_valid_i,
    input  logic [   4:0] write_row_i,
    input  logic [  11:0] write_word_i,
    input  logic          write_half_i,
    input  logic [ 511:0] write_data_i,
    input  logic          store_read_valid_i,
    output logic          store_read_ready_o,
    input  logic [   4:0] store_read_row_i,
    input  logic [  11:0] store_read_word_i,
    output logic          store_data_valid_o,
    output logic [1023:0] store_data_o,
    input  logic [ 255:0] exponents_i,
    input  logic [  11:0] quantized_words_i,
    input  logic [   7:0] rows_ended_i,
    output logic [  17:0] progress_quads_o,
    output logic [ 991:0] peaks_o,
    output logic          busy_o,
    output logic          stalled_on_input_o,
    output logic          stalled_on_output_o
);
  localparam engine_pkg::config_t Config = {
    Rows, MacRows, Rows / MacRows, 32'd8192, 32'd64, 32'd1024, 32'd1024, 32'd65536, 32'd16384,
    32'd1024, 32'd2048, 32'd8192
  };

  logic read_valid;
  logic [11:0] read_word;
  logic [4:0] read_phase;
  logic [MacRows-1:0] read_rows;
  logic [MacRows*1024-1:0] read_data;
  logic [Rows*31-1:0] peaks;

  assign peaks_o = 992'(peaks);

  logic unused;  // exponents of rows that are not there
  assign unused = ^exponents_i;

  activation_memory #(
      .Config(Config)
  ) u_activations (
      .clk_i, .rst_ni, .write_valid_i, .write_row_i, .write_word_i, .write_half_i, .write_data_i,
      .read_valid_i(read_valid),
      .read_word_i (read_word),
      .read_phase_i(read_phase),
      .read_rows_i (read_rows),
      .read_data_o (read_data),
      .store_read_valid_i, .store_read_ready_o, .store_read_row_i, .store_read_word_i,
      .store_data_valid_o, .store_data_o
  );

  product_unit #(
      .Config(Config)
  ) u_product (
      .clk_i, .rst_ni, .start_valid_i, .start_ready_o, .instruction_i, .pass_i, .done_o,
      .stream_valid_i, .stream_ready_o, .stream_data_i, .vm_read_valid_o, .vm_read_ready_i,
      .vm_read_address_o, .vm_data_valid_i, .vm_data_i, .vm_write_valid_o, .vm_write_ready_i,
      .vm_write_address_o, .vm_write_slices_o, .vm_write_data_o,
      .activation_read_valid_o(read_valid),
      .activation_read_word_o (read_word),
      .activation_read_phase_o(read_phase),
      .activation_read_rows_o (read_rows),
      .activation_data_i      (read_data),
      .exponents_i            (exponents_i[Rows*8-1:0]),
      .quantized_words_i, .rows_ended_i, .progress_quads_o,
      .peaks_o                (peaks),
      .busy_o, .stalled_on_input_o, .stalled_on_output_o
  );
endmodule
