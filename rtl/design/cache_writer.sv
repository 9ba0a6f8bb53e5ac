// Takes beats for the banks, the units' or the DMA's, to the write queue of the bank each names.
//
// One register; a beat waits in it until its own bank has room. `copy_i` says whose beats are taken.
// Stream law at all ends. Latency: 1 cycle. Throughput: a beat a cycle. `pending_o` from the cycle
// after a beat is taken until the banks have answered all. Addresses are in beats of 64 bytes;
// `beyond_o` where one lies outside the bank (2^27 beats), which drops it. Reset empties it.
module cache_writer (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         copy_i,
    input  logic         unit_valid_i,
    output logic         unit_ready_o,
    input  logic [  1:0] unit_bank_i,
    input  logic [ 27:0] unit_address_i,
    input  logic [511:0] unit_data_i,
    input  logic [ 63:0] unit_strobe_i,
    input  logic         copy_valid_i,
    output logic         copy_ready_o,
    input  logic [  1:0] copy_bank_i,
    input  logic [ 27:0] copy_address_i,
    input  logic [511:0] copy_data_i,
    output logic [  3:0] bank_valid_o,
    input  logic [  3:0] bank_ready_i,
    output logic [ 26:0] bank_address_o,
    output logic [511:0] bank_data_o,
    output logic [ 63:0] bank_strobe_o,
    input  logic [  3:0] bank_pending_i,
    output logic         pending_o,
    output logic         beyond_o,
    output logic         taken_o
);
  logic valid_q, beyond_q, ready;
  logic [3:0] select_q;

  assign ready = !valid_q || beyond_q || |(select_q & bank_ready_i);
  assign unit_ready_o = ready && !copy_i;
  assign copy_ready_o = ready && copy_i;
  assign taken_o = ready && (copy_i ? copy_valid_i : unit_valid_i);
  assign bank_valid_o = valid_q && !beyond_q ? select_q : 4'd0;
  assign beyond_o = valid_q && beyond_q;
  assign pending_o = valid_q || |bank_pending_i;

  always_ff @(posedge clk_i) begin
    if (taken_o) begin
      if (copy_i) begin
        select_q <= 4'd1 << copy_bank_i;
        {beyond_q, bank_address_o} <= copy_address_i;
        bank_data_o <= copy_data_i;
        bank_strobe_o <= '1;
      end else begin
        select_q <= 4'd1 << unit_bank_i;
        {beyond_q, bank_address_o} <= unit_address_i;
        bank_data_o <= unit_data_i;
        bank_strobe_o <= unit_strobe_i;
      end
    end
    if (!rst_ni) valid_q <= 1'b0;
    else if (ready) valid_q <= taken_o;
  end
endmodule
