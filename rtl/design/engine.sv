// The decode engine: an AFU with a CSR port, a master for each of four DDR banks and one to host
// memory. rtl/README.md tells what it does; this file joins the parts and their six clocks.
//
// clk_i: the engine, 300 MHz, not below the banks'. bank_clk_i: the banks, 299.76 MHz each, mutually
// asynchronous. host_clk_i: CSRs and host memory, 250 MHz. All crossings are async_fifo,
// gray_counter, pulse_crossing, synchronizer, or settings that lie still while they are read.
// rst_ni is the platform's reset, bank_rst_ni that of each bank; both may come at any time.
// CSR port: AXI-Lite, 64-bit data, ids and users echoed. Bank ports: AXI4, 512 bits, INCR bursts of
// up to 64 beats within 4 KB, id = epoch; answers of a bank must come in order. Host port: AXI4, 512
// bits, single beats, id = {epoch, tag}; answers may come in any order, no sorting is assumed.
// A bank's reads and writes of one run that must keep an order are fenced by the answers.
module engine #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                             clk_i,
    input  logic                             host_clk_i,
    input  logic [                      3:0] bank_clk_i,
    input  logic                             rst_ni,
    input  logic [                      3:0] bank_rst_ni,
    // CSRs
    input  logic                             csr_awvalid_i,
    output logic                             csr_awready_o,
    input  logic [      csr_pkg::IdBits-1:0] csr_awid_i,
    input  logic [    csr_pkg::UserBits-1:0] csr_awuser_i,
    input  logic [ csr_pkg::AddressBits-1:0] csr_awaddr_i,
    input  logic                             csr_wvalid_i,
    output logic                             csr_wready_o,
    input  logic [                     63:0] csr_wdata_i,
    input  logic [                      7:0] csr_wstrb_i,
    output logic                             csr_bvalid_o,
    input  logic                             csr_bready_i,
    output logic [      csr_pkg::IdBits-1:0] csr_bid_o,
    output logic [    csr_pkg::UserBits-1:0] csr_buser_o,
    output logic [                      1:0] csr_bresp_o,
    input  logic                             csr_arvalid_i,
    output logic                             csr_arready_o,
    input  logic [      csr_pkg::IdBits-1:0] csr_arid_i,
    input  logic [    csr_pkg::UserBits-1:0] csr_aruser_i,
    input  logic [ csr_pkg::AddressBits-1:0] csr_araddr_i,
    output logic                             csr_rvalid_o,
    input  logic                             csr_rready_i,
    output logic [      csr_pkg::IdBits-1:0] csr_rid_o,
    output logic [    csr_pkg::UserBits-1:0] csr_ruser_o,
    output logic [                      1:0] csr_rresp_o,
    output logic [                     63:0] csr_rdata_o,
    // banks: bank b at [width * b +: width]
    output logic [                      3:0] bank_arvalid_o,
    input  logic [                      3:0] bank_arready_i,
    output logic [                  4*8-1:0] bank_arid_o,
    output logic [                 4*33-1:0] bank_araddr_o,
    output logic [                  4*8-1:0] bank_arlen_o,
    output logic [                  4*3-1:0] bank_arsize_o,
    output logic [                  4*2-1:0] bank_arburst_o,
    input  logic [                      3:0] bank_rvalid_i,
    output logic [                      3:0] bank_rready_o,
    input  logic [                  4*8-1:0] bank_rid_i,
    input  logic [                4*512-1:0] bank_rdata_i,
    input  logic [                  4*2-1:0] bank_rresp_i,
    input  logic [                      3:0] bank_rlast_i,
    output logic [                      3:0] bank_awvalid_o,
    input  logic [                      3:0] bank_awready_i,
    output logic [                  4*8-1:0] bank_awid_o,
    output logic [                 4*33-1:0] bank_awaddr_o,
    output logic [                  4*8-1:0] bank_awlen_o,
    output logic [                  4*3-1:0] bank_awsize_o,
    output logic [                  4*2-1:0] bank_awburst_o,
    output logic [                      3:0] bank_wvalid_o,
    input  logic [                      3:0] bank_wready_i,
    output logic [                4*512-1:0] bank_wdata_o,
    output logic [                 4*64-1:0] bank_wstrb_o,
    output logic [                      3:0] bank_wlast_o,
    input  logic [                      3:0] bank_bvalid_i,
    output logic [                      3:0] bank_bready_o,
    input  logic [                  4*8-1:0] bank_bid_i,
    input  logic [                  4*2-1:0] bank_bresp_i,
    // host
    output logic                             host_arvalid_o,
    input  logic                             host_arready_i,
    output logic [                     15:0] host_arid_o,
    output logic [                     63:0] host_araddr_o,
    output logic [                      7:0] host_arlen_o,
    output logic [                      2:0] host_arsize_o,
    output logic [                      1:0] host_arburst_o,
    input  logic                             host_rvalid_i,
    output logic                             host_rready_o,
    input  logic [                     15:0] host_rid_i,
    input  logic [                    511:0] host_rdata_i,
    input  logic [                      1:0] host_rresp_i,
    input  logic                             host_rlast_i,
    output logic                             host_awvalid_o,
    input  logic                             host_awready_i,
    output logic [                     15:0] host_awid_o,
    output logic [                     63:0] host_awaddr_o,
    output logic [                      7:0] host_awlen_o,
    output logic [                      2:0] host_awsize_o,
    output logic [                      1:0] host_awburst_o,
    output logic                             host_wvalid_o,
    input  logic                             host_wready_i,
    output logic [                    511:0] host_wdata_o,
    output logic [                     63:0] host_wstrb_o,
    output logic                             host_wlast_o,
    input  logic                             host_bvalid_i,
    output logic                             host_bready_o,
    input  logic [                     15:0] host_bid_i,
    input  logic [                      1:0] host_bresp_i
);
  initial begin
    if (Config.rows == 0 || Config.rows > 32 || Config.mac_rows == 0 || Config.mac_rows > 16 ||
        Config.mac_rows * Config.hold != Config.rows) begin
      $fatal(1, "engine: rows, mac_rows, hold: want 1 to 32, 1 to 16, and rows = mac_rows * hold");
    end
    if (Config.fifo_beats < 64) $fatal(1, "engine: fifo_beats: want at least a burst of 64");
  end

  // Resets: the platform's, and the soft one that all parts go through together.
  logic host_rst_n, reset, resetting, rst_n, engine_in_reset, unused_in_reset;
  logic [3:0] bank_hard_rst_n, bank_rst_n, bank_in_reset, bank_hard_in_reset;
  logic [4:0] in_reset;
  logic [7:0] epoch;
  logic soft_reset;

  reset_domain u_host_reset (
      .clk_i(host_clk_i),
      .rst_ni,
      .rst_no(host_rst_n),
      .in_reset_o(unused_in_reset)
  );
  reset_control u_reset (
      .clk_i(host_clk_i),
      .rst_ni(host_rst_n),
      .soft_reset_i(soft_reset),
      .in_reset_i({engine_in_reset, bank_in_reset}),
      .in_reset_o(in_reset),
      .reset_o(reset),
      .resetting_o(resetting),
      .epoch_o(epoch)
  );
  reset_domain u_engine_reset (
      .clk_i,
      .rst_ni(rst_ni && !reset),
      .rst_no(rst_n),
      .in_reset_o(engine_in_reset)
  );

  // Parts of the engine's clock, joined below.
  logic [3:0] command_ready, data_valid, bank_write_valid, bank_write_ready, bank_pending;
  logic command_valid, data_ready, command_go;
  logic [27:0] command_address;
  logic [6:0] command_beats;
  logic [2047:0] stream_data;
  logic [26:0] bank_write_address;
  logic [511:0] write_data;
  logic [63:0] write_strobe;
  logic [6*64-1:0] clocks;
  logic [3:0] bank_read_error, bank_write_error;  // levels, each in its bank's clock

  for (genvar b = 0; b < 4; b++) begin : g_bank
    logic bank_clk;
    assign bank_clk = bank_clk_i[b];

    reset_domain u_hard (
        .clk_i(bank_clk),
        .rst_ni(rst_ni && bank_rst_ni[b]),
        .rst_no(bank_hard_rst_n[b]),
        .in_reset_o(bank_hard_in_reset[b])
    );
    reset_domain u_soft (
        .clk_i(bank_clk),
        .rst_ni(rst_ni && bank_rst_ni[b] && !reset),
        .rst_no(bank_rst_n[b]),
        .in_reset_o(bank_in_reset[b])
    );
    clock_counter u_cycles (
        .measured_clk_i(bank_clk),
        .clk_i(host_clk_i),
        .rst_ni(host_rst_n),
        .cycles_o(clocks[64*(b+2)+:64])
    );
    bank_port #(
        .FifoBeats(Config.fifo_beats)
    ) u_port (
        .clk_i,
        .rst_ni(rst_n),
        .command_valid_i(command_go),
        .command_ready_o(command_ready[b]),
        .command_address_i(command_address[26:0]),
        .command_beats_i(command_beats),
        .data_valid_o(data_valid[b]),
        .data_ready_i(data_ready),
        .data_o(stream_data[512*b+:512]),
        .write_valid_i(bank_write_valid[b]),
        .write_ready_o(bank_write_ready[b]),
        .write_address_i(bank_write_address),
        .write_data_i(write_data),
        .write_strobe_i(write_strobe),
        .pending_o(bank_pending[b]),
        .bank_clk_i(bank_clk),
        .bank_rst_ni(bank_hard_rst_n[b]),
        .bank_soft_rst_ni(bank_rst_n[b]),
        .epoch_i(epoch),
        .read_error_o(bank_read_error[b]),
        .write_error_o(bank_write_error[b]),
        .arvalid_o(bank_arvalid_o[b]),
        .arready_i(bank_arready_i[b]),
        .arid_o(bank_arid_o[8*b+:8]),
        .araddr_o(bank_araddr_o[33*b+:33]),
        .arlen_o(bank_arlen_o[8*b+:8]),
        .rvalid_i(bank_rvalid_i[b]),
        .rready_o(bank_rready_o[b]),
        .rid_i(bank_rid_i[8*b+:8]),
        .rdata_i(bank_rdata_i[512*b+:512]),
        .rresp_i(bank_rresp_i[2*b+:2]),
        .awvalid_o(bank_awvalid_o[b]),
        .awready_i(bank_awready_i[b]),
        .awid_o(bank_awid_o[8*b+:8]),
        .awaddr_o(bank_awaddr_o[33*b+:33]),
        .wvalid_o(bank_wvalid_o[b]),
        .wready_i(bank_wready_i[b]),
        .wdata_o(bank_wdata_o[512*b+:512]),
        .wstrb_o(bank_wstrb_o[64*b+:64]),
        .bvalid_i(bank_bvalid_i[b]),
        .bready_o(bank_bready_o[b]),
        .bid_i(bank_bid_i[8*b+:8]),
        .bresp_i(bank_bresp_i[2*b+:2])
    );
  end

  assign bank_arsize_o = {4{3'd6}};
  assign bank_arburst_o = {4{2'd1}};
  assign bank_awlen_o = '0;
  assign bank_awsize_o = {4{3'd6}};
  assign bank_awburst_o = {4{2'd1}};
  assign bank_wlast_o = 4'hF;

  // Clocks for the CSRs to count.
  logic [63:0] host_cycles_q;

  always_ff @(posedge host_clk_i) begin
    host_cycles_q <= host_rst_n ? host_cycles_q + 64'd1 : 64'd0;
  end
  assign clocks[63:0] = host_cycles_q;
  clock_counter u_engine_cycles (
      .measured_clk_i(clk_i),
      .clk_i(host_clk_i),
      .rst_ni(host_rst_n),
      .cycles_o(clocks[127:64])
  );

  // CSRs.
  logic csr_start, csr_copy_start, finished_there, copied_there, failed_there, answer_there;
  logic failed, finished, copied, ask, ask_here, answer;
  logic [csr_pkg::EngineErrorBits-1:0] errors, errors_there;
  logic [31:0] watchdog_limit;
  logic [15:0] rows_total;
  logic [27:0] program_address, copy_memory, copy_lines;
  logic [255:0] identity;
  logic [57:0] copy_line;
  logic copy_to_host, rows_write, segment_write;
  logic [13:0] table_address;
  logic [63:0] table_data, rows_data, segment_data, greedy_read_data, register_data;
  logic [5:0] register_index;

  csr #(
      .Config(Config)
  ) u_csr (
      .clk_i(host_clk_i),
      .rst_ni(host_rst_n),
      .awvalid_i(csr_awvalid_i),
      .awready_o(csr_awready_o),
      .awid_i(csr_awid_i),
      .awuser_i(csr_awuser_i),
      .awaddr_i(csr_awaddr_i),
      .wvalid_i(csr_wvalid_i),
      .wready_o(csr_wready_o),
      .wdata_i(csr_wdata_i),
      .wstrb_i(csr_wstrb_i),
      .bvalid_o(csr_bvalid_o),
      .bready_i(csr_bready_i),
      .bid_o(csr_bid_o),
      .buser_o(csr_buser_o),
      .arvalid_i(csr_arvalid_i),
      .arready_o(csr_arready_o),
      .arid_i(csr_arid_i),
      .aruser_i(csr_aruser_i),
      .araddr_i(csr_araddr_i),
      .rvalid_o(csr_rvalid_o),
      .rready_i(csr_rready_i),
      .rid_o(csr_rid_o),
      .ruser_o(csr_ruser_o),
      .rdata_o(csr_rdata_o),
      .clocks_i(clocks),
      .epoch_i(epoch),
      .in_reset_i(in_reset),
      .resetting_i(resetting),
      .soft_reset_o(soft_reset),
      .start_o(csr_start),
      .copy_start_o(csr_copy_start),
      .finished_i(finished_there),
      .copied_i(copied_there),
      .failed_i(failed_there),
      .errors_i(errors_there),
      .watchdog_limit_o(watchdog_limit),
      .rows_total_o(rows_total),
      .program_o(program_address),
      .identity_o(identity),
      .copy_line_o(copy_line),
      .copy_memory_o(copy_memory),
      .copy_lines_o(copy_lines),
      .copy_to_host_o(copy_to_host),
      .table_address_o(table_address),
      .table_data_o(table_data),
      .rows_write_o(rows_write),
      .rows_data_i(rows_data),
      .segment_write_o(segment_write),
      .segment_data_i(segment_data),
      .greedy_data_i(greedy_read_data),
      .engine_ask_o(ask),
      .engine_index_o(register_index),
      .engine_answer_i(answer_there),
      .engine_data_i(register_data)
  );
  assign csr_bresp_o = 2'd0;
  assign csr_rresp_o = 2'd0;

  // Between the host's clock and the engine's.
  logic start, copy_start;
  logic [3:0] read_errors, write_errors;
  logic [2:0] host_errors, host_errors_there;  // read, write, segment

  pulse_crossing u_start (
      .source_clk_i(host_clk_i),
      .source_rst_ni(host_rst_n),
      .pulse_i(csr_start),
      .target_clk_i(clk_i),
      .target_rst_ni(rst_n),
      .pulse_o(start)
  );
  pulse_crossing u_copy_start (
      .source_clk_i(host_clk_i),
      .source_rst_ni(host_rst_n),
      .pulse_i(csr_copy_start),
      .target_clk_i(clk_i),
      .target_rst_ni(rst_n),
      .pulse_o(copy_start)
  );
  pulse_crossing u_finished (
      .source_clk_i(clk_i),
      .source_rst_ni(rst_n),
      .pulse_i(finished),
      .target_clk_i(host_clk_i),
      .target_rst_ni(!reset),
      .pulse_o(finished_there)
  );
  pulse_crossing u_copied (
      .source_clk_i(clk_i),
      .source_rst_ni(rst_n),
      .pulse_i(copied),
      .target_clk_i(host_clk_i),
      .target_rst_ni(!reset),
      .pulse_o(copied_there)
  );
  synchronizer #(
      .Bits(csr_pkg::EngineErrorBits + 2)
  ) u_to_host (
      .clk_i(host_clk_i),
      .d_i({answer, failed, errors}),
      .q_o({answer_there, failed_there, errors_there})
  );
  synchronizer #(
      .Bits(12)
  ) u_to_engine (
      .clk_i,
      .d_i({ask, bank_read_error, bank_write_error, host_errors_there}),
      .q_o({ask_here, read_errors, write_errors, host_errors})
  );

  // Tables of two clocks.
  logic program_dispatch_valid, program_dispatch_ready, program_dispatch_data_valid;
  logic program_fetch_valid, program_fetch_ready, program_fetch_data_valid;
  logic [15:0] program_dispatch_address, program_fetch_address, program_write_address;
  logic program_write_valid;
  logic [511:0] program_data;
  logic table_dispatch_valid, table_dispatch_ready, table_dispatch_data_valid;
  logic table_fetch_valid, table_fetch_ready, table_fetch_data_valid;
  logic [15:0] table_dispatch_address, table_fetch_address;
  logic [63:0] table_read_data;
  logic greedy_valid;
  logic [15:0] greedy_address;
  logic [63:0] greedy_data;

  row_table #(
      .Config(Config)
  ) u_row_table (
      .host_clk_i,
      .host_write_valid_i(rows_write),
      .host_address_i(table_address),
      .host_data_i(table_data),
      .host_data_o(rows_data),
      .clk_i,
      .rst_ni(rst_n),
      .dispatch_valid_i(table_dispatch_valid),
      .dispatch_ready_o(table_dispatch_ready),
      .dispatch_address_i(table_dispatch_address),
      .dispatch_data_valid_o(table_dispatch_data_valid),
      .fetch_valid_i(table_fetch_valid),
      .fetch_ready_o(table_fetch_ready),
      .fetch_address_i(table_fetch_address),
      .fetch_data_valid_o(table_fetch_data_valid),
      .data_o(table_read_data)
  );
  greedy_table #(
      .Config(Config)
  ) u_greedy_table (
      .clk_i,
      .write_valid_i(greedy_valid),
      .write_address_i(greedy_address),
      .write_data_i(greedy_data),
      .host_clk_i,
      .host_address_i(table_address),
      .host_data_o(greedy_read_data)
  );
  program_memory #(
      .Config(Config)
  ) u_program_memory (
      .clk_i,
      .rst_ni(rst_n),
      .write_valid_i(program_write_valid),
      .write_address_i(program_write_address),
      .write_data_i(stream_data),
      .dispatch_valid_i(program_dispatch_valid),
      .dispatch_ready_o(program_dispatch_ready),
      .dispatch_address_i(program_dispatch_address),
      .dispatch_data_valid_o(program_dispatch_data_valid),
      .fetch_valid_i(program_fetch_valid),
      .fetch_ready_o(program_fetch_ready),
      .fetch_address_i(program_fetch_address),
      .fetch_data_valid_o(program_fetch_data_valid),
      .data_o(program_data)
  );

  // Loader, DMA, dispatcher, fetcher, router.
  logic load, loaded, identity_error, program_error, load_busy, run, run_ended, illegal;
  logic copy, copy_ended, copy_busy, active, begin_run, pass_start, running;
  logic [255:0] loaded_identity;
  logic [2:0] load_state, copy_state, router_unit;
  logic [3:0] dispatch_state, fetch_state, store_state;
  logic [1:0] run_state;
  logic load_range_valid, copy_range_valid, range_ready, fetch_idle;
  logic [27:0] load_range_address, load_range_count, copy_range_address, copy_range_count;
  logic [27:0] copied_lines, turn_count;
  logic turn_valid, turn_ready, turn, unit_ready, taken;
  logic [2:0] turn_unit;
  logic [6:0] stream_valid, stream_ready;
  logic [4:0] start_valid, start_ready, done, fault, busy, stalled_on_input, stalled_on_output;
  logic [511:0] rows_instruction, product_instruction, heads_instruction, attend_instruction;
  logic [511:0] store_instruction;
  logic [26:0] rows_pass, product_pass, heads_pass, attend_pass, store_pass;
  logic [79:0] ended, fault_lines;
  logic [15:0] pass, fault_line;
  logic [Config.rows*32-1:0] positions;
  logic fault_seen, write_pending, write_beyond, beyond, host_pending;

  program_loader #(
      .Config(Config)
  ) u_loader (
      .clk_i,
      .rst_ni(rst_n),
      .start_i(load),
      .program_address_i(program_address),
      .identity_i(identity),
      .busy_o(load_busy),
      .done_o(loaded),
      .identity_error_o(identity_error),
      .program_error_o(program_error),
      .loaded_o(loaded_identity),
      .state_o(load_state),
      .range_valid_o(load_range_valid),
      .range_ready_i(range_ready),
      .range_address_o(load_range_address),
      .range_count_o(load_range_count),
      .stream_valid_i(stream_valid[5]),
      .stream_ready_o(stream_ready[5]),
      .stream_data_i(stream_data),
      .write_valid_o(program_write_valid),
      .write_address_o(program_write_address)
  );

  logic dispatcher_clk, dispatcher_wake;
  clock_gate u_dispatcher_clk (
      .clk_i,
      .rst_ni(rst_n),
      .wake_i(dispatcher_wake),
      .clk_o(dispatcher_clk)
  );
  dispatcher #(
      .Config(Config)
  ) u_dispatcher (
      .clk_i(dispatcher_clk),
      .rst_ni(rst_n),
      .start_i(run),
      .halt_i(failed),
      .quiet_i(fetch_idle && !write_pending && !host_pending),
      .rows_total_i(rows_total),
      .running_o(running),
      .finished_o(run_ended),
      .pass_start_o(pass_start),
      .illegal_o(illegal),
      .wake_o(dispatcher_wake),
      .state_o(dispatch_state),
      .pass_o(pass),
      .program_valid_o(program_dispatch_valid),
      .program_ready_i(program_dispatch_ready),
      .program_address_o(program_dispatch_address),
      .program_data_valid_i(program_dispatch_data_valid),
      .program_data_i(program_data),
      .table_valid_o(table_dispatch_valid),
      .table_ready_i(table_dispatch_ready),
      .table_address_o(table_dispatch_address),
      .table_data_valid_i(table_dispatch_data_valid),
      .table_data_i(table_read_data),
      .positions_o(positions),
      .start_valid_o(start_valid),
      .start_ready_i(start_ready),
      .rows_instruction_o(rows_instruction),
      .product_instruction_o(product_instruction),
      .heads_instruction_o(heads_instruction),
      .attend_instruction_o(attend_instruction),
      .store_instruction_o(store_instruction),
      .rows_pass_o(rows_pass),
      .product_pass_o(product_pass),
      .heads_pass_o(heads_pass),
      .attend_pass_o(attend_pass),
      .store_pass_o(store_pass),
      .done_i(done),
      .ended_o(ended)
  );

  stream_fetch #(
      .Config(Config)
  ) u_fetch (
      .clk_i,
      .rst_ni(rst_n),
      .start_i(run),
      .rows_total_i(rows_total),
      .idle_o(fetch_idle),
      .state_o(fetch_state),
      .program_valid_o(program_fetch_valid),
      .program_ready_i(program_fetch_ready),
      .program_address_o(program_fetch_address),
      .program_data_valid_i(program_fetch_data_valid),
      .program_data_i(program_data),
      .table_valid_o(table_fetch_valid),
      .table_ready_i(table_fetch_ready),
      .table_address_o(table_fetch_address),
      .table_data_valid_i(table_fetch_data_valid),
      .table_data_i(table_read_data),
      .pass_i(pass),
      .heads_ended_i(ended[16*engine_pkg::UnitHeads+:16]),
      .range_valid_i(load_range_valid || copy_range_valid),
      .range_ready_o(range_ready),
      .range_address_i(load_range_valid ? load_range_address : copy_range_address),
      .range_count_i(load_range_valid ? load_range_count : copy_range_count),
      .range_unit_i(load_range_valid ? 3'd5 : 3'd6),
      .turn_valid_o(turn_valid),
      .turn_ready_i(turn_ready),
      .turn_unit_o(turn_unit),
      .turn_count_o(turn_count),
      .command_valid_o(command_valid),
      .command_ready_i(&command_ready),
      .command_address_o(command_address),
      .command_beats_o(command_beats),
      .taken_i(taken)
  );
  // All banks take a command at once; one that lies outside the memory goes to none.
  assign command_go = command_valid && &command_ready && !command_address[27];
  assign beyond = (command_valid && command_address[27]) || write_beyond;

  stream_router u_router (
      .clk_i,
      .rst_ni(rst_n),
      .turn_valid_i(turn_valid),
      .turn_ready_o(turn_ready),
      .turn_unit_i(turn_unit),
      .turn_count_i(turn_count),
      .data_valid_i(data_valid),
      .data_ready_o(data_ready),
      .stream_valid_o(stream_valid),
      .stream_ready_i(stream_ready),
      .taken_o(taken),
      .turn_o(turn),
      .unit_o(router_unit),
      .unit_ready_o(unit_ready)
  );

  // Writes to the banks and to the host: the units' in a run, the DMA's in a copy.
  logic copy_write_valid, copy_write_ready, copy_host_valid, copy_host_ready;
  logic [1:0] copy_write_bank, unit_write_bank;
  logic [27:0] copy_write_address, unit_write_address;
  logic [511:0] copy_write_data, unit_write_data, unit_host_data;
  logic [1:0] copy_host_part;
  logic [63:0] unit_write_strobe, unit_host_strobe;
  logic unit_write_valid, unit_write_ready, unit_host_valid, unit_host_ready;
  logic write_taken, host_taken;
  logic [33:0] unit_host_address;
  logic [57:0] copy_host_line, read_line;
  logic read_valid, read_ready, read_data_valid, read_data_ready;
  logic [7:0] read_tag, read_data_tag;
  logic [511:0] read_data;

  dma u_dma (
      .clk_i,
      .rst_ni(rst_n),
      .start_i(copy),
      .to_host_i(copy_to_host),
      .host_line_i(copy_line),
      .memory_i(copy_memory),
      .lines_i(copy_lines),
      .busy_o(copy_busy),
      .done_o(copy_ended),
      .state_o(copy_state),
      .lines_done_o(copied_lines),
      .read_valid_o(read_valid),
      .read_ready_i(read_ready),
      .read_line_o(read_line),
      .read_tag_o(read_tag),
      .data_valid_i(read_data_valid),
      .data_ready_o(read_data_ready),
      .data_tag_i(read_data_tag),
      .data_i(read_data),
      .host_write_valid_o(copy_host_valid),
      .host_write_ready_i(copy_host_ready),
      .host_write_line_o(copy_host_line),
      .host_write_part_o(copy_host_part),
      .host_pending_i(host_pending),
      .write_valid_o(copy_write_valid),
      .write_ready_i(copy_write_ready),
      .write_bank_o(copy_write_bank),
      .write_address_o(copy_write_address),
      .write_data_o(copy_write_data),
      .write_pending_i(write_pending),
      .range_valid_o(copy_range_valid),
      .range_ready_i(range_ready),
      .range_address_o(copy_range_address),
      .range_count_o(copy_range_count),
      .stream_valid_i(stream_valid[6]),
      .stream_ready_o(stream_ready[6])
  );

  cache_writer u_cache_writer (
      .clk_i,
      .rst_ni(rst_n),
      .copy_i(copy_busy),
      .unit_valid_i(unit_write_valid),
      .unit_ready_o(unit_write_ready),
      .unit_bank_i(unit_write_bank),
      .unit_address_i(unit_write_address),
      .unit_data_i(unit_write_data),
      .unit_strobe_i(unit_write_strobe),
      .copy_valid_i(copy_write_valid),
      .copy_ready_o(copy_write_ready),
      .copy_bank_i(copy_write_bank),
      .copy_address_i(copy_write_address),
      .copy_data_i(copy_write_data),
      .bank_valid_o(bank_write_valid),
      .bank_ready_i(bank_write_ready),
      .bank_address_o(bank_write_address),
      .bank_data_o(write_data),
      .bank_strobe_o(write_strobe),
      .bank_pending_i(bank_pending),
      .pending_o(write_pending),
      .beyond_o(write_beyond),
      .taken_o(write_taken)
  );

  host_port u_host (
      .clk_i,
      .rst_ni(rst_n),
      .copy_i(copy_busy),
      .unit_valid_i(unit_host_valid),
      .unit_ready_o(unit_host_ready),
      .unit_line_i(unit_host_address),
      .unit_data_i(unit_host_data),
      .unit_strobe_i(unit_host_strobe),
      .copy_valid_i(copy_host_valid),
      .copy_ready_o(copy_host_ready),
      .copy_line_i(copy_host_line),
      .copy_part_i(copy_host_part),
      .copy_data_i(stream_data),
      .taken_o(host_taken),
      .pending_o(host_pending),
      .read_valid_i(read_valid),
      .read_ready_o(read_ready),
      .read_line_i(read_line),
      .read_tag_i(read_tag),
      .data_valid_o(read_data_valid),
      .data_ready_i(read_data_ready),
      .data_tag_o(read_data_tag),
      .data_o(read_data),
      .host_clk_i,
      .host_rst_ni(host_rst_n),
      .soft_rst_ni(!reset),
      .epoch_i(epoch),
      .segment_write_i(segment_write),
      .segment_address_i(table_address[8:0]),
      .segment_data_i(table_data),
      .segment_data_o(segment_data),
      .read_error_o(host_errors_there[2]),
      .write_error_o(host_errors_there[1]),
      .segment_error_o(host_errors_there[0]),
      .arvalid_o(host_arvalid_o),
      .arready_i(host_arready_i),
      .arid_o(host_arid_o),
      .araddr_o(host_araddr_o),
      .rvalid_i(host_rvalid_i),
      .rready_o(host_rready_o),
      .rid_i(host_rid_i),
      .rdata_i(host_rdata_i),
      .rresp_i(host_rresp_i),
      .awvalid_o(host_awvalid_o),
      .awready_i(host_awready_i),
      .awid_o(host_awid_o),
      .awaddr_o(host_awaddr_o),
      .wvalid_o(host_wvalid_o),
      .wready_i(host_wready_i),
      .wdata_o(host_wdata_o),
      .wstrb_o(host_wstrb_o),
      .bvalid_i(host_bvalid_i),
      .bready_o(host_bready_o),
      .bid_i(host_bid_i),
      .bresp_i(host_bresp_i)
  );

  assign host_arlen_o = '0;
  assign host_arsize_o = 3'd6;
  assign host_arburst_o = 2'd1;
  assign host_awlen_o = '0;
  assign host_awsize_o = 3'd6;
  assign host_awburst_o = 2'd1;
  assign host_wlast_o = 1'b1;

  // The units.
  engine_units #(
      .Config(Config)
  ) u_units (
      .clk_i,
      .rst_ni(rst_n),
      .pass_start_i(pass_start),
      .start_valid_i(start_valid),
      .start_ready_o(start_ready),
      .rows_instruction_i(rows_instruction),
      .product_instruction_i(product_instruction),
      .heads_instruction_i(heads_instruction),
      .attend_instruction_i(attend_instruction),
      .store_instruction_i(store_instruction),
      .rows_pass_i(rows_pass),
      .product_pass_i(product_pass),
      .heads_pass_i(heads_pass),
      .attend_pass_i(attend_pass),
      .store_pass_i(store_pass),
      .done_o(done),
      .ended_i(ended),
      .positions_i(positions),
      .fault_o(fault),
      .fault_line_o(fault_lines),
      .stream_valid_i(stream_valid[4:0]),
      .stream_ready_o(stream_ready[4:0]),
      .stream_data_i(stream_data),
      .cache_write_valid_o(unit_write_valid),
      .cache_write_ready_i(unit_write_ready),
      .cache_write_bank_o(unit_write_bank),
      .cache_write_address_o(unit_write_address),
      .cache_write_data_o(unit_write_data),
      .cache_write_strobe_o(unit_write_strobe),
      .cache_pending_i(write_pending),
      .host_write_valid_o(unit_host_valid),
      .host_write_ready_i(unit_host_ready),
      .host_write_address_o(unit_host_address),
      .host_write_data_o(unit_host_data),
      .host_write_strobe_o(unit_host_strobe),
      .host_pending_i(host_pending),
      .greedy_valid_o(greedy_valid),
      .greedy_address_o(greedy_address),
      .greedy_data_o(greedy_data),
      .busy_o(busy),
      .stalled_on_input_o(stalled_on_input),
      .stalled_on_output_o(stalled_on_output),
      .store_state_o(store_state)
  );

  // Runs, errors, watchdog, counters.
  logic moves;
  logic [63:0] waits, cause, states;
  logic [31:0] runs;

  assign moves = taken || |(start_valid & start_ready) || |done || write_taken || host_taken ||
      (read_data_valid && read_data_ready) || program_write_valid;
  assign waits = {
    19'd0,
    stalled_on_output,                        // [44:40]
    3'd0,
    stalled_on_input,                         // [36:32]
    fetch_state,                              // [31:28]
    dispatch_state,                           // [27:24]
    2'd0,
    turn,                                     // [21]
    copy_busy,                                // [20]
    load_busy,                                // [19]
    router_unit,                              // [18:16]
    1'b0,
    host_pending,                             // [14]
    copy_busy && read_data_ready && copy_state == 3'd1,  // [13]: lines of the host
    busy,                                     // [12:8]
    bank_pending,                             // [7:4]
    turn ? ~data_valid : 4'd0                 // [3:0]: banks that owe a beat
  };
  assign states = {
    16'd0, pass, running, 3'd0, turn, router_unit, 2'd0, run_state, 1'b0, copy_state, 1'b0, load_state,
    store_state, fetch_state, dispatch_state
  };

  run_control #(
      .Config(Config)
  ) u_run (
      .clk_i,
      .rst_ni(rst_n),
      .start_i(start),
      .copy_start_i(copy_start),
      .watchdog_limit_i(watchdog_limit),
      .rows_total_i(rows_total),
      .load_o(load),
      .loaded_i(loaded),
      .identity_error_i(identity_error),
      .program_error_i(program_error),
      .run_o(run),
      .run_ended_i(run_ended),
      .illegal_i(illegal),
      .copy_o(copy),
      .copy_ended_i(copy_ended),
      .active_o(active),
      .begin_o(begin_run),
      .finished_o(finished),
      .copied_o(copied),
      .failed_o(failed),
      .bank_read_error_i(read_errors),
      .bank_write_error_i(write_errors),
      .host_read_error_i(host_errors[2]),
      .host_write_error_i(host_errors[1]),
      .segment_error_i(host_errors[0]),
      .beyond_i(beyond),
      .errors_o(errors),
      .moves_i(moves),
      .waits_i(waits),
      .cause_o(cause),
      .fault_i(fault),
      .fault_line_i(fault_lines),
      .fault_o(fault_seen),
      .fault_line_o(fault_line),
      .state_o(run_state),
      .runs_o(runs)
  );

  engine_registers u_registers (
      .clk_i,
      .rst_ni(rst_n),
      .begin_i(begin_run),
      .active_i(active),
      .turn_i(turn),
      .unit_i(router_unit),
      .unit_ready_i(unit_ready),
      .taken_i(taken),
      .bank_valid_i(data_valid),
      .bank_write_i(bank_write_valid & bank_write_ready),
      .busy_i(busy),
      .stalled_on_input_i(stalled_on_input),
      .stalled_on_output_i(stalled_on_output),
      .writes_pending_i(write_pending),
      .pass_start_i(pass_start),
      .fault_i(fault_seen),
      .fault_line_i(fault_line),
      .cause_i(cause),
      .states_i(states),
      .copied_lines_i(copied_lines),
      .loaded_i(loaded_identity),
      .runs_i(runs),
      .ask_i(ask_here),
      .index_i(register_index),
      .answer_o(answer),
      .data_o(register_data)
  );
endmodule
