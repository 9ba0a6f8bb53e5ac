// Walks the program ahead of the units and turns each instruction into ranges of super-beats, in the
// order in which its unit takes them (rtl/README.md), then into bursts (burst_splitter).
//
// A start pulse begins at pass 0; the walk goes through all passes of `rows_total_i` rows without
// waiting, but for an instruction with `fence`: until the dispatcher works on the same pass and the
// heads unit has ended `fence_need` instructions of it. While the walk is idle, `range` takes
// ranges of others (program loader, DMA). Addresses count modulo 2^28.
// Throughput: about 6 cycles an instruction, 8 a row, 3 a range, and 2 a burst; the FIFOs and the
// banks' command queues hide it. The multiplier has three stages. Reset ends the walk.
module stream_fetch #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         start_i,
    input  logic [ 15:0] rows_total_i,
    output logic         idle_o,
    output logic [  3:0] state_o,
    output logic         program_valid_o,
    input  logic         program_ready_i,
    output logic [ 15:0] program_address_o,
    input  logic         program_data_valid_i,
    input  logic [511:0] program_data_i,
    output logic         table_valid_o,
    input  logic         table_ready_i,
    output logic [ 15:0] table_address_o,
    input  logic         table_data_valid_i,
    input  logic [ 63:0] table_data_i,
    input  logic [ 15:0] pass_i,
    input  logic [ 15:0] heads_ended_i,
    input  logic         range_valid_i,
    output logic         range_ready_o,
    input  logic [ 27:0] range_address_i,
    input  logic [ 27:0] range_count_i,
    input  logic [  2:0] range_unit_i,
    output logic         turn_valid_o,
    input  logic         turn_ready_i,
    output logic [  2:0] turn_unit_o,
    output logic [ 27:0] turn_count_o,
    output logic         command_valid_o,
    input  logic         command_ready_i,
    output logic [ 27:0] command_address_o,
    output logic [  6:0] command_beats_o,
    input  logic         taken_i
);
  typedef enum logic [3:0] {
    Idle = 4'd0,
    Read = 4'd1,       // asks for the instruction at pc
    Wait = 4'd2,
    Decode = 4'd3,
    Fence = 4'd4,
    Setup = 4'd5,
    Lead = 4'd6,       // the only range
    Table = 4'd7,      // asks for the row's token and position
    TableWait = 4'd8,
    Compute = 4'd9,    // products of the row
    Row = 4'd10,       // the row's range
    Keys = 4'd11,
    Values = 4'd12,    // of the group before
    NextRow = 4'd13,
    LastValues = 4'd14,
    Next = 4'd15
  } state_e;

  state_e state_q, state_d;
  engine_pkg::instruction_t inst_q;
  logic [15:0] pc_q, pass_q, pass_first_q, left_rows, heads_seen_q;
  logic [5:0] pass_rows;
  logic last_pass;

  // The pass.
  assign left_rows = rows_total_i - pass_first_q;
  assign last_pass = left_rows <= Config.rows[15:0];
  assign pass_rows = last_pass ? left_rows[5:0] : Config.rows[5:0];

  // The instruction.
  logic is_end, is_lead, is_rows, is_attend, is_heads, by_table, skip;

  assign is_end = inst_q.op == engine_pkg::OpEnd;
  assign is_heads = inst_q.op == engine_pkg::OpHeads;
  assign is_attend = inst_q.op == engine_pkg::OpAttend;
  assign is_lead = inst_q.op == engine_pkg::OpGain || inst_q.op == engine_pkg::OpProduct ||
      inst_q.op == engine_pkg::OpPeak;
  assign is_rows = inst_q.op == engine_pkg::OpLoad || inst_q.op == engine_pkg::OpEmbed ||
      inst_q.op == engine_pkg::OpRotary || inst_q.op == engine_pkg::OpScale;
  assign by_table = inst_q.op == engine_pkg::OpEmbed || inst_q.op == engine_pkg::OpRotary || is_attend;
  assign skip = inst_q.last_row && !last_pass;

  // The fence: a count's low bits, extended from the heads instructions walked over so far.
  logic [15:0] fence_count;
  logic [7:0] fence_back;
  logic fence_open;

  assign fence_back = heads_seen_q[7:0] - inst_q.fence_need;
  assign fence_count = heads_seen_q - 16'(fence_back);
  assign fence_open = pass_i == pass_q && heads_ended_i >= fence_count;

  // The rows that take part: row_q to row_end_q of the pass.
  logic [5:0] row_q, row_end_q, last_index;
  logic [15:0] run_row;
  logic more_rows;

  assign last_index = left_rows[5:0] - 6'd1;
  assign run_row = pass_first_q + 16'(row_q);
  assign more_rows = row_q < row_end_q;

  // A row's blocks of 128 positions, for attention.
  logic [27:0] position_q, window_first;
  logic [20:0] first_block_q, blocks_less_q;  // blocks - 1
  logic [5:0] last_slots_q;                   // 1 to 32
  logic [4:0] key_beats;                      // beats of a position in its bank

  assign window_first = inst_q.window != 24'd0 && position_q >= 28'(inst_q.window)
      ? position_q + 28'd1 - 28'(inst_q.window) : 28'd0;
  assign key_beats = 5'(inst_q.head_columns[8:5]) + 5'(|inst_q.head_columns[4:0]);

  // The multiplier: operands of step s give product_q at step s + 3.
  logic [3:0] step_q;
  logic [27:0] factor_a, factor_b, factor_a_q, factor_b_q, partial_q, product_q;
  logic [27:0] index_q;  // row, token or position that addresses the row

  always_comb begin
    factor_a = index_q;
    factor_b = inst_q.stream_beats;
    if (is_attend) begin
      unique case (step_q)
        4'd0: begin
          factor_a = 28'(run_row);
          factor_b = inst_q.cache_row_stride;
        end
        4'd1: begin
          factor_a = 28'(inst_q.first_head);
          factor_b = inst_q.cache_head_stride;
        end
        4'd2: begin
          factor_a = 28'(blocks_less_q);
          factor_b = 28'(key_beats);
        end
        4'd3: begin
          factor_a = 28'(first_block_q);
          factor_b = 28'(key_beats);
        end
        default: begin
          factor_a = 28'(last_slots_q);
          factor_b = 28'(key_beats);
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Compute) begin
      factor_a_q <= factor_a;
      factor_b_q <= factor_b;
      partial_q <= factor_a_q * factor_b_q;
      product_q <= partial_q;
    end
  end

  // Ranges.
  logic [27:0] lead_count, address_q;
  logic [27:0] keys_q, keys_count_q, values_q, values_count_q, before_q, before_count_q;
  logic [8:0] heads_left_q;
  logic before_valid_q;
  logic own_valid, own_ready;
  logic [27:0] own_address, own_count;
  logic [2:0] own_unit;

  assign lead_count = inst_q.op == engine_pkg::OpPeak ? 28'(row_end_q) - 28'(row_q)
      : inst_q.stream_beats;

  assign own_unit = inst_q.op[6:4] - 3'd1;
  always_comb begin
    own_valid = 1'b0;
    own_address = address_q;
    own_count = inst_q.stream_beats;
    unique case (state_q)
      Lead: begin
        own_valid = 1'b1;
        own_count = lead_count;
      end
      Row: own_valid = 1'b1;
      Keys: begin
        own_valid = 1'b1;
        own_address = keys_q;
        own_count = keys_count_q;
      end
      Values, LastValues: begin
        own_valid = before_valid_q;
        own_address = before_q;
        own_count = before_count_q;
      end
      default: ;
    endcase
  end

  assign program_valid_o = state_q == Read;
  assign program_address_o = pc_q;
  assign table_valid_o = state_q == Table;
  assign table_address_o = run_row;
  assign state_o = state_q;

  logic splitter_ready, splitter_idle, range_turn;

  assign range_turn = state_q == Idle;
  assign own_ready = splitter_ready;
  assign range_ready_o = splitter_ready && range_turn;
  assign idle_o = range_turn && splitter_idle && !range_valid_i;

  burst_splitter #(
      .FifoBeats(Config.fifo_beats)
  ) u_splitter (
      .clk_i,
      .rst_ni,
      .range_valid_i(range_turn ? range_valid_i : own_valid),
      .range_ready_o(splitter_ready),
      .range_address_i(range_turn ? range_address_i : own_address),
      .range_count_i(range_turn ? range_count_i : own_count),
      .range_unit_i(range_turn ? range_unit_i : own_unit),
      .turn_valid_o,
      .turn_ready_i,
      .turn_unit_o,
      .turn_count_o,
      .command_valid_o,
      .command_ready_i,
      .command_address_o,
      .command_beats_o,
      .taken_i,
      .idle_o(splitter_idle)
  );

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (start_i) state_d = Read;
      Read: if (program_ready_i) state_d = Wait;
      Wait: if (program_data_valid_i) state_d = Decode;
      Decode: begin
        if (is_end) state_d = last_pass ? Idle : Read;
        else if (skip) state_d = Next;
        else state_d = inst_q.fence ? Fence : Setup;
      end
      Fence: if (fence_open) state_d = Setup;
      Setup: begin
        if (is_lead) state_d = Lead;
        else if (is_attend && inst_q.heads == 8'd0) state_d = Next;
        else if (is_rows || is_attend) state_d = NextRow;
        else state_d = Next;
      end
      Lead: if (own_ready) state_d = Next;
      NextRow: begin
        if (!more_rows) state_d = before_valid_q ? LastValues : Next;
        else state_d = by_table ? Table : Compute;
      end
      Table: if (table_ready_i) state_d = TableWait;
      TableWait: if (table_data_valid_i) state_d = Compute;
      Compute: begin
        if (is_attend) begin
          if (step_q == 4'd8) state_d = Keys;
        end else if (step_q == 4'd3) begin
          state_d = Row;
        end
      end
      Row: if (own_ready) state_d = NextRow;
      Keys: if (own_ready) state_d = Values;
      Values: if (own_ready || !before_valid_q) state_d = heads_left_q == 9'd1 ? NextRow : Keys;
      LastValues: if (own_ready) state_d = Next;
      Next: state_d = Read;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      before_valid_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (state_q == Setup || (state_q == LastValues && own_ready)) before_valid_q <= 1'b0;
      else if (state_q == Values && (own_ready || !before_valid_q)) begin
        before_valid_q <= inst_q.target == engine_pkg::AttendWhole;
      end
    end
  end

  // The walk: program counter, pass, heads instructions of the pass.
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        pc_q <= '0;
        pass_q <= '0;
        pass_first_q <= '0;
        heads_seen_q <= '0;
      end
      Wait: if (program_data_valid_i) inst_q <= program_data_i;
      Decode: begin
        if (is_end) begin
          pc_q <= '0;
          pass_q <= pass_q + 16'd1;
          pass_first_q <= pass_first_q + Config.rows[15:0];
          heads_seen_q <= '0;
        end
      end
      Next: begin
        pc_q <= pc_q + 16'd1;
        if (is_heads) heads_seen_q <= heads_seen_q + 16'd1;
      end
      default: ;
    endcase
  end

  // Rows and their addresses.
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Setup: begin
        row_q <= '0;
        row_end_q <= pass_rows;
        if (is_attend && inst_q.only_row != 6'd0) begin
          row_q <= inst_q.only_row - 6'd1;
          row_end_q <= inst_q.only_row > pass_rows ? 6'd0 : inst_q.only_row;
        end else if (inst_q.last_row) begin
          row_q <= last_index;
          row_end_q <= last_index + 6'd1;
        end
        address_q <= inst_q.stream_base;
        if (inst_q.op == engine_pkg::OpPeak) begin
          address_q <= inst_q.stream_base + 28'(pass_first_q) +
              (inst_q.last_row ? 28'(last_index) : 28'd0);
        end
      end
      NextRow: begin
        step_q <= '0;
        index_q <= 28'(run_row);
      end
      TableWait: begin
        index_q <= inst_q.op == engine_pkg::OpEmbed ? table_data_i[27:0] : table_data_i[59:32];
        position_q <= table_data_i[59:32];
      end
      Compute: begin
        step_q <= step_q + 4'd1;
        address_q <= inst_q.stream_base + product_q;
        if (is_attend) begin
          unique case (step_q)
            4'd0: begin
              first_block_q <= window_first[27:7];
              last_slots_q <= {1'b0, position_q[6:2]} + 6'd1;
            end
            4'd1: blocks_less_q <= position_q[27:7] - first_block_q;
            4'd3: keys_q <= inst_q.cache_base + product_q;
            4'd4: keys_q <= keys_q + product_q;
            4'd5: keys_count_q <= {product_q[22:0], 5'd0} + 28'(blocks_less_q);
            4'd6: begin
              keys_q <= keys_q + {product_q[22:0], 5'd0};
              values_count_q <= keys_count_q - 28'(blocks_less_q);
            end
            4'd7: begin
              values_q <= keys_q + inst_q.values_offset;
              keys_q <= keys_q + 28'(first_block_q);
              keys_count_q <= keys_count_q + product_q;
              values_count_q <= values_count_q + product_q;
            end
            4'd8: keys_count_q <= keys_count_q + 28'd1;
            default: ;
          endcase
        end
        heads_left_q <= {1'b0, inst_q.heads};
      end
      Row: if (own_ready) row_q <= row_q + 6'd1;
      Values: begin
        if (own_ready || !before_valid_q) begin
          before_q <= values_q;
          before_count_q <= values_count_q;
          keys_q <= keys_q + inst_q.cache_head_stride;
          values_q <= values_q + inst_q.cache_head_stride;
          heads_left_q <= heads_left_q - 9'd1;
          if (heads_left_q == 9'd1) row_q <= row_q + 6'd1;
        end
      end
      default: ;
    endcase
  end
endmodule
