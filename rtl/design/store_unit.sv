// OpStore: rows of vector memory and of what else an observer asks for, to lines of host memory.
//
// For each row that takes part, the lines that rtl/README.md names; a line's last bytes beyond the
// row's end have no strobe. Vector memory goes at a line a cycle (words are read up to 8 ahead); the
// other sources are read line by line, some 8 to 40 cycles each. `greedy` gives what passes to
// store_greedy too. done_o once the host has answered all lines and the greedy table is written.
// Query memory, activation memory and the attend unit's buffer are read only while their own unit
// does not read them (ready). Host writes: stream law. Reset ends the instruction; lines that were
// handed on go out. Raises no fault.
module store_unit #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      pass_start_i,   // greedy results and their index begin anew
    input  logic                      start_valid_i,
    output logic                      start_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  engine_pkg::instruction_t  instruction_i,  // the fields of OpStore are read
    // verilator lint_on UNUSEDSIGNAL
    input  engine_pkg::pass_t         pass_i,
    output logic                      done_o,
    output logic                      vm_read_valid_o,
    input  logic                      vm_read_ready_i,
    output logic [              15:0] vm_read_address_o,
    input  logic                      vm_data_valid_i,
    input  logic [            1023:0] vm_data_i,
    output logic                      activation_read_valid_o,
    input  logic                      activation_read_ready_i,
    output logic [               4:0] activation_read_row_o,
    output logic [              11:0] activation_read_word_o,
    input  logic                      activation_data_valid_i,
    input  logic [            1023:0] activation_data_i,
    input  logic [ Config.rows*8-1:0] exponents_i,
    output logic                      query_read_valid_o,     // data and exponent 2 cycles later
    input  logic                      query_read_ready_i,
    output logic [              15:0] query_read_address_o,
    output logic [              15:0] query_exponent_address_o,
    input  logic [             511:0] query_data_i,
    input  logic [               7:0] query_exponent_i,
    output logic                      observe_valid_o,        // data 2 cycles later
    output logic [               3:0] observe_head_o,
    output logic [              15:0] observe_slot_o,
    input  logic [             127:0] observe_data_i,
    input  logic [              41:0] observe_sum_i,
    input  logic [Config.rows*31-1:0] rows_peaks_i,
    input  logic [Config.rows*31-1:0] product_peaks_i,
    input  logic [Config.rows*31-1:0] attend_peaks_i,
    output logic                      host_write_valid_o,
    input  logic                      host_write_ready_i,
    output logic [              33:0] host_write_address_o,
    output logic [             511:0] host_write_data_o,
    output logic [              63:0] host_write_strobe_o,
    input  logic                      host_pending_i,         // a line is not answered
    output logic                      greedy_valid_o,
    output logic [              15:0] greedy_address_o,
    output logic [              63:0] greedy_data_o,
    output logic                      busy_o,
    output logic                      stalled_on_input_o,
    output logic                      stalled_on_output_o,
    output logic [               3:0] state_o
);
  localparam int Rows = Config.rows;

  typedef enum logic [3:0] {
    Idle = 4'd0,
    Shape = 4'd1,      // lines of a piece, of a row, before the first row
    Scale = 4'd2,
    Row = 4'd3,
    Words = 4'd4,      // a row of vector memory
    Ask = 4'd5,        // a read for the line
    AskWait = 4'd6,
    AskTake = 4'd7,
    Send = 4'd8,       // the line
    SendExponent = 4'd9,
    NextPiece = 4'd10,
    NextRow = 4'd11,
    Finish = 4'd12
  } state_e;

  state_e state_q, state_d;

  // The instruction.
  logic [2:0] variant_q;
  logic [1:0] peaks_q;
  logic [15:0] source_q, stride_q;
  logic [19:0] columns_q;
  logic [8:0] head_columns_q;
  logic [7:0] heads_q, group_q;
  logic greedy_q, last_row_q;
  logic [4:0] pass_row_q;
  logic [5:0] row_q, row_end_q;
  logic [15:0] table_row_q;
  logic [33:0] address_q;  // of the row's next line
  logic is_vector, is_activation, is_query, is_scores, is_sums;

  assign is_vector = variant_q == engine_pkg::StoreVector;
  assign is_activation = variant_q == engine_pkg::StoreActivation;
  assign is_query = variant_q == engine_pkg::StoreQuery;
  assign is_scores = variant_q == engine_pkg::StoreScores;
  assign is_sums = variant_q == engine_pkg::StoreWeightSums;

  // A row's pieces, each of so many bytes and perhaps an exponent's line.
  logic [22:0] piece_bytes, piece_bytes_q;
  logic [16:0] piece_lines;
  logic [7:0] pieces, pieces_q;
  logic has_exponent;
  logic [24:0] row_lines_q;
  logic [33:0] first_line_q;
  logic [15:0] row_base_q;  // word of vector memory of the first row
  logic [1:0] step_q;

  assign has_exponent = is_activation || is_query;
  always_comb begin
    pieces = 8'd1;
    unique case (variant_q)
      engine_pkg::StoreActivation: piece_bytes = {2'd0, columns_q, 1'b0};
      engine_pkg::StoreQuery: begin
        piece_bytes = 23'({head_columns_q, 1'b0});
        pieces = heads_q;
      end
      engine_pkg::StoreScores: begin
        piece_bytes = {1'b0, columns_q, 2'd0};
        pieces = group_q;
      end
      engine_pkg::StoreWeightSums: piece_bytes = 23'({group_q, 3'd0});
      engine_pkg::StorePeaks: piece_bytes = 23'd4;
      default: piece_bytes = {1'b0, columns_q, 2'd0};
    endcase
  end
  assign piece_lines = piece_bytes_q[22:6] + 17'(|piece_bytes_q[5:0]) + 17'(has_exponent);

  // With only_row or in a later pass, rows lie in front of the first.
  always_ff @(posedge clk_i) begin
    step_q <= state_q == Shape ? step_q + 2'd1 : 2'd0;
    if (state_q == Shape) begin
      piece_bytes_q <= piece_bytes;
      pieces_q <= pieces;
      row_base_q <= source_q + 16'(row_q) * stride_q;
      row_lines_q <= 25'(piece_lines) * 25'(pieces_q);
      first_line_q <= last_row_q ? 34'd0 : 34'(table_row_q) * 34'(row_lines_q);
    end
  end

  // Rows of vector memory: requests run ahead of the lines by up to 8 words.
  logic [5:0] ask_row_q;
  logic [15:0] ask_base_q, ask_word_q, row_words;
  logic [3:0] ahead_q;  // asked for and not yet sent
  logic asking_q, asked, word_done;

  assign row_words = 16'(columns_q[19:5]) + 16'(|columns_q[4:0]);
  assign vm_read_valid_o = asking_q && !ahead_q[3];
  assign vm_read_address_o = ask_base_q + ask_word_q;
  assign asked = vm_read_valid_o && vm_read_ready_i;

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      ask_word_q <= '0;
    end else if (state_q == Scale) begin
      ask_row_q <= row_q;
      ask_base_q <= row_base_q;
    end else if (asked) begin
      if (ask_word_q + 16'd1 == row_words) begin
        ask_word_q <= '0;
        ask_row_q <= ask_row_q + 6'd1;
        ask_base_q <= ask_base_q + stride_q;
      end else begin
        ask_word_q <= ask_word_q + 16'd1;
      end
    end
    if (!rst_ni) begin
      asking_q <= 1'b0;
      ahead_q <= '0;
    end else begin
      if (state_q == Scale) begin
        asking_q <= is_vector && row_q < row_end_q && columns_q != 20'd0;
      end else if (asked && ask_word_q + 16'd1 == row_words && ask_row_q + 6'd1 == row_end_q) begin
        asking_q <= 1'b0;
      end
      ahead_q <= ahead_q + 4'(asked) - 4'(word_done);
    end
  end

  logic word_valid;
  logic [1023:0] word;

  sync_fifo #(
      .Bits (1024),
      .Depth(8)
  ) u_words (
      .clk_i,
      .rst_ni,
      .valid_i(vm_data_valid_i),
      .ready_o(),
      .data_i(vm_data_i),
      .valid_o(word_valid),
      .ready_i(word_done),
      .data_o(word),
      .used_o()
  );

  // Lines.
  logic [22:0] left_q;     // bytes of the piece that are still to go
  logic [15:0] line_q;     // of the piece
  logic [7:0] piece_q;
  logic [2:0] part_q, parts_less;  // reads of a line
  logic half_q;
  logic [511:0] build_q;
  logic room, send, last_line, asked_line, took;
  logic [7:0] exponent_q;

  assign room = !host_write_valid_o || host_write_ready_i;
  assign last_line = left_q <= 23'd64;
  assign send = room && ((state_q == Words && word_valid) || state_q == Send || state_q == SendExponent);
  assign word_done = send && state_q == Words && (half_q || last_line);
  assign parts_less = is_sums ? 3'd7 : is_scores ? 3'd3 : 3'd0;
  assign activation_read_valid_o = state_q == Ask && is_activation;
  assign activation_read_row_o = row_q[4:0];
  assign activation_read_word_o = source_q[11:0] + line_q[12:1];
  assign query_read_valid_o = state_q == Ask && is_query;
  assign observe_valid_o = state_q == Ask && (is_scores || is_sums);
  assign observe_head_o = is_sums ? {line_q[0], part_q} : piece_q[3:0];
  assign observe_slot_o = {line_q[13:0], part_q[1:0]};
  assign asked_line = is_activation ? activation_read_ready_i : is_query ? query_read_ready_i : 1'b1;
  assign took = state_q == AskTake && (!is_activation || activation_data_valid_i);

  // Query memory: (row * heads + head) words of the head's, and exponents alike.
  logic [15:0] query_head_q;
  logic [4:0] head_words;

  assign head_words = 5'(head_columns_q[8:5]) + 5'(|head_columns_q[4:0]);
  assign query_read_address_o = query_head_q * 16'(head_words) + line_q;
  assign query_exponent_address_o = query_head_q;

  always_ff @(posedge clk_i) begin
    // Exponents of activation memory and peaks of the row are chosen by a loop: nothing waits for it.
    if (took) begin
      exponent_q <= query_exponent_i;
      for (int r = 0; r < Rows; r++) begin
        if (row_q == 6'(r) && is_activation) exponent_q <= exponents_i[8*r+:8];
      end
      unique case (variant_q)
        engine_pkg::StoreActivation: begin
          build_q <= line_q[0] ? activation_data_i[1023:512] : activation_data_i[511:0];
        end
        engine_pkg::StoreQuery: build_q <= query_data_i;
        engine_pkg::StoreScores: begin
          unique case (part_q[1:0])
            2'd0: build_q[127:0] <= observe_data_i;
            2'd1: build_q[255:128] <= observe_data_i;
            2'd2: build_q[383:256] <= observe_data_i;
            default: build_q[511:384] <= observe_data_i;
          endcase
        end
        engine_pkg::StoreWeightSums: build_q <= {22'd0, observe_sum_i, build_q[511:64]};
        default: begin
          for (int r = 0; r < Rows; r++) begin
            if (6'(pass_row_q) + row_q == 6'(r)) begin
              build_q[31:0] <= {
                1'b0,
                peaks_q == engine_pkg::PeaksOfProduct ? product_peaks_i[31*r+:31]
                    : peaks_q == engine_pkg::PeaksOfAttend ? attend_peaks_i[31*r+:31]
                    : rows_peaks_i[31*r+:31]
              };
            end
          end
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (send) begin
      host_write_address_o <= address_q;
      if (state_q == SendExponent) begin
        host_write_data_o <= {480'd0, {24{exponent_q[7]}}, exponent_q};
        host_write_strobe_o <= 64'hF;
      end else begin
        if (state_q == Send) host_write_data_o <= build_q;
        else host_write_data_o <= half_q ? word[1023:512] : word[511:0];
        for (int i = 0; i < 64; i++) host_write_strobe_o[i] <= left_q > 23'(i);
      end
    end
    if (!rst_ni) host_write_valid_o <= 1'b0;
    else if (send) host_write_valid_o <= 1'b1;
    else if (host_write_ready_i) host_write_valid_o <= 1'b0;
  end

  // Greedy.
  logic [31:0] greedy_base_q, greedy_index_q;
  logic greedy_idle, greedy_word;

  assign greedy_word = word_done && greedy_q;

  store_greedy #(
      .Config(Config)
  ) u_greedy (
      .clk_i,
      .rst_ni,
      .clear_i(pass_start_i),
      .valid_i(greedy_word),
      .data_i(word),
      .lanes_i(half_q ? (left_q >= 23'd64 ? 6'd32 : 6'd16 + {1'b0, left_q[6:2]})
                      : (left_q >= 23'd64 ? 6'd16 : {1'b0, left_q[6:2]})),
      .row_i(row_q[4:0]),
      .index_i(greedy_index_q),
      .last_i(last_line),
      .table_row_i(table_row_q),
      .table_valid_o(greedy_valid_o),
      .table_address_o(greedy_address_o),
      .table_data_o(greedy_data_o),
      .idle_o(greedy_idle)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || pass_start_i) greedy_base_q <= '0;
    else if (state_q == Finish && done_o && greedy_q) greedy_base_q <= greedy_base_q + 32'(columns_q);
    if (state_q == Row) greedy_index_q <= greedy_base_q;
    else if (word_done) greedy_index_q <= greedy_index_q + 32'd32;
  end

  assign start_ready_o = state_q == Idle;
  assign done_o = state_q == Finish && !host_write_valid_o && !host_pending_i && greedy_idle;
  assign busy_o = state_q != Idle;
  assign stalled_on_input_o = (state_q == Words && room && !word_valid) || (state_q == Ask && !asked_line);
  assign stalled_on_output_o = (host_write_valid_o && !host_write_ready_i) ||
      (state_q == Finish && host_pending_i);
  assign state_o = state_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (start_valid_i) state_d = Shape;
      Shape: if (step_q == 2'd2) state_d = Scale;
      Scale: state_d = Row;
      Row: begin
        if (row_q >= row_end_q || pieces_q == 8'd0) state_d = Finish;
        else if (piece_bytes_q == 23'd0) state_d = NextPiece;
        else state_d = is_vector ? Words : Ask;
      end
      Words: if (send && last_line) state_d = NextRow;
      Ask: if (asked_line) state_d = AskWait;
      AskWait: state_d = AskTake;
      AskTake: if (took) state_d = part_q == parts_less ? Send : Ask;
      Send: begin
        if (send) begin
          if (!last_line) state_d = Ask;
          else state_d = has_exponent ? SendExponent : NextPiece;
        end
      end
      SendExponent: if (send) state_d = NextPiece;
      NextPiece: begin
        if (piece_q + 8'd1 == pieces_q) state_d = NextRow;
        else state_d = piece_bytes_q == 23'd0 ? NextPiece : Ask;
      end
      NextRow: state_d = Row;
      Finish: if (done_o) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
  end

  // The instruction, its rows and the line at hand.
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        if (start_valid_i) begin
          variant_q <= instruction_i.variant;
          peaks_q <= instruction_i.peaks;
          source_q <= instruction_i.source;
          stride_q <= instruction_i.source_stride;
          columns_q <= instruction_i.columns;
          head_columns_q <= instruction_i.head_columns;
          heads_q <= instruction_i.heads;
          group_q <= instruction_i.group;
          greedy_q <= instruction_i.greedy;
          last_row_q <= instruction_i.last_row;
          pass_row_q <= pass_i.row;
          address_q <= 34'(instruction_i.host_offset);
          if (instruction_i.only_row != 6'd0) begin
            row_q <= instruction_i.only_row - 6'd1;
            row_end_q <= instruction_i.only_row > pass_i.rows ? 6'd0 : instruction_i.only_row;
            table_row_q <= pass_i.first_row + 16'(instruction_i.only_row) - 16'd1;
          end else begin
            row_q <= '0;
            row_end_q <= pass_i.rows;
            table_row_q <= pass_i.first_row;
          end
        end
      end
      Scale: address_q <= address_q + first_line_q;
      Row: begin
        left_q <= piece_bytes_q;
        line_q <= '0;
        piece_q <= '0;
        part_q <= '0;
        half_q <= 1'b0;
        query_head_q <= 16'(row_q) * 16'(heads_q);
      end
      Words, Send: begin
        if (send) begin
          left_q <= left_q - 23'd64;
          line_q <= line_q + 16'd1;
          half_q <= !half_q;
          part_q <= '0;
        end
      end
      AskTake: if (took) part_q <= part_q + 3'd1;
      NextPiece: begin
        left_q <= piece_bytes_q;
        line_q <= '0;
        piece_q <= piece_q + 8'd1;
        query_head_q <= query_head_q + 16'd1;
      end
      NextRow: begin
        row_q <= row_q + 6'd1;
        table_row_q <= table_row_q + 16'd1;
      end
      default: ;
    endcase
    if (send) address_q <= address_q + 34'd1;
  end
endmodule
