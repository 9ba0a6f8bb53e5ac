// Reads the program in order and gives each unit its instructions; counts passes; ends the run.
//
// A start pulse begins pass 0 of ceil(rows_total_i / ROWS): the positions of the pass's rows are read
// from the row table, then instruction after instruction goes into its unit's queue (unit_queue), with
// `need` extended to whole counts: the greatest count with those 8 bits that is not more than what
// the unit has been given so far. `chain` lowers the producer's by one (rows for the product unit,
// product for the heads unit). At OpEnd it waits until all units are idle, then begins the next pass
// or ends the run with a pulse of finished_o once `quiet_i` (fetcher, writers) holds too.
// An unknown op, or `halt_i`, leaves it in Halted: nothing starts any more until a reset.
// Throughput: an instruction every 5 cycles. Reset ends the run.
module dispatcher #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic                           start_i,
    input  logic                           halt_i,
    input  logic                           quiet_i,
    input  logic [                   15:0] rows_total_i,
    output logic                           running_o,
    output logic                           finished_o,
    output logic                           pass_start_o,    // a pulse before the first of a pass
    output logic                           illegal_o,
    output logic [                    3:0] state_o,
    output logic [                   15:0] pass_o,
    output logic                           program_valid_o,
    input  logic                           program_ready_i,
    output logic [                   15:0] program_address_o,
    input  logic                           program_data_valid_i,
    input  logic [                  511:0] program_data_i,
    output logic                           table_valid_o,
    input  logic                           table_ready_i,
    output logic [                   15:0] table_address_o,
    input  logic                           table_data_valid_i,
    input  logic [                   63:0] table_data_i,
    output logic [Config.rows[5:0]*32-1:0] positions_o,
    output logic [                    4:0] start_valid_o,   // a bit a unit
    input  logic [                    4:0] start_ready_i,
    output logic [              5*512-1:0] instruction_o,   // unit u at [512u +: 512]
    output logic [               5*27-1:0] pass_rows_o,     // pass_t of unit u at [27u +: 27]
    input  logic [                    4:0] done_i,
    output logic [                   79:0] ended_o          // unit u at [16u +: 16]
);
  localparam int Rows = Config.rows;

  typedef enum logic [3:0] {
    Idle = 4'd0,
    Positions = 4'd1,   // asks for the rows' positions
    LastWait = 4'd2,    // until the last has come
    Read = 4'd3,
    Wait = 4'd4,
    Decode = 4'd5,
    Place = 4'd6,       // source of the last row
    Push = 4'd7,
    Drain = 4'd8,
    NextPass = 4'd9,
    Halted = 4'd15
  } state_e;

  state_e state_q, state_d;
  engine_pkg::instruction_t inst_q;
  logic [15:0] pc_q, pass_first_q, left_rows;
  logic [5:0] pass_rows, last_index, asked_q, came_q;
  logic last_pass, pass_idle;
  logic [79:0] given_q;  // instructions pushed in this pass, 16 bits a unit

  assign left_rows = rows_total_i - pass_first_q;
  assign last_pass = left_rows <= Config.rows[15:0];
  assign pass_rows = last_pass ? left_rows[5:0] : Config.rows[5:0];
  assign last_index = left_rows[5:0] - 6'd1;

  // What the instruction is.
  logic [4:0] unit;  // a bit a unit; none for OpEnd and unknown ops
  logic is_end;

  assign is_end = inst_q.op == engine_pkg::OpEnd;
  always_comb begin
    unique case (inst_q.op)
      engine_pkg::OpLoad, engine_pkg::OpEmbed, engine_pkg::OpGain, engine_pkg::OpRotary,
      engine_pkg::OpNorm, engine_pkg::OpQuantize, engine_pkg::OpPeak:
      unit = 5'd1 << engine_pkg::UnitRows;
      engine_pkg::OpProduct, engine_pkg::OpScale: unit = 5'd1 << engine_pkg::UnitProduct;
      engine_pkg::OpHeads: unit = 5'd1 << engine_pkg::UnitHeads;
      engine_pkg::OpAttend: unit = 5'd1 << engine_pkg::UnitAttend;
      engine_pkg::OpStore: unit = 5'd1 << engine_pkg::UnitStore;
      default: unit = 5'd0;
    endcase
  end

  // Needs as whole counts, registered in Decode.
  logic [79:0] need_d, need_q;
  logic [4:0] chained;

  assign chained[engine_pkg::UnitRows] = inst_q.chain && unit[engine_pkg::UnitProduct];
  assign chained[engine_pkg::UnitProduct] = inst_q.chain && unit[engine_pkg::UnitHeads];
  assign chained[4:2] = 3'd0;

  always_comb begin
    need_d = '0;
    for (int u = 0; u < 5; u++) begin
      logic [7:0] back;
      logic [15:0] whole;
      back = given_q[16*u+:8] - inst_q.need[8*u+:8];
      // Fewer given than that: no instruction of this pass is meant.
      whole = given_q[16*u+:16] < 16'(back) ? 16'd0 : given_q[16*u+:16] - 16'(back);
      need_d[16*u+:16] = chained[u] && whole != 16'd0 ? whole - 16'd1 : whole;
    end
  end

  // Where a last row's source lies.
  logic [15:0] source_q;
  engine_pkg::instruction_t placed;
  engine_pkg::pass_t rows;
  logic [4:0] push_ready;
  logic skip;

  assign skip = inst_q.last_row && !last_pass;
  always_comb begin
    placed = inst_q;
    placed.source = source_q;
    rows.row = inst_q.last_row ? last_index[4:0] : 5'd0;
    rows.first_row = inst_q.last_row ? pass_first_q + 16'(last_index) : pass_first_q;
    rows.rows = inst_q.last_row ? 6'd1 : pass_rows;
  end

  logic [4:0] idle;

  for (genvar u = 0; u < 5; u++) begin : g_queue
    unit_queue u_queue (
        .clk_i,
        .rst_ni,
        .clear_i(state_q == NextPass || state_q == Idle),
        .halt_i(halt_i || state_q == Halted),
        .push_valid_i(state_q == Push && unit[u]),
        .push_ready_o(push_ready[u]),
        .push_instruction_i(placed),
        .push_pass_i(rows),
        .push_skip_i(skip),
        .push_need_i(need_q),
        .ended_i(ended_o),
        .start_valid_o(start_valid_o[u]),
        .start_ready_i(start_ready_i[u]),
        .instruction_o(instruction_o[512*u+:512]),
        .pass_o(pass_rows_o[27*u+:27]),
        .done_i(done_i[u]),
        .ended_o(ended_o[16*u+:16]),
        .idle_o(idle[u])
    );
  end

  assign pass_idle = &idle;
  assign running_o = state_q != Idle && state_q != Halted;
  assign finished_o = state_q == NextPass && last_pass;
  assign pass_start_o = (state_q == Idle && start_i) || (state_q == NextPass && !last_pass);
  assign illegal_o = state_q == Decode && !is_end && unit == 5'd0;
  assign state_o = state_q;
  assign program_valid_o = state_q == Read;
  assign program_address_o = pc_q;
  assign table_valid_o = state_q == Positions;
  assign table_address_o = pass_first_q + 16'(asked_q);

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (start_i) state_d = Positions;
      Positions: if (table_ready_i && asked_q + 6'd1 == pass_rows) state_d = LastWait;
      LastWait: if (came_q == pass_rows) state_d = Read;
      Read: if (program_ready_i) state_d = Wait;
      Wait: if (program_data_valid_i) state_d = Decode;
      Decode: begin
        if (is_end) state_d = Drain;
        else state_d = unit == 5'd0 ? Halted : Place;
      end
      Place: state_d = Push;
      Push: if (|(push_ready & unit)) state_d = Read;
      Drain: if (pass_idle && (!last_pass || quiet_i)) state_d = NextPass;
      NextPass: state_d = last_pass ? Idle : Positions;
      default: ;
    endcase
    if (halt_i && state_q != Idle) state_d = Halted;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        pc_q <= '0;
        pass_o <= '0;
        pass_first_q <= '0;
        given_q <= '0;
        asked_q <= '0;
        came_q <= '0;
      end
      Positions: if (table_ready_i) asked_q <= asked_q + 6'd1;
      Wait: if (program_data_valid_i) inst_q <= program_data_i;
      Decode: begin
        need_q <= need_d;
        source_q <= inst_q.source;
      end
      Place: if (inst_q.last_row) source_q <= source_q + 16'(last_index) * inst_q.source_stride;
      Push: begin
        if (|(push_ready & unit)) begin
          pc_q <= pc_q + 16'd1;
          for (int u = 0; u < 5; u++) given_q[16*u+:16] <= given_q[16*u+:16] + 16'(unit[u]);
        end
      end
      NextPass: begin
        pc_q <= '0;
        pass_o <= pass_o + 16'd1;
        pass_first_q <= pass_first_q + Config.rows[15:0];
        given_q <= '0;
        asked_q <= '0;
        came_q <= '0;
      end
      default: ;
    endcase
    if (table_data_valid_i) came_q <= came_q + 6'd1;
  end

  for (genvar r = 0; r < Rows; r++) begin : g_position
    always_ff @(posedge clk_i) begin
      if (table_data_valid_i && came_q == 6'(r)) positions_o[32*r+:32] <= table_data_i[63:32];
    end
  end
endmodule
