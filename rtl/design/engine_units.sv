// The five units, and the memories between them.
//
// Wiring alone; what each does is in its own file. Query memory and the attend unit's buffer are read
// by the store unit where the attend unit does not read. done and counters: unit u of engine_pkg at [u]. Reset: as the units have it.
module engine_units #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       pass_start_i,
    input  logic [                4:0] start_valid_i,
    output logic [                4:0] start_ready_o,
    input  logic [              511:0] rows_instruction_i,
    input  logic [              511:0] product_instruction_i,
    input  logic [              511:0] heads_instruction_i,
    input  logic [              511:0] attend_instruction_i,
    input  logic [              511:0] store_instruction_i,
    input  logic [               26:0] rows_pass_i,
    input  logic [               26:0] product_pass_i,
    input  logic [               26:0] heads_pass_i,
    input  logic [               26:0] attend_pass_i,
    input  logic [               26:0] store_pass_i,
    output logic [                4:0] done_o,
    input  logic [               79:0] ended_i,
    input  logic [Config.rows*32-1:0]  positions_i,
    output logic [                4:0] fault_o,
    output logic [           5*16-1:0] fault_line_o,
    input  logic [                4:0] stream_valid_i,
    output logic [                4:0] stream_ready_o,
    input  logic [             2047:0] stream_data_i,
    output logic                       cache_write_valid_o,
    input  logic                       cache_write_ready_i,
    output logic [                1:0] cache_write_bank_o,
    output logic [               27:0] cache_write_address_o,
    output logic [              511:0] cache_write_data_o,
    output logic [               63:0] cache_write_strobe_o,
    input  logic                       cache_pending_i,
    output logic                       host_write_valid_o,
    input  logic                       host_write_ready_i,
    output logic [               33:0] host_write_address_o,
    output logic [              511:0] host_write_data_o,
    output logic [               63:0] host_write_strobe_o,
    input  logic                       host_pending_i,
    output logic                       greedy_valid_o,
    output logic [               15:0] greedy_address_o,
    output logic [               63:0] greedy_data_o,
    output logic [                4:0] busy_o,
    output logic [                4:0] stalled_on_input_o,
    output logic [                4:0] stalled_on_output_o,
    output logic [                3:0] store_state_o
);
  localparam int Rows = Config.rows;
  localparam int MacRows = Config.mac_rows;
  localparam int R = engine_pkg::UnitRows;
  localparam int P = engine_pkg::UnitProduct;
  localparam int H = engine_pkg::UnitHeads;
  localparam int A = engine_pkg::UnitAttend;
  localparam int S = engine_pkg::UnitStore;

  logic [Rows*31-1:0] rows_peaks, product_peaks, attend_peaks;
  logic [Rows*8-1:0] exponents;
  logic [11:0] quantized_words;
  logic [17:0] progress_quads;

  assign stream_ready_o[H] = 1'b0;  // these take nothing from the stream
  assign stream_ready_o[S] = 1'b0;

  // A unit's clock runs while the unit works or is asked to; the product unit hardly ever sleeps.
  logic rows_clk, heads_clk, attend_clk, store_clk;
  logic observe_valid;

  clock_gate u_rows_clk (
      .clk_i,
      .rst_ni,
      .wake_i(busy_o[R] || start_valid_i[R] || stream_valid_i[R]),
      .clk_o(rows_clk)
  );
  clock_gate u_heads_clk (
      .clk_i,
      .rst_ni,
      .wake_i(busy_o[H] || start_valid_i[H]),
      .clk_o(heads_clk)
  );
  clock_gate u_attend_clk (
      .clk_i,
      .rst_ni,
      .wake_i(busy_o[A] || start_valid_i[A] || stream_valid_i[A] || observe_valid),
      .clk_o(attend_clk)
  );
  clock_gate u_store_clk (
      .clk_i,
      .rst_ni,
      .wake_i(busy_o[S] || start_valid_i[S] || pass_start_i),
      .clk_o(store_clk)
  );

  // Vector memory.
  logic [1023:0] vm_data;
  logic rows_vm_write_valid, rows_vm_write_ready, product_vm_write_valid, product_vm_write_ready;
  logic heads_vm_write_valid, heads_vm_write_ready, attend_vm_write_valid, attend_vm_write_ready;
  logic [15:0] rows_vm_write_address, product_vm_write_address, heads_vm_write_address;
  logic [15:0] attend_vm_write_address;
  logic [7:0] rows_vm_write_slices, product_vm_write_slices, heads_vm_write_slices;
  logic [7:0] attend_vm_write_slices;
  logic [1023:0] rows_vm_write_data, product_vm_write_data, heads_vm_write_data;
  logic [1023:0] attend_vm_write_data;
  logic rows_vm_read_valid, rows_vm_read_ready, rows_vm_data_valid;
  logic product_vm_read_valid, product_vm_read_ready, product_vm_data_valid;
  logic heads_vm_read_valid, heads_vm_read_ready, heads_vm_data_valid;
  logic store_vm_read_valid, store_vm_read_ready, store_vm_data_valid;
  logic [15:0] rows_vm_read_address, product_vm_read_address, heads_vm_read_address;
  logic [15:0] store_vm_read_address;
  logic memory_write_valid, memory_read_valid;
  logic [15:0] memory_write_address, memory_read_address;
  logic [7:0] memory_write_slices;
  logic [1023:0] memory_write_data;

  vector_ports u_vector_ports (
      .clk_i,
      .rst_ni,
      .product_write_valid_i(product_vm_write_valid),
      .product_write_ready_o(product_vm_write_ready),
      .product_write_address_i(product_vm_write_address),
      .product_write_slices_i(product_vm_write_slices),
      .product_write_data_i(product_vm_write_data),
      .attend_write_valid_i(attend_vm_write_valid),
      .attend_write_ready_o(attend_vm_write_ready),
      .attend_write_address_i(attend_vm_write_address),
      .attend_write_slices_i(attend_vm_write_slices),
      .attend_write_data_i(attend_vm_write_data),
      .heads_write_valid_i(heads_vm_write_valid),
      .heads_write_ready_o(heads_vm_write_ready),
      .heads_write_address_i(heads_vm_write_address),
      .heads_write_slices_i(heads_vm_write_slices),
      .heads_write_data_i(heads_vm_write_data),
      .rows_write_valid_i(rows_vm_write_valid),
      .rows_write_ready_o(rows_vm_write_ready),
      .rows_write_address_i(rows_vm_write_address),
      .rows_write_slices_i(rows_vm_write_slices),
      .rows_write_data_i(rows_vm_write_data),
      .product_read_valid_i(product_vm_read_valid),
      .product_read_ready_o(product_vm_read_ready),
      .product_read_address_i(product_vm_read_address),
      .product_data_valid_o(product_vm_data_valid),
      .heads_read_valid_i(heads_vm_read_valid),
      .heads_read_ready_o(heads_vm_read_ready),
      .heads_read_address_i(heads_vm_read_address),
      .heads_data_valid_o(heads_vm_data_valid),
      .rows_read_valid_i(rows_vm_read_valid),
      .rows_read_ready_o(rows_vm_read_ready),
      .rows_read_address_i(rows_vm_read_address),
      .rows_data_valid_o(rows_vm_data_valid),
      .store_read_valid_i(store_vm_read_valid),
      .store_read_ready_o(store_vm_read_ready),
      .store_read_address_i(store_vm_read_address),
      .store_data_valid_o(store_vm_data_valid),
      .memory_write_valid_o(memory_write_valid),
      .memory_write_address_o(memory_write_address),
      .memory_write_slices_o(memory_write_slices),
      .memory_write_data_o(memory_write_data),
      .memory_read_valid_o(memory_read_valid),
      .memory_read_address_o(memory_read_address)
  );

  vector_memory #(
      .Config(Config)
  ) u_vector_memory (
      .clk_i,
      .write_valid_i(memory_write_valid),
      .write_address_i(memory_write_address),
      .write_slices_i(memory_write_slices),
      .write_data_i(memory_write_data),
      .read_valid_i(memory_read_valid),
      .read_address_i(memory_read_address),
      .read_data_o(vm_data)
  );

  // Rows unit, and what it fills.
  logic activation_write_valid, activation_write_half;
  logic [4:0] activation_write_row;
  logic [11:0] activation_write_word;
  logic [511:0] activation_write_data;
  logic gain_write_valid, rows_gain_read_valid, heads_gain_read_valid;
  logic [15:0] gain_write_address, rows_gain_read_address, heads_gain_read_address;
  logic [1023:0] gain_write_data, rows_gain_data, heads_gain_data;
  logic rotary_write_valid, rotary_read_valid;
  logic [6:0] rotary_write_address, rotary_read_address;
  logic [2047:0] rotary_write_data, rotary_data;

  rows_unit #(
      .Config(Config)
  ) u_rows (
      .clk_i(rows_clk),
      .rst_ni,
      .start_valid_i(start_valid_i[R]),
      .start_ready_o(start_ready_o[R]),
      .instruction_i(rows_instruction_i),
      .pass_i(rows_pass_i),
      .done_o(done_o[R]),
      .fault_o(fault_o[R]),
      .fault_line_o(fault_line_o[16*R+:16]),
      .stream_valid_i(stream_valid_i[R]),
      .stream_ready_o(stream_ready_o[R]),
      .stream_data_i,
      .vm_read_valid_o(rows_vm_read_valid),
      .vm_read_ready_i(rows_vm_read_ready),
      .vm_read_address_o(rows_vm_read_address),
      .vm_data_valid_i(rows_vm_data_valid),
      .vm_data_i(vm_data),
      .vm_write_valid_o(rows_vm_write_valid),
      .vm_write_ready_i(rows_vm_write_ready),
      .vm_write_address_o(rows_vm_write_address),
      .vm_write_slices_o(rows_vm_write_slices),
      .vm_write_data_o(rows_vm_write_data),
      .peaks_o(rows_peaks),
      .product_peaks_i(product_peaks),
      .attend_peaks_i(attend_peaks),
      .activation_write_valid_o(activation_write_valid),
      .activation_write_row_o(activation_write_row),
      .activation_write_word_o(activation_write_word),
      .activation_write_half_o(activation_write_half),
      .activation_write_data_o(activation_write_data),
      .exponents_o(exponents),
      .quantized_words_o(quantized_words),
      .gain_write_valid_o(gain_write_valid),
      .gain_write_address_o(gain_write_address),
      .gain_write_data_o(gain_write_data),
      .gain_read_valid_o(rows_gain_read_valid),
      .gain_read_address_o(rows_gain_read_address),
      .gain_data_i(rows_gain_data),
      .rotary_write_valid_o(rotary_write_valid),
      .rotary_write_address_o(rotary_write_address),
      .rotary_write_data_o(rotary_write_data),
      .busy_o(busy_o[R]),
      .stalled_on_input_o(stalled_on_input_o[R]),
      .stalled_on_output_o(stalled_on_output_o[R])
  );

  gain_memory #(
      .Config(Config)
  ) u_gain_memory (
      .clk_i,
      .write_valid_i(gain_write_valid),
      .write_address_i(gain_write_address),
      .write_data_i(gain_write_data),
      .rows_read_valid_i(rows_gain_read_valid),
      .rows_read_address_i(rows_gain_read_address),
      .rows_read_data_o(rows_gain_data),
      .heads_read_valid_i(heads_gain_read_valid),
      .heads_read_address_i(heads_gain_read_address),
      .heads_read_data_o(heads_gain_data)
  );

  rotary_memory #(
      .Config(Config)
  ) u_rotary_memory (
      .clk_i,
      .write_valid_i(rotary_write_valid),
      .write_address_i(rotary_write_address),
      .write_data_i(rotary_write_data),
      .read_valid_i(rotary_read_valid),
      .read_address_i(rotary_read_address),
      .read_data_o(rotary_data)
  );

  // Activation memory: the product unit first, then the store unit.
  logic activation_read_valid;
  logic [11:0] activation_read_word;
  logic [4:0] activation_read_phase;
  logic [MacRows-1:0] activation_read_rows;
  logic [MacRows*1024-1:0] activation_data;
  logic store_activation_read_valid, store_activation_read_ready, store_activation_data_valid;
  logic [4:0] store_activation_read_row;
  logic [11:0] store_activation_read_word;
  logic [1023:0] store_activation_data;

  activation_memory #(
      .Config(Config)
  ) u_activation_memory (
      .clk_i,
      .rst_ni,
      .write_valid_i(activation_write_valid),
      .write_row_i(activation_write_row),
      .write_word_i(activation_write_word),
      .write_half_i(activation_write_half),
      .write_data_i(activation_write_data),
      .read_valid_i(activation_read_valid),
      .read_word_i(activation_read_word),
      .read_phase_i(activation_read_phase),
      .read_rows_i(activation_read_rows),
      .read_data_o(activation_data),
      .store_read_valid_i(store_activation_read_valid),
      .store_read_ready_o(store_activation_read_ready),
      .store_read_row_i(store_activation_read_row),
      .store_read_word_i(store_activation_read_word),
      .store_data_valid_o(store_activation_data_valid),
      .store_data_o(store_activation_data)
  );

  product_unit #(
      .Config(Config)
  ) u_product (
      .clk_i,
      .rst_ni,
      .start_valid_i(start_valid_i[P]),
      .start_ready_o(start_ready_o[P]),
      .instruction_i(product_instruction_i),
      .pass_i(product_pass_i),
      .done_o(done_o[P]),
      .stream_valid_i(stream_valid_i[P]),
      .stream_ready_o(stream_ready_o[P]),
      .stream_data_i,
      .vm_read_valid_o(product_vm_read_valid),
      .vm_read_ready_i(product_vm_read_ready),
      .vm_read_address_o(product_vm_read_address),
      .vm_data_valid_i(product_vm_data_valid),
      .vm_data_i(vm_data),
      .vm_write_valid_o(product_vm_write_valid),
      .vm_write_ready_i(product_vm_write_ready),
      .vm_write_address_o(product_vm_write_address),
      .vm_write_slices_o(product_vm_write_slices),
      .vm_write_data_o(product_vm_write_data),
      .peaks_o(product_peaks),
      .activation_read_valid_o(activation_read_valid),
      .activation_read_word_o(activation_read_word),
      .activation_read_phase_o(activation_read_phase),
      .activation_read_rows_o(activation_read_rows),
      .activation_data_i(activation_data),
      .exponents_i(exponents),
      .quantized_words_i(quantized_words),
      .rows_ended_i(ended_i[16*R+:8]),
      .progress_quads_o(progress_quads),
      .busy_o(busy_o[P]),
      .stalled_on_input_o(stalled_on_input_o[P]),
      .stalled_on_output_o(stalled_on_output_o[P])
  );

  assign fault_o[P] = 1'b0;  // sums and their scaling cannot leave the table
  assign fault_line_o[16*P+:16] = '0;

  // Heads unit and query memory.
  logic query_write_valid, query_write_exponent_valid;
  logic [15:0] query_write_address, query_write_exponent_address;
  logic [511:0] query_write_data;
  logic [7:0] query_write_exponent;

  heads_unit #(
      .Config(Config)
  ) u_heads (
      .clk_i(heads_clk),
      .rst_ni,
      .start_valid_i(start_valid_i[H]),
      .start_ready_o(start_ready_o[H]),
      .instruction_i(heads_instruction_i),
      .pass_i(heads_pass_i),
      .done_o(done_o[H]),
      .fault_o(fault_o[H]),
      .fault_line_o(fault_line_o[16*H+:16]),
      .product_ended_i(ended_i[16*P+:8]),
      .product_progress_quads_i(progress_quads),
      .vm_read_valid_o(heads_vm_read_valid),
      .vm_read_ready_i(heads_vm_read_ready),
      .vm_read_address_o(heads_vm_read_address),
      .vm_data_valid_i(heads_vm_data_valid),
      .vm_data_i(vm_data),
      .vm_write_valid_o(heads_vm_write_valid),
      .vm_write_ready_i(heads_vm_write_ready),
      .vm_write_address_o(heads_vm_write_address),
      .vm_write_slices_o(heads_vm_write_slices),
      .vm_write_data_o(heads_vm_write_data),
      .gain_read_valid_o(heads_gain_read_valid),
      .gain_read_address_o(heads_gain_read_address),
      .gain_data_i(heads_gain_data),
      .rotary_read_valid_o(rotary_read_valid),
      .rotary_read_address_o(rotary_read_address),
      .rotary_data_i(rotary_data),
      .positions_i,
      .query_write_valid_o(query_write_valid),
      .query_write_address_o(query_write_address),
      .query_write_data_o(query_write_data),
      .query_write_exponent_valid_o(query_write_exponent_valid),
      .query_write_exponent_address_o(query_write_exponent_address),
      .query_write_exponent_o(query_write_exponent),
      .cache_write_valid_o,
      .cache_write_ready_i,
      .cache_write_bank_o,
      .cache_write_address_o,
      .cache_write_data_o,
      .cache_write_strobe_o,
      .cache_pending_i,
      .busy_o(busy_o[H]),
      .stalled_on_input_o(stalled_on_input_o[H]),
      .stalled_on_output_o(stalled_on_output_o[H])
  );

  logic attend_query_valid, attend_exponent_valid, store_query_valid, store_query_ready;
  logic [15:0] attend_query_address, attend_exponent_address;
  logic [15:0] store_query_address, store_exponent_address;
  logic [511:0] query_data;
  logic [7:0] query_exponent;

  assign store_query_ready = !attend_query_valid && !attend_exponent_valid;

  query_memory #(
      .Config(Config)
  ) u_query_memory (
      .clk_i,
      .write_valid_i(query_write_valid),
      .write_address_i(query_write_address),
      .write_data_i(query_write_data),
      .write_exponent_valid_i(query_write_exponent_valid),
      .write_exponent_address_i(query_write_exponent_address),
      .write_exponent_i(query_write_exponent),
      .read_valid_i(attend_query_valid || (store_query_valid && store_query_ready)),
      .read_address_i(attend_query_valid ? attend_query_address : store_query_address),
      .read_data_o(query_data),
      .read_exponent_valid_i(attend_exponent_valid || (store_query_valid && store_query_ready)),
      .read_exponent_address_i(attend_exponent_valid ? attend_exponent_address : store_exponent_address),
      .read_exponent_o(query_exponent)
  );

  // Attend unit.
  logic [3:0] observe_head;
  logic [15:0] observe_slot;
  logic [127:0] observe_data;
  logic [41:0] observe_sum;

  attend_unit #(
      .Config(Config)
  ) u_attend (
      .clk_i(attend_clk),
      .rst_ni,
      .start_valid_i(start_valid_i[A]),
      .start_ready_o(start_ready_o[A]),
      .instruction_i(attend_instruction_i),
      .pass_i(attend_pass_i),
      .done_o(done_o[A]),
      .fault_o(fault_o[A]),
      .fault_line_o(fault_line_o[16*A+:16]),
      .stream_valid_i(stream_valid_i[A]),
      .stream_ready_o(stream_ready_o[A]),
      .stream_data_i,
      .vm_write_valid_o(attend_vm_write_valid),
      .vm_write_ready_i(attend_vm_write_ready),
      .vm_write_address_o(attend_vm_write_address),
      .vm_write_slices_o(attend_vm_write_slices),
      .vm_write_data_o(attend_vm_write_data),
      .peaks_o(attend_peaks),
      .query_valid_o(attend_query_valid),
      .query_address_o(attend_query_address),
      .query_data_i(query_data),
      .query_exponent_valid_o(attend_exponent_valid),
      .query_exponent_address_o(attend_exponent_address),
      .query_exponent_i(query_exponent),
      .positions_i,
      .observe_valid_i(observe_valid),
      .observe_head_i(observe_head),
      .observe_slot_i(observe_slot),
      .observe_data_o(observe_data),
      .observe_sum_o(observe_sum),
      .busy_o(busy_o[A]),
      .stalled_on_input_o(stalled_on_input_o[A]),
      .stalled_on_output_o(stalled_on_output_o[A])
  );

  // Store unit.
  store_unit #(
      .Config(Config)
  ) u_store (
      .clk_i(store_clk),
      .rst_ni,
      .pass_start_i,
      .start_valid_i(start_valid_i[S]),
      .start_ready_o(start_ready_o[S]),
      .instruction_i(store_instruction_i),
      .pass_i(store_pass_i),
      .done_o(done_o[S]),
      .vm_read_valid_o(store_vm_read_valid),
      .vm_read_ready_i(store_vm_read_ready),
      .vm_read_address_o(store_vm_read_address),
      .vm_data_valid_i(store_vm_data_valid),
      .vm_data_i(vm_data),
      .activation_read_valid_o(store_activation_read_valid),
      .activation_read_ready_i(store_activation_read_ready),
      .activation_read_row_o(store_activation_read_row),
      .activation_read_word_o(store_activation_read_word),
      .activation_data_valid_i(store_activation_data_valid),
      .activation_data_i(store_activation_data),
      .exponents_i(exponents),
      .query_read_valid_o(store_query_valid),
      .query_read_ready_i(store_query_ready),
      .query_read_address_o(store_query_address),
      .query_exponent_address_o(store_exponent_address),
      .query_data_i(query_data),
      .query_exponent_i(query_exponent),
      .observe_valid_o(observe_valid),
      .observe_head_o(observe_head),
      .observe_slot_o(observe_slot),
      .observe_data_i(observe_data),
      .observe_sum_i(observe_sum),
      .rows_peaks_i(rows_peaks),
      .product_peaks_i(product_peaks),
      .attend_peaks_i(attend_peaks),
      .host_write_valid_o,
      .host_write_ready_i,
      .host_write_address_o,
      .host_write_data_o,
      .host_write_strobe_o,
      .host_pending_i,
      .greedy_valid_o,
      .greedy_address_o,
      .greedy_data_o,
      .busy_o(busy_o[S]),
      .stalled_on_input_o(stalled_on_input_o[S]),
      .stalled_on_output_o(stalled_on_output_o[S]),
      .state_o(store_state_o)
  );

  assign fault_o[S] = 1'b0;
  assign fault_line_o[16*S+:16] = '0;
endmodule
