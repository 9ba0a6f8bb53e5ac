// Counts the engine's cycles by category, by bank and by unit, and answers the CSRs' questions.
//
// Between begin_i and the end of active_i every cycle counts once in `cycles` and in one category,
// the first of these that holds:
//   weight stream    the product unit takes a super-beat, or would and a bank has none
//   KV stream        likewise the attend unit
//   compute          the rows, product, heads or attend unit works and waits for nothing
//   movement         other super-beats; the store unit, host lines or cache writes under way
//   synchronisation  some unit has an instruction at hand
//   idle             none of these
// A question: ask_i changes, index_i says which register; its value is in data_o before answer_o
// follows ask_i. begin_i clears all counters, which otherwise outlive the run; 48 bits each.
module engine_registers (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          begin_i,
    input  logic          active_i,
    // events of this cycle
    input  logic          turn_i,
    input  logic [   2:0] unit_i,
    input  logic          unit_ready_i,
    input  logic          taken_i,
    input  logic [   3:0] bank_valid_i,
    input  logic [   3:0] bank_write_i,
    input  logic [   4:0] busy_i,
    input  logic [   4:0] stalled_on_input_i,
    input  logic [   4:0] stalled_on_output_i,
    input  logic          writes_pending_i,
    input  logic          pass_start_i,
    // values
    input  logic          fault_i,
    input  logic [  15:0] fault_line_i,
    input  logic [  63:0] cause_i,
    input  logic [  63:0] states_i,
    input  logic [  27:0] copied_lines_i,
    input  logic [ 255:0] loaded_i,
    input  logic [  31:0] runs_i,
    // the CSRs' questions
    input  logic          ask_i,            // synchronized
    input  logic [   5:0] index_i,          // still while asked
    output logic          answer_o,
    output logic [  63:0] data_o
);
  logic streams, wants, works, moves;
  logic [5:0] category;

  assign wants = turn_i && unit_ready_i;
  assign streams = taken_i || wants;
  assign works = |(busy_i[3:0] & ~stalled_on_input_i[3:0] & ~stalled_on_output_i[3:0]);
  assign moves = streams || busy_i[engine_pkg::UnitStore] || writes_pending_i;

  always_comb begin
    if (streams && unit_i == 3'(engine_pkg::UnitProduct)) category = 6'b000001;
    else if (streams && unit_i == 3'(engine_pkg::UnitAttend)) category = 6'b000010;
    else if (works) category = 6'b000100;
    else if (moves) category = 6'b001000;
    else if (busy_i != 5'd0) category = 6'b010000;
    else category = 6'b100000;
  end

  // Events are registered, then counted: one bit each, in the order of the registers.
  localparam int Counters = 39;
  logic [Counters-1:0] event_d, event_q;

  always_comb begin
    event_d = '0;
    event_d[0] = active_i;
    event_d[6:1] = active_i ? category : 6'd0;
    event_d[7] = active_i && pass_start_i;
    for (int b = 0; b < 4; b++) begin
      event_d[8+4*b] = active_i && taken_i;
      event_d[9+4*b] = active_i && wants && !bank_valid_i[b];
      event_d[10+4*b] = active_i && bank_valid_i[b] && turn_i && !unit_ready_i;
      event_d[11+4*b] = active_i && bank_write_i[b];
    end
    for (int u = 0; u < 5; u++) begin
      event_d[24+3*u] = active_i && busy_i[u];
      event_d[25+3*u] = active_i && busy_i[u] && stalled_on_input_i[u];
      event_d[26+3*u] = active_i && busy_i[u] && stalled_on_output_i[u];
    end
  end

  always_ff @(posedge clk_i) event_q <= begin_i ? '0 : event_d;

  // The lower 6 bits of all counters lie bit by bit, a register for each: a carry goes through all
  // counters at once, and the upper bits of one move once in 64 events.
  logic [Counters-1:0] bit0_q, bit1_q, bit2_q, bit3_q, bit4_q, bit5_q;
  logic [Counters-1:0] carry1, carry2, carry3, carry4, carry5, carry6;

  assign carry1 = bit0_q & event_q;
  assign carry2 = bit1_q & carry1;
  assign carry3 = bit2_q & carry2;
  assign carry4 = bit3_q & carry3;
  assign carry5 = bit4_q & carry4;
  assign carry6 = bit5_q & carry5;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || begin_i) begin
      bit0_q <= '0;
      bit1_q <= '0;
      bit2_q <= '0;
      bit3_q <= '0;
      bit4_q <= '0;
      bit5_q <= '0;
    end else begin
      bit0_q <= bit0_q ^ event_q;
      bit1_q <= bit1_q ^ carry1;
      bit2_q <= bit2_q ^ carry2;
      bit3_q <= bit3_q ^ carry3;
      bit4_q <= bit4_q ^ carry4;
      bit5_q <= bit5_q ^ carry5;
    end
  end

  (* mem2reg *) logic [41:0] upper_q[0:Counters-1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni || begin_i) begin
      for (int c = 0; c < Counters; c++) upper_q[c] <= '0;
    end else if (carry6 != '0) begin
      for (int c = 0; c < Counters; c++) if (carry6[c]) upper_q[c] <= upper_q[c] + 42'd1;
    end
  end

  // Answers.
  logic asked_q;

  always_ff @(posedge clk_i) begin
    if (asked_q != ask_i) begin
      data_o <= '0;
      unique case (index_i)
        csr_pkg::Fault: data_o <= {32'd0, fault_i ? fault_line_i : 16'd0, 15'd0, fault_i};
        csr_pkg::WatchdogCause: data_o <= cause_i;
        csr_pkg::States: data_o <= states_i;
        csr_pkg::DmaDone: data_o <= 64'(copied_lines_i);
        csr_pkg::Loaded0: data_o <= loaded_i[63:0];
        csr_pkg::Loaded0 + 6'd1: data_o <= loaded_i[127:64];
        csr_pkg::Loaded0 + 6'd2: data_o <= loaded_i[191:128];
        csr_pkg::Loaded0 + 6'd3: data_o <= loaded_i[255:192];
        csr_pkg::Runs: data_o <= 64'(runs_i);
        default: begin
          if (index_i < 6'(Counters)) begin
            data_o <= {
              16'd0, upper_q[index_i], bit5_q[index_i], bit4_q[index_i], bit3_q[index_i],
              bit2_q[index_i], bit1_q[index_i], bit0_q[index_i]
            };
          end
        end
      endcase
    end
    asked_q <= ask_i;
    answer_o <= asked_q;
  end
endmodule
