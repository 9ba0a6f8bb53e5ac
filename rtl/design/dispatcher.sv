// Reads the program in order and gives each unit its instructions; counts passes; ends the run.
//
// A start pulse begins pass 0 of ceil(rows_total_i / ROWS): the positions of the pass's rows are read
// from the row table, then instruction after instruction goes into its unit's queue (unit_queue), with
// `need` extended to whole counts: the greatest count with those 8 bits that is not more than what
// the unit has been given so far. `chain` lowers the producer's by one (rows for the product unit,
// product for the heads unit). At OpEnd it waits until all units are idle, then begins the next pass
// or ends the run with a pulse of finished_o once `quiet_i` (fetcher, writers) holds too.
// An unknown op, or `halt_i`, leaves it in Halted: nothing starts any more until a reset.
// Throughput: an instruction every 6 cycles. It may hang behind a clock_gate that wake_o wakes. Reset ends
// the run.
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
    output logic                           wake_o,          // for a clock_gate: something changes
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
    output logic [                  511:0] rows_instruction_o,
    output logic [                  511:0] product_instruction_o,
    output logic [                  511:0] heads_instruction_o,
    output logic [                  511:0] attend_instruction_o,
    output logic [                  511:0] store_instruction_o,
    output logic [                   26:0] rows_pass_o,     // pass_t
    output logic [                   26:0] product_pass_o,
    output logic [                   26:0] heads_pass_o,
    output logic [                   26:0] attend_pass_o,
    output logic [                   26:0] store_pass_o,
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

  // Needs as whole counts, and where a last row's source lies.
  logic [79:0] need_q;
  engine_pkg::pass_t rows;
  logic [4:0] push, push_ready, ended, idle;
  logic [79:0] ended_q;
  logic skip, halt, clear;

  always_ff @(posedge clk_i) begin
    if (state_q == Decode) begin
      for (int u = 0; u < 5; u++) begin : extend
        logic [7:0] back;
        logic [15:0] whole;
        logic chained;
        back = given_q[16*u+:8] - inst_q.need[8*u+:8];
        // Fewer given than that: no instruction of this pass is meant.
        whole = given_q[16*u+:16] < 16'(back) ? 16'd0 : given_q[16*u+:16] - 16'(back);
        chained = inst_q.chain && whole != 16'd0 &&
            ((u == engine_pkg::UnitRows && unit[engine_pkg::UnitProduct]) ||
             (u == engine_pkg::UnitProduct && unit[engine_pkg::UnitHeads]));
        need_q[16*u+:16] <= whole - 16'(chained);
      end
    end
  end

  assign skip = inst_q.last_row && !last_pass;
  assign halt = halt_i || state_q == Halted;
  assign clear = state_q == NextPass || state_q == Idle;
  assign push = state_q == Push ? unit : 5'd0;
  always_comb begin
    rows.row = inst_q.last_row ? last_index[4:0] : 5'd0;
    rows.first_row = inst_q.last_row ? pass_first_q + 16'(last_index) : pass_first_q;
    rows.rows = inst_q.last_row ? 6'd1 : pass_rows;
  end

  // What has ended in this pass.
  assign ended_o = ended_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) begin
      ended_q <= '0;
    end else if (ended != 5'd0) begin
      for (int u = 0; u < 5; u++) begin
        if (ended[u]) ended_q[16*u+:16] <= ended_q[16*u+:16] + 16'd1;
      end
    end
  end

  unit_queue u_rows (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .halt_i(halt),
      .push_valid_i(push[0]),
      .push_ready_o(push_ready[0]),
      .push_instruction_i(inst_q),
      .push_pass_i(rows),
      .push_skip_i(skip),
      .push_need_i(need_q),
      .changed_i(ended != 5'd0),
      .ended_counts_i(ended_q),
      .own_ended_i(ended_q[15:0]),
      .start_valid_o(start_valid_o[0]),
      .start_ready_i(start_ready_i[0]),
      .instruction_o(rows_instruction_o),
      .pass_o(rows_pass_o),
      .done_i(done_i[0]),
      .ended_o(ended[0]),
      .idle_o(idle[0])
  );
  unit_queue u_product (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .halt_i(halt),
      .push_valid_i(push[1]),
      .push_ready_o(push_ready[1]),
      .push_instruction_i(inst_q),
      .push_pass_i(rows),
      .push_skip_i(skip),
      .push_need_i(need_q),
      .changed_i(ended != 5'd0),
      .ended_counts_i(ended_q),
      .own_ended_i(ended_q[31:16]),
      .start_valid_o(start_valid_o[1]),
      .start_ready_i(start_ready_i[1]),
      .instruction_o(product_instruction_o),
      .pass_o(product_pass_o),
      .done_i(done_i[1]),
      .ended_o(ended[1]),
      .idle_o(idle[1])
  );
  unit_queue u_heads (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .halt_i(halt),
      .push_valid_i(push[2]),
      .push_ready_o(push_ready[2]),
      .push_instruction_i(inst_q),
      .push_pass_i(rows),
      .push_skip_i(skip),
      .push_need_i(need_q),
      .changed_i(ended != 5'd0),
      .ended_counts_i(ended_q),
      .own_ended_i(ended_q[47:32]),
      .start_valid_o(start_valid_o[2]),
      .start_ready_i(start_ready_i[2]),
      .instruction_o(heads_instruction_o),
      .pass_o(heads_pass_o),
      .done_i(done_i[2]),
      .ended_o(ended[2]),
      .idle_o(idle[2])
  );
  unit_queue u_attend (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .halt_i(halt),
      .push_valid_i(push[3]),
      .push_ready_o(push_ready[3]),
      .push_instruction_i(inst_q),
      .push_pass_i(rows),
      .push_skip_i(skip),
      .push_need_i(need_q),
      .changed_i(ended != 5'd0),
      .ended_counts_i(ended_q),
      .own_ended_i(ended_q[63:48]),
      .start_valid_o(start_valid_o[3]),
      .start_ready_i(start_ready_i[3]),
      .instruction_o(attend_instruction_o),
      .pass_o(attend_pass_o),
      .done_i(done_i[3]),
      .ended_o(ended[3]),
      .idle_o(idle[3])
  );
  unit_queue u_store (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .halt_i(halt),
      .push_valid_i(push[4]),
      .push_ready_o(push_ready[4]),
      .push_instruction_i(inst_q),
      .push_pass_i(rows),
      .push_skip_i(skip),
      .push_need_i(need_q),
      .changed_i(ended != 5'd0),
      .ended_counts_i(ended_q),
      .own_ended_i(ended_q[79:64]),
      .start_valid_o(start_valid_o[4]),
      .start_ready_i(start_ready_i[4]),
      .instruction_o(store_instruction_o),
      .pass_o(store_pass_o),
      .done_i(done_i[4]),
      .ended_o(ended[4]),
      .idle_o(idle[4])
  );

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

  // In these states it waits for others; a few cycles after what they did it is still again.
  logic waits;
  assign waits = state_q == Idle || state_q == Push || state_q == Drain || state_q == Halted;
  assign wake_o = !waits || state_d != state_q || done_i != 5'd0 ||
      (start_valid_o & start_ready_i) != 5'd0;

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
      Place: begin
        if (inst_q.last_row) begin
          inst_q.source <= inst_q.source + 16'(last_index) * inst_q.source_stride;
        end
      end
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
