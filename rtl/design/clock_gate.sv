// The clock of a part that has nothing to do most of the time. clk_o follows clk_i in every cycle in
// which wake_i or reset holds, and for 64 cycles after; else it stays low and the part keeps what it
// holds. A part may hang behind it if, with wake_i low for 64 cycles, no register of it would change
// (but such as nothing reads before the next wake_i). So the gate changes nothing that can be seen:
// synthesis passes clk_i through, where a clock buffer or clock enables are the tool's choice, and the
// simulator passes over parts that sleep.
//
// The enable is taken at the falling edge: wake_i may come from logic of the same cycle. wake_i comes
// from registers of clk_i, or of clocks gated from it. Latency: none.
module clock_gate (
    input  logic clk_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic rst_ni,
    input  logic wake_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic clk_o
);
`ifdef SYNTHESIS
  assign clk_o = clk_i;
`else
  logic [6:0] left_q;  // cycles until sleep; 64: awake
  logic enable_q;

  always_ff @(posedge clk_i) begin
    if (wake_i || !rst_ni) left_q <= 7'd64;
    else if (left_q != 7'd0) left_q <= left_q - 7'd1;
  end
  always_ff @(negedge clk_i) enable_q <= wake_i || !rst_ni || left_q != 7'd0;
  assign clk_o = clk_i && enable_q;
`endif
endmodule
