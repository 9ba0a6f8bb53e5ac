// Begins runs and copies, watches over them, and keeps what went wrong.
//
// A run: the program is loaded, then dispatcher and fetcher start; finished_o is a pulse at its end.
// A copy: the DMA starts; copied_o is a pulse at its end. An error of any kind raises its level and
// failed_o, which halts the dispatcher; the levels stay until a reset. While something runs and for
// `watchdog_limit_i` cycles nothing moves (a super-beat, an instruction begun or ended, a write, a
// line), the watchdog raises its error and keeps `cause_o`: who waited then (csr_pkg,
// rtl/README.md). fault: the lowest line of the program that raised FAULT in this run.
// Settings are read while the engine works, when they lie still. Reset ends all.
module run_control #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    input  logic                                start_i,
    input  logic                                copy_start_i,
    input  logic [                        31:0] watchdog_limit_i,
    input  logic [                        15:0] rows_total_i,
    // parts
    output logic                                load_o,
    input  logic                                loaded_i,
    input  logic                                identity_error_i,
    input  logic                                program_error_i,
    output logic                                run_o,
    input  logic                                run_ended_i,
    input  logic                                illegal_i,
    output logic                                copy_o,
    input  logic                                copy_ended_i,
    output logic                                active_o,       // from start to end, for the counters
    output logic                                begin_o,        // a run begins: counters clear
    output logic                                finished_o,
    output logic                                copied_o,
    output logic                                failed_o,
    // errors of others: levels, synchronized
    input  logic [                         3:0] bank_read_error_i,
    input  logic [                         3:0] bank_write_error_i,
    input  logic                                host_read_error_i,
    input  logic                                host_write_error_i,
    input  logic                                segment_error_i,
    input  logic                                beyond_i,       // a pulse: an address outside a bank
    output logic [csr_pkg::EngineErrorBits-1:0] errors_o,
    // watchdog
    input  logic                                moves_i,
    input  logic [                        63:0] waits_i,
    output logic [                        63:0] cause_o,
    // FAULT
    input  logic [                         4:0] fault_i,
    input  logic [                      5*16-1:0] fault_line_i,
    output logic                                fault_o,
    output logic [                        15:0] fault_line_o,
    output logic [                         1:0] state_o,
    output logic [                        31:0] runs_o
);
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Load = 2'd1,
    Run = 2'd2,
    Copy = 2'd3
  } state_e;

  state_e state_q, state_d;
  logic rows_error, watchdog;
  logic [31:0] still_q;

  assign rows_error = start_i && (rows_total_i == 16'd0 || 32'(rows_total_i) > Config.table_rows);
  assign begin_o = state_q == Idle && start_i && !failed_o;
  assign load_o = begin_o && !rows_error;
  assign run_o = state_q == Load && loaded_i;
  assign copy_o = state_q == Idle && copy_start_i && !failed_o;
  assign finished_o = state_q == Run && run_ended_i && !failed_o;
  assign copied_o = state_q == Copy && copy_ended_i && !failed_o;
  assign active_o = state_q == Load || state_q == Run;
  assign state_o = state_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: begin
        if (load_o) state_d = Load;
        else if (copy_o) state_d = Copy;
      end
      Load: if (loaded_i) state_d = Run;
      Run: if (run_ended_i) state_d = Idle;
      default: if (copy_ended_i) state_d = Idle;
    endcase
    if (failed_o) state_d = Idle;
  end

  // Errors.
  logic [csr_pkg::EngineErrorBits-1:0] raised;

  always_comb begin
    raised = '0;
    raised[csr_pkg::ErrorBankRead+:4] = bank_read_error_i;
    raised[csr_pkg::ErrorBankWrite+:4] = bank_write_error_i;
    raised[csr_pkg::ErrorHostRead] = host_read_error_i;
    raised[csr_pkg::ErrorHostWrite] = host_write_error_i;
    raised[csr_pkg::ErrorIdentity] = identity_error_i;
    raised[csr_pkg::ErrorProgram] = program_error_i;
    raised[csr_pkg::ErrorInstruction] = illegal_i;
    raised[csr_pkg::ErrorWatchdog] = watchdog;
    raised[csr_pkg::ErrorAddress] = beyond_i;
    raised[csr_pkg::ErrorSegment] = segment_error_i;
    raised[csr_pkg::ErrorRows] = rows_error;
  end

  assign watchdog = state_q != Idle && !moves_i && still_q == watchdog_limit_i && !failed_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      errors_o <= '0;
      failed_o <= 1'b0;
      still_q <= '0;
      runs_o <= '0;
    end else begin
      state_q <= state_d;
      errors_o <= errors_o | raised;
      failed_o <= failed_o || raised != '0;
      still_q <= state_q == Idle || moves_i ? 32'd0 : still_q + 32'd1;
      if (finished_o) runs_o <= runs_o + 32'd1;
    end
    if (begin_o) cause_o <= '0;
    else if (watchdog) cause_o <= waits_i;
  end

  // The lowest of the lines that have faulted, those of this cycle included.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || begin_o) fault_o <= 1'b0;
    else if (fault_i != 5'd0) fault_o <= 1'b1;
    if (fault_i != 5'd0) begin : compare
      logic [15:0] lowest;
      lowest = fault_o ? fault_line_o : 16'hFFFF;
      for (int u = 0; u < 5; u++) begin
        if (fault_i[u] && fault_line_i[16*u+:16] < lowest) lowest = fault_line_i[16*u+:16];
      end
      fault_line_o <= lowest;
    end
  end
endmodule
