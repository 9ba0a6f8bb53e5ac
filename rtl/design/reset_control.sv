// Brings the engine and the banks' ports into reset together and out again, and counts epochs.
//
// In the host's clock. A soft reset (a pulse), or a part that fell into reset by itself, raises
// reset_o until every part says that it is in reset, and for 16 cycles at least; then it falls, and
// the reset is over when all have left it. Each counts the epoch up, modulo 256, before reset_o
// rises. A part whose clock stands still keeps the reset from ending: `in_reset_o` tells which has
// not followed. After power-up the first reset runs by itself. A pulse during a reset is no other.
module reset_control (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       soft_reset_i,
    input  logic [4:0] in_reset_i,    // levels of other clocks: banks 0 to 3, engine
    output logic [4:0] in_reset_o,    // the same, in this clock
    output logic       reset_o,
    output logic       resetting_o,
    output logic [7:0] epoch_o
);
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Begin = 2'd1,   // the epoch has changed
    Assert = 2'd2,
    Release = 2'd3
  } state_e;

  state_e state_q, state_d;
  logic [4:0] held_q;
  logic [4:0] in_reset;

  synchronizer #(.Bits(5)) u_in_reset (.clk_i, .d_i(in_reset_i), .q_o(in_reset));

  assign in_reset_o = in_reset;
  assign resetting_o = state_q != Idle;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (soft_reset_i || in_reset != 5'd0) state_d = Begin;
      Begin: state_d = Assert;
      Assert: if (held_q[4] && in_reset == 5'h1F) state_d = Release;
      default: if (in_reset == 5'd0) state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Assert;
      reset_o <= 1'b1;
      held_q <= '0;
      epoch_o <= '0;
    end else begin
      state_q <= state_d;
      reset_o <= state_d == Assert;
      if (state_q != Assert) held_q <= '0;
      else if (!held_q[4]) held_q <= held_q + 5'd1;
      if (state_q == Idle && state_d == Begin) epoch_o <= epoch_o + 8'd1;
    end
  end
endmodule
