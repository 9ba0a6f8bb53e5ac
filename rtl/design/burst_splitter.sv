// Splits ranges of super-beats into bursts for the banks, and tells the router whose they are.
//
// A burst has 1 to 64 beats and crosses no multiple of 64, so none crosses 4 KB of a bank. It is
// commanded once the FIFOs have room for all of it: `taken_i` gives back the room of a super-beat.
// A range's turn `{unit, count}` goes out before its first command. Ranges of 0 are swallowed.
// Stream law at all four ends. Throughput: a command every 2 cycles. Reset drops what is in flight.
module burst_splitter #(
    parameter int FifoBeats = 1024
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        range_valid_i,
    output logic        range_ready_o,
    input  logic [27:0] range_address_i,
    input  logic [27:0] range_count_i,
    input  logic [ 2:0] range_unit_i,
    output logic        turn_valid_o,
    input  logic        turn_ready_i,
    output logic [ 2:0] turn_unit_o,
    output logic [27:0] turn_count_o,
    output logic        command_valid_o,
    input  logic        command_ready_i,
    output logic [27:0] command_address_o,
    output logic [ 6:0] command_beats_o,
    input  logic        taken_i,
    output logic        idle_o
);
  localparam int CreditBits = $clog2(FifoBeats) + 1;

  logic [27:0] address_q, left_q;
  logic [6:0] to_edge, beats;
  logic [CreditBits-1:0] credit_q;
  logic accept, plan, sent;

  assign accept = range_valid_i && range_ready_o;
  assign range_ready_o = left_q == 28'd0 && !turn_valid_o && !command_valid_o;
  assign idle_o = range_ready_o;

  assign to_edge = 7'd64 - {1'b0, address_q[5:0]};
  assign beats = left_q < 28'(to_edge) ? left_q[6:0] : to_edge;
  assign plan = left_q != 28'd0 && !command_valid_o && !turn_valid_o && credit_q >= CreditBits'(beats);
  assign sent = command_valid_o && command_ready_i;

  always_ff @(posedge clk_i) begin
    if (accept) begin
      turn_unit_o <= range_unit_i;
      turn_count_o <= range_count_i;
      address_q <= range_address_i;
    end
    if (plan) begin
      command_address_o <= address_q;
      command_beats_o <= beats;
      address_q <= address_q + 28'(beats);
    end
    if (!rst_ni) begin
      left_q <= '0;
      turn_valid_o <= 1'b0;
      command_valid_o <= 1'b0;
      credit_q <= CreditBits'(FifoBeats);
    end else begin
      if (accept) left_q <= range_count_i;
      else if (plan) left_q <= left_q - 28'(beats);
      if (accept) turn_valid_o <= range_count_i != 28'd0;
      else if (turn_ready_i) turn_valid_o <= 1'b0;
      if (plan) command_valid_o <= 1'b1;
      else if (sent) command_valid_o <= 1'b0;
      if (plan || taken_i) begin
        credit_q <= credit_q - (plan ? CreditBits'(beats) : '0) + CreditBits'(taken_i);
      end
    end
  end
endmodule
