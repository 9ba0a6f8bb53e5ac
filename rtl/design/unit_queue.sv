// The instructions that wait for one unit.
//
// Four entries in order; the first starts once every unit has ended as many instructions of this
// pass as the entry needs and the unit is ready. An entry with `skip` starts nothing and counts as
// ended once all before it have. `ended_o` pulses for each end; the counts lie in the dispatcher.
// The needs are compared when something has changed (`changed_i`, or a new first entry) alone.
// Latency: 3 cycles from a push or from the last needed end to start_valid_o. Start: stream law.
// `clear_i`, given while the queue is idle, sets the count of started instructions to 0.
module unit_queue (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    input  logic         halt_i,             // starts nothing more
    input  logic         push_valid_i,
    output logic         push_ready_o,
    input  logic [511:0] push_instruction_i,
    input  logic [ 26:0] push_pass_i,
    input  logic         push_skip_i,
    input  logic [ 79:0] push_need_i,        // 16 bits a unit
    input  logic         changed_i,          // some count changes with the next edge
    input  logic [ 79:0] ended_counts_i,     // of all units
    input  logic [ 15:0] own_ended_i,        // of this unit
    output logic         start_valid_o,
    input  logic         start_ready_i,
    output logic [511:0] instruction_o,
    output logic [ 26:0] pass_o,
    input  logic         done_i,
    output logic         ended_o,
    output logic         idle_o
);
  // Entries; they are read when they start, their needs when they are compared.
  logic [538:0] entries[0:3];
  logic [79:0] needs[0:3];
  logic [3:0] skips_q;
  logic [2:0] write_q, read_q;
  logic valid, push, pop, load, pass_by;

  assign push_ready_o = !(write_q[2] != read_q[2] && write_q[1:0] == read_q[1:0]);
  assign valid = write_q != read_q;
  assign push = push_valid_i && push_ready_o;

  always_ff @(posedge clk_i) begin
    if (push) begin
      entries[write_q[1:0]] <= {push_pass_i, push_instruction_i};
      needs[write_q[1:0]] <= push_need_i;
      skips_q[write_q[1:0]] <= push_skip_i;
    end
    if (!rst_ni) begin
      write_q <= '0;
      read_q <= '0;
    end else begin
      if (push) write_q <= write_q + 3'd1;
      if (pop) read_q <= read_q + 3'd1;
    end
  end

  // Whether the first entry may start.
  logic look_q, met_q, skip;

  assign skip = skips_q[read_q[1:0]];

  always_ff @(posedge clk_i) begin
    look_q <= push || pop || changed_i;
    if (!rst_ni || pop) begin
      met_q <= 1'b0;
    end else if (look_q && valid) begin : compare
      logic [79:0] need;
      need = needs[read_q[1:0]];
      met_q <= ended_counts_i[15:0] >= need[15:0] && ended_counts_i[31:16] >= need[31:16] &&
          ended_counts_i[47:32] >= need[47:32] && ended_counts_i[63:48] >= need[63:48] &&
          ended_counts_i[79:64] >= need[79:64];
    end
  end

  logic loaded_q;
  logic [15:0] started_q;

  assign load = met_q && !skip && !halt_i && (!loaded_q || start_ready_i);
  assign pass_by = valid && skip && !loaded_q && !look_q && started_q == own_ended_i && !done_i;
  assign pop = load || pass_by;
  assign start_valid_o = loaded_q;
  assign ended_o = done_i || pass_by;
  assign idle_o = !valid && !loaded_q && started_q == own_ended_i;

  always_ff @(posedge clk_i) begin
    if (load) {pass_o, instruction_o} <= entries[read_q[1:0]];
    if (!rst_ni || clear_i) begin
      loaded_q <= 1'b0;
      started_q <= '0;
    end else begin
      if (load) loaded_q <= 1'b1;
      else if (start_ready_i) loaded_q <= 1'b0;
      if (pop) started_q <= started_q + 16'd1;
    end
  end
endmodule
