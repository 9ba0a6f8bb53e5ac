// Gives each super-beat of the banks' FIFOs to the unit whose turn it is.
//
// Turns `{unit, count}` come in fetch order and wait in a queue of 64; a super-beat leaves when all
// four banks have their beat and the unit is ready. All units see the same data; the valid of one
// is set. Unit 0 to 4 are those of engine_pkg, 5 the program loader, 6 the DMA.
// Latency: none (the FIFOs' output registers drive the units). Throughput: a super-beat a cycle, also
// over a change of turns. Stream law at all ends. Reset forgets all turns.
module stream_router (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          turn_valid_i,
    output logic          turn_ready_o,
    input  logic [   2:0] turn_unit_i,
    input  logic [  27:0] turn_count_i,
    input  logic [   3:0] data_valid_i,   // of each bank's FIFO
    output logic          data_ready_o,   // takes a beat of all four
    output logic [   6:0] stream_valid_o,
    input  logic [   6:0] stream_ready_i,
    output logic          taken_o,
    output logic          turn_o,         // some unit's turn; unit_o says whose
    output logic [   2:0] unit_o,
    output logic          unit_ready_o
);
  logic next_valid, next_ready;
  logic [2:0] next_unit;
  logic [27:0] next_count;

  sync_fifo #(
      .Bits (31),
      .Depth(64)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .valid_i(turn_valid_i),
      .ready_o(turn_ready_o),
      .data_i({turn_unit_i, turn_count_i}),
      .valid_o(next_valid),
      .ready_i(next_ready),
      .data_o({next_unit, next_count}),
      .used_o()
  );

  logic turn_q, last_q;
  logic [2:0] unit_q;
  logic [6:0] select_q;  // one of them: unit_q
  logic [27:0] left_q;   // super-beats of this turn after the one at the FIFOs
  logic all_valid, taken;

  assign all_valid = &data_valid_i;
  assign unit_ready_o = |(select_q & stream_ready_i);
  assign stream_valid_o = all_valid ? select_q : 7'd0;
  assign taken = all_valid && unit_ready_o;
  assign data_ready_o = taken;
  assign taken_o = taken;
  assign turn_o = turn_q;
  assign unit_o = unit_q;
  assign next_ready = !turn_q || (taken && last_q);

  always_ff @(posedge clk_i) begin
    if (next_valid && next_ready) begin
      unit_q <= next_unit;
      left_q <= next_count - 28'd1;
      last_q <= next_count == 28'd1;
    end else if (taken) begin
      left_q <= left_q - 28'd1;
      last_q <= left_q == 28'd1;
    end
    if (!rst_ni) begin
      turn_q <= 1'b0;
      select_q <= '0;
    end else if (next_ready) begin
      turn_q <= next_valid;
      select_q <= next_valid ? 7'd1 << next_unit : 7'd0;
    end
  end
endmodule
