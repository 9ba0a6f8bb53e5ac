// The host's registers: an AXI-Lite slave of 64-bit data in the host's clock.
//
// One access at a time, reads and writes in turn; ids and users are echoed; `wstrb` is honoured in
// every register and table. A read looks at the whole 8 bytes of its address; what is not defined
// reads 0, and a write to it is answered and does nothing. Every answer comes within 100 cycles:
// registers of the engine's clock are asked for by a handshake, and where the engine has not answered
// after 64 cycles the read gives 0, `EngineSilent` is set, and further ones give 0 at once until
// the engine answers again.
// Settings lie still while the engine works: their writes are ignored (Refused) during a run or a
// copy. Start and copy are refused during either, after a failure and in a reset.
// Stream law at the AXI-Lite port. Reset (of the platform) sets all registers to their defaults.
module csr #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    // AXI-Lite
    input  logic                               awvalid_i,
    output logic                               awready_o,
    input  logic [        csr_pkg::IdBits-1:0] awid_i,
    input  logic [      csr_pkg::UserBits-1:0] awuser_i,
    input  logic [   csr_pkg::AddressBits-1:0] awaddr_i,
    input  logic                               wvalid_i,
    output logic                               wready_o,
    input  logic [                       63:0] wdata_i,
    input  logic [                        7:0] wstrb_i,
    output logic                               bvalid_o,
    input  logic                               bready_i,
    output logic [        csr_pkg::IdBits-1:0] bid_o,
    output logic [      csr_pkg::UserBits-1:0] buser_o,
    input  logic                               arvalid_i,
    output logic                               arready_o,
    input  logic [        csr_pkg::IdBits-1:0] arid_i,
    input  logic [      csr_pkg::UserBits-1:0] aruser_i,
    input  logic [   csr_pkg::AddressBits-1:0] araddr_i,
    output logic                               rvalid_o,
    input  logic                               rready_i,
    output logic [        csr_pkg::IdBits-1:0] rid_o,
    output logic [      csr_pkg::UserBits-1:0] ruser_o,
    output logic [                       63:0] rdata_o,
    // clock counters, epoch and resets
    input  logic [                    6*64-1:0] clocks_i,       // host, engine, banks
    input  logic [                        7:0] epoch_i,
    input  logic [                        4:0] in_reset_i,     // banks, engine [4]
    input  logic                               resetting_i,
    output logic                               soft_reset_o,   // a pulse
    // run and copy
    output logic                               start_o,        // a pulse
    output logic                               copy_start_o,   // a pulse
    input  logic                               finished_i,     // a pulse
    input  logic                               copied_i,       // a pulse
    input  logic                               failed_i,       // level of another clock, synchronized
    input  logic [csr_pkg::EngineErrorBits-1:0] errors_i,      // likewise
    output logic [                       31:0] watchdog_limit_o,
    output logic [                       15:0] rows_total_o,
    output logic [                       27:0] program_o,
    output logic [                      255:0] identity_o,
    output logic [                       57:0] copy_line_o,    // host address / 64
    output logic [                       27:0] copy_memory_o,
    output logic [                       27:0] copy_lines_o,   // bytes / 64
    output logic                               copy_to_host_o,
    // tables; data 1 cycle after the address
    output logic [                       13:0] table_address_o,
    output logic [                       63:0] table_data_o,
    output logic                               rows_write_o,
    input  logic [                       63:0] rows_data_i,
    output logic                               segment_write_o,
    input  logic [                       63:0] segment_data_i,
    input  logic [                       63:0] greedy_data_i,
    // registers of the engine's clock
    output logic                               engine_ask_o,   // changes with each question
    output logic [                        5:0] engine_index_o,
    input  logic                               engine_answer_i,  // follows, synchronized
    input  logic [                       63:0] engine_data_i     // still while the answer stands
);
  typedef enum logic [2:0] {
    Idle = 3'd0,
    Look = 3'd1,         // the tables are asked
    Take = 3'd7,         // and their data are here
    AskEngine = 3'd2,
    Answer = 3'd3,       // of a read
    LookWrite = 3'd4,
    Write = 3'd5,
    AnswerWrite = 3'd6
  } state_e;

  state_e state_q, state_d;
  logic prefer_write_q;
  logic [17:3] address_q;
  logic [63:0] data_q;
  logic [7:0] strobe_q;
  logic take_read, take_write, seen_write_q, seen_read_q;

  // A request is taken when it has been seen for a cycle; ready comes in the cycle after. By then its
  // valid of old is gone from these registers.
  always_ff @(posedge clk_i) begin
    seen_write_q <= awvalid_i && wvalid_i;
    seen_read_q <= arvalid_i;
  end

  assign take_write = state_q == Idle && seen_write_q && (prefer_write_q || !seen_read_q);
  assign take_read = state_q == Idle && seen_read_q && !take_write;
  assign awready_o = state_q == LookWrite;
  assign wready_o = state_q == LookWrite;
  assign arready_o = state_q == Look;
  assign bvalid_o = state_q == AnswerWrite;
  assign rvalid_o = state_q == Answer;

  // Where the address points.
  logic in_registers, in_engine, in_segments, in_greedy, in_rows;
  logic [6:0] register;

  assign in_registers = address_q[17:10] == 8'd0 && !address_q[9];
  assign in_engine = address_q[17:10] == 8'd0 && address_q[9];
  assign in_segments = address_q[17:12] == 6'h08;
  assign in_greedy = address_q[17:16] == 2'd1;
  assign in_rows = address_q[17] && 32'(address_q[16:3]) < Config.table_rows;
  assign register = {1'b0, address_q[8:3]};

  // Settings and their writes.
  logic running_q, copying_q, done_q, copied_q, working;
  logic [31:0] scratch32_q;
  logic [63:0] scratch64_q, copy_host_q, copy_bytes_q, merged, old;
  logic write, write_register, refused;
  logic [csr_pkg::ErrorBits-1:0] errors_q, raised, cleared;
  logic [csr_pkg::EngineErrorBits-1:0] seen_q;
  logic silent, may_start;

  assign working = running_q || copying_q;
  assign write = state_q == Write;
  assign write_register = write && in_registers;

  always_comb begin
    for (int b = 0; b < 8; b++) merged[8*b+:8] = strobe_q[b] ? data_q[8*b+:8] : old[8*b+:8];
  end

  // What the registers read as. Settings read back here are what a partial write is merged with.
  logic [63:0] register_data;
  logic [63:0] status;

  assign status = {
    39'd0,
    in_reset_i,
    4'd0,
    epoch_i,
    2'd0,
    copied_q,
    copying_q,
    resetting_i,
    failed_i,
    done_q,
    running_q
  };
  always_comb begin
    register_data = '0;
    unique case (register)
      csr_pkg::Dfh: register_data = csr_pkg::DfhValue;
      csr_pkg::GuidLow: register_data = csr_pkg::GuidLowValue;
      csr_pkg::GuidHigh: register_data = csr_pkg::GuidHighValue;
      csr_pkg::Version: register_data = csr_pkg::VersionValue;
      csr_pkg::Capabilities: begin
        register_data = {
          Config.table_rows[15:0], Config.instructions[15:0], Config.fifo_beats[15:0],
          Config.mac_rows[7:0], Config.rows[7:0]
        };
      end
      csr_pkg::Capacities: begin
        register_data = {
          Config.gain_words[15:0], Config.query_words[15:0], Config.activation_words[15:0],
          Config.vector_words[15:0]
        };
      end
      csr_pkg::AttendCapacities: register_data = {Config.positions, Config.scores};
      csr_pkg::Scratch32: register_data = {32'd0, scratch32_q};
      csr_pkg::Scratch64: register_data = scratch64_q;
      csr_pkg::ClockHost: register_data = clocks_i[63:0];
      csr_pkg::ClockEngine: register_data = clocks_i[127:64];
      csr_pkg::ClockBank0: register_data = clocks_i[191:128];
      csr_pkg::ClockBank0 + 7'd1: register_data = clocks_i[255:192];
      csr_pkg::ClockBank0 + 7'd2: register_data = clocks_i[319:256];
      csr_pkg::ClockBank0 + 7'd3: register_data = clocks_i[383:320];
      csr_pkg::Status: register_data = status;
      csr_pkg::Errors: register_data = 64'(errors_q);
      csr_pkg::WatchdogLimit: register_data = {32'd0, watchdog_limit_o};
      csr_pkg::RowsTotal: register_data = {48'd0, rows_total_o};
      csr_pkg::Program: register_data = {36'd0, program_o};
      csr_pkg::Identity0: register_data = identity_o[63:0];
      csr_pkg::Identity0 + 7'd1: register_data = identity_o[127:64];
      csr_pkg::Identity0 + 7'd2: register_data = identity_o[191:128];
      csr_pkg::Identity0 + 7'd3: register_data = identity_o[255:192];
      csr_pkg::DmaHost: register_data = copy_host_q;
      csr_pkg::DmaMemory: register_data = {36'd0, copy_memory_o};
      csr_pkg::DmaBytes: register_data = copy_bytes_q;
      csr_pkg::DmaControl: register_data = {62'd0, copy_to_host_o, 1'b0};
      default: ;
    endcase
  end

  always_comb begin
    old = '0;
    if (in_registers) old = register_data;
    else if (in_rows) old = rows_data_i;
    else if (in_segments) old = segment_data_i;
    else if (in_greedy) old = greedy_data_i;
  end

  // Writes that change what the engine does; the engine reads the settings while it works.
  logic is_setting, is_start, is_copy, copy_legal;

  assign is_setting = (in_registers && register >= csr_pkg::WatchdogLimit && register <= csr_pkg::DmaControl) ||
      in_rows || in_segments;
  assign is_start = write_register && register == csr_pkg::Control && strobe_q[0] && data_q[1];
  assign is_copy = write_register && register == csr_pkg::DmaControl && strobe_q[0] && data_q[0];
  assign may_start = !working && !failed_i && !resetting_i;
  assign copy_legal = copy_bytes_q[5:0] == 6'd0 && copy_bytes_q[63:34] == 30'd0 && copy_bytes_q != 64'd0 &&
      copy_host_q[5:0] == 6'd0;
  assign refused = (write && is_setting && working) || ((is_start || is_copy) && !may_start);

  assign table_address_o = address_q[16:3];
  assign table_data_o = merged;
  assign rows_write_o = write && in_rows && !working;
  assign segment_write_o = write && in_segments && !working;
  assign copy_line_o = copy_host_q[63:6];
  assign copy_lines_o = copy_bytes_q[33:6];

  always_ff @(posedge clk_i) begin
    start_o <= 1'b0;
    copy_start_o <= 1'b0;
    soft_reset_o <= 1'b0;
    if (!rst_ni) begin
      scratch32_q <= '0;
      scratch64_q <= '0;
      watchdog_limit_o <= csr_pkg::WatchdogDefault;
      rows_total_o <= '0;
      program_o <= '0;
      identity_o <= '0;
      copy_host_q <= '0;
      copy_memory_o <= '0;
      copy_bytes_q <= '0;
      copy_to_host_o <= 1'b0;
    end else if (write_register) begin
      if (register == csr_pkg::Scratch32) scratch32_q <= merged[31:0];
      if (register == csr_pkg::Scratch64) scratch64_q <= merged;
      soft_reset_o <= register == csr_pkg::Control && strobe_q[0] && data_q[0];
      start_o <= is_start && may_start && !data_q[0];
      copy_start_o <= is_copy && may_start && copy_legal;
      if (!working) begin
        unique case (register)
          csr_pkg::WatchdogLimit: watchdog_limit_o <= merged[31:0];
          csr_pkg::RowsTotal: rows_total_o <= merged[15:0];
          csr_pkg::Program: program_o <= merged[27:0];
          csr_pkg::Identity0: identity_o[63:0] <= merged;
          csr_pkg::Identity0 + 7'd1: identity_o[127:64] <= merged;
          csr_pkg::Identity0 + 7'd2: identity_o[191:128] <= merged;
          csr_pkg::Identity0 + 7'd3: identity_o[255:192] <= merged;
          csr_pkg::DmaHost: copy_host_q <= merged;
          csr_pkg::DmaMemory: copy_memory_o <= merged[27:0];
          csr_pkg::DmaBytes: copy_bytes_q <= merged;
          csr_pkg::DmaControl: copy_to_host_o <= merged[1];
          default: ;
        endcase
      end
    end
  end

  // What is under way.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || soft_reset_o || resetting_i) begin
      running_q <= 1'b0;
      copying_q <= 1'b0;
      done_q <= 1'b0;
      copied_q <= 1'b0;
    end else begin
      if (start_o) begin
        running_q <= 1'b1;
        done_q <= 1'b0;
      end else if (running_q && (finished_i || failed_i)) begin
        running_q <= 1'b0;
        done_q <= finished_i && !failed_i;
      end
      if (copy_start_o) begin
        copying_q <= 1'b1;
        copied_q <= 1'b0;
      end else if (copying_q && (copied_i || failed_i)) begin
        copying_q <= 1'b0;
        copied_q <= copied_i && !failed_i;
      end
    end
  end

  // Sticky errors: set when the engine's level rises, cleared by writing 1.
  always_comb begin
    raised = '0;
    raised[csr_pkg::EngineErrorBits-1:0] = errors_i & ~seen_q;
    if (refused) raised[csr_pkg::ErrorRefused] = 1'b1;
    if (silent) raised[csr_pkg::ErrorEngineSilent] = 1'b1;
    if (is_copy && may_start && !copy_legal) raised[csr_pkg::ErrorDma] = 1'b1;
    cleared = '0;
    if (write_register && register == csr_pkg::Errors) begin
      for (int b = 0; b < csr_pkg::ErrorBits; b++) cleared[b] = strobe_q[b/8] && data_q[b];
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q <= errors_i;
    if (!rst_ni) errors_q <= '0;
    else errors_q <= (errors_q & ~cleared) | raised;
  end

  // Questions to the engine's clock.
  logic [6:0] wait_q;
  logic asked_q;    // the question of this read is out
  logic answered, mute_q;

  assign answered = engine_answer_i == engine_ask_o;
  assign silent = state_q == AskEngine && asked_q && !answered && wait_q[6];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      engine_ask_o <= 1'b0;
      asked_q <= 1'b0;
      mute_q <= 1'b0;
    end else begin
      if (state_q == Look) begin
        // A question that was never answered bars the next one until it is.
        asked_q <= 1'b0;
        mute_q <= !answered;
        if (in_engine && answered) begin
          engine_ask_o <= !engine_ask_o;
          asked_q <= 1'b1;
        end
      end
    end
    if (state_q == Look) engine_index_o <= address_q[8:3];
    wait_q <= state_q == AskEngine ? wait_q + 7'd1 : 7'd0;
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: begin
        if (take_write) state_d = LookWrite;
        else if (take_read) state_d = Look;
      end
      Look: state_d = in_engine ? AskEngine : Take;
      Take: state_d = Answer;
      AskEngine: if (mute_q || silent || (asked_q && answered)) state_d = Answer;
      LookWrite: state_d = Write;
      Write: state_d = AnswerWrite;
      default: state_d = Idle;  // of an answer: where it is taken
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      prefer_write_q <= 1'b0;
    end else begin
      if (!(rvalid_o && !rready_i) && !(bvalid_o && !bready_i)) state_q <= state_d;
      if (take_read) prefer_write_q <= 1'b1;
      else if (take_write) prefer_write_q <= 1'b0;
    end
    if (take_write) begin
      address_q <= awaddr_i[17:3];
      data_q <= wdata_i;
      strobe_q <= wstrb_i;
      bid_o <= awid_i;
      buser_o <= awuser_i;
    end
    if (take_read) begin
      address_q <= araddr_i[17:3];
      rid_o <= arid_i;
      ruser_o <= aruser_i;
    end
    if (state_q == Take) rdata_o <= old;
    if (state_q == AskEngine) rdata_o <= asked_q && answered ? engine_data_i : 64'd0;
  end
endmodule
