// It takes the engine's place for its units by name, and reads a few fields of an instruction.
// verilator lint_off DECLFILENAME
// verilator lint_off UNUSEDSIGNAL
//
// Stands in for the engine's units in the test of the shell. Each unit takes its super-beats and
// ends:
//   rows, product, attend  take `stream_beats` super-beats (rows: of each row), with gaps, and fold
//                          them (xor of the four banks' beats, rotated by 1 at each) into a sum
//   heads                  writes one beat, the sum, to bank `columns` of cache_base; waits for it
//   store                  writes one line, the sum, to host_offset + first_row; greedy: that row's entry
// `gain` other than 0 makes a unit work so many cycles more. `norm` raises FAULT.
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
  logic [5*512-1:0] instruction_i;
  logic [5*27-1:0] pass_i;
  assign instruction_i = {store_instruction_i, attend_instruction_i, heads_instruction_i,
                          product_instruction_i, rows_instruction_i};
  assign pass_i = {store_pass_i, attend_pass_i, heads_pass_i, product_pass_i, rows_pass_i};

  logic [511:0] sum_q, folded;
  logic [15:0] noise_q;
  logic [4:0] busy_q, wrote_q;
  logic [27:0] left_q[0:4];
  logic [15:0] work_q[0:4];
  logic [15:0] lines_q[0:4];
  logic [4:0] faults_q;
  logic [1:0] bank_q;
  logic [27:0] cache_q;
  logic [33:0] line_q;
  logic [15:0] row_q;
  logic greedy_q;
  logic [4:0] took, writes;

  assign folded = stream_data_i[511:0] ^ stream_data_i[1023:512] ^ stream_data_i[1535:1024] ^
      stream_data_i[2047:1536];
  assign start_ready_o = ~busy_q;
  assign busy_o = busy_q;
  assign stalled_on_output_o = '0;
  assign store_state_o = {3'd0, busy_q[4]};
  assign cache_write_bank_o = bank_q;
  assign cache_write_address_o = cache_q;
  assign cache_write_data_o = sum_q;
  assign cache_write_strobe_o = '1;
  assign host_write_address_o = line_q;
  assign host_write_data_o = sum_q;
  assign host_write_strobe_o = '1;
  assign cache_write_valid_o = busy_q[2] && !wrote_q[2] && work_q[2] == 16'd0;
  assign host_write_valid_o = busy_q[4] && !wrote_q[4] && work_q[4] == 16'd0;
  assign writes = {host_write_valid_o && host_write_ready_i, 1'b0,
                   cache_write_valid_o && cache_write_ready_i, 2'b00};
  assign took = stream_valid_i & stream_ready_o;
  assign greedy_valid_o = greedy_q && done_o[4];
  assign greedy_address_o = row_q;
  assign greedy_data_o = {sum_q[31:0], 32'(row_q)};

  for (genvar u = 0; u < 5; u++) begin : g_unit
    assign stream_ready_o[u] = busy_q[u] && left_q[u] != 28'd0 && noise_q[u +: 2] != 2'd0;
    assign stalled_on_input_o[u] = busy_q[u] && left_q[u] != 28'd0 && !stream_valid_i[u];
    assign fault_line_o[16*u+:16] = lines_q[u];
    assign fault_o[u] = done_o[u] && faults_q[u];
  end
  assign done_o[0] = busy_q[0] && left_q[0] == 28'd0 && work_q[0] == 16'd0;
  assign done_o[1] = busy_q[1] && left_q[1] == 28'd0 && work_q[1] == 16'd0;
  assign done_o[2] = busy_q[2] && wrote_q[2] && !cache_pending_i;
  assign done_o[3] = busy_q[3] && left_q[3] == 28'd0 && work_q[3] == 16'd0;
  assign done_o[4] = busy_q[4] && wrote_q[4] && !host_pending_i;

  always_ff @(posedge clk_i) begin
    noise_q <= !rst_ni ? 16'hACE1 : {noise_q[14:0], noise_q[15] ^ noise_q[13] ^ noise_q[12] ^ noise_q[10]};
    if (|took) sum_q <= {sum_q[510:0], sum_q[511]} ^ folded;
    if (pass_start_i) sum_q <= '0;
    if (!rst_ni) begin
      busy_q <= '0;
      wrote_q <= '0;
    end
    for (int u = 0; u < 5; u++) begin
      if (work_q[u] != 16'd0) work_q[u] <= work_q[u] - 16'd1;
      if (took[u]) left_q[u] <= left_q[u] - 28'd1;
      if (writes[u]) wrote_q[u] <= 1'b1;
      if (rst_ni && done_o[u]) begin
        busy_q[u] <= 1'b0;
        wrote_q[u] <= 1'b0;
      end
    end
    if (rst_ni) begin
      for (int u = 0; u < 5; u++) begin
        engine_pkg::instruction_t of;
        engine_pkg::pass_t rows;
        of = instruction_i[512*u+:512];
        rows = pass_i[27*u+:27];
        if (start_valid_i[u] && start_ready_o[u]) begin
          busy_q[u] <= 1'b1;
          work_q[u] <= of.gain;
          lines_q[u] <= of.line;
          faults_q[u] <= of.norm;
          left_q[u] <= of.op == engine_pkg::OpLoad ? of.stream_beats * 28'(rows.rows)
              : of.op == engine_pkg::OpProduct || of.op == engine_pkg::OpGain ? of.stream_beats : 28'd0;
          if (u == 2) begin
            bank_q <= of.columns[1:0];
            cache_q <= of.cache_base;
          end
          if (u == 4) begin
            line_q <= 34'(of.host_offset) + 34'(rows.first_row);
            row_q <= rows.first_row;
            greedy_q <= of.greedy;
          end
        end
      end
    end
  end
endmodule
