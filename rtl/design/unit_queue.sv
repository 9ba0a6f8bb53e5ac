// The instructions that wait for one unit.
//
// Four entries in order; the first starts once every unit has ended as many instructions of this
// pass as the entry needs (one fewer of its producer with `chain`) and the unit is ready. An entry
// with `skip` starts nothing and counts as ended once all before it have. `started_o` and `ended_o`
// count the entries of this pass; `clear_i`, given while the queue is idle, sets both to 0.
// Latency: 2 cycles from a push or from the last needed end to start_valid_o. Start: stream law.
module unit_queue (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    input  logic         halt_i,          // starts nothing more
    input  logic         push_valid_i,
    output logic         push_ready_o,
    input  logic [511:0] push_instruction_i,
    input  logic [ 26:0] push_pass_i,
    input  logic         push_skip_i,
    input  logic [ 79:0] push_need_i,     // 16 bits a unit
    input  logic [ 79:0] ended_i,         // of all units
    output logic         start_valid_o,
    input  logic         start_ready_i,
    output logic [511:0] instruction_o,
    output logic [ 26:0] pass_o,
    input  logic         done_i,
    output logic [ 15:0] ended_o,
    output logic         idle_o
);
  // Entries; instruction and pass are read when they start alone.
  logic [538:0] entries[0:3];
  logic [80:0] waits[0:3];
  logic [2:0] write_q, read_q;
  logic valid, pop, skip;
  logic [79:0] need;

  assign push_ready_o = !(write_q[2] != read_q[2] && write_q[1:0] == read_q[1:0]);
  assign valid = write_q != read_q;
  assign {skip, need} = waits[read_q[1:0]];

  always_ff @(posedge clk_i) begin
    if (push_valid_i && push_ready_o) begin
      entries[write_q[1:0]] <= {push_pass_i, push_instruction_i};
      waits[write_q[1:0]] <= {push_skip_i, push_need_i};
    end
    if (!rst_ni) begin
      write_q <= '0;
      read_q <= '0;
    end else begin
      if (push_valid_i && push_ready_o) write_q <= write_q + 3'd1;
      if (pop) read_q <= read_q + 3'd1;
    end
  end

  logic [4:0] met;
  logic loaded_q;
  logic [15:0] started_q;

  always_comb for (int u = 0; u < 5; u++) met[u] = ended_i[16*u+:16] >= need[16*u+:16];

  // The entry moves to the output register when it may start; a skipped one leaves at once.
  logic load, pass_by;

  assign load = valid && !skip && &met && !halt_i && (!loaded_q || start_ready_i);
  assign pass_by = valid && skip && !loaded_q && started_q == ended_o && !done_i;
  assign pop = load || pass_by;
  assign start_valid_o = loaded_q;
  assign idle_o = !valid && !loaded_q && started_q == ended_o;

  always_ff @(posedge clk_i) begin
    if (load) {pass_o, instruction_o} <= entries[read_q[1:0]];
    if (!rst_ni || clear_i) begin
      loaded_q <= 1'b0;
      started_q <= '0;
      ended_o <= '0;
    end else begin
      if (load) loaded_q <= 1'b1;
      else if (start_ready_i) loaded_q <= 1'b0;
      if (pop) started_q <= started_q + 16'd1;
      if (done_i || pass_by) ended_o <= ended_o + 16'd1;
    end
  end
endmodule
