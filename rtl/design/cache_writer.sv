// Takes beats for the banks to the write queue of the bank each names.
//
// Stream law: a beat waits until its own bank has room. Latency: none. `pending_o` until the banks
// have answered all writes. Addresses are in beats of 64 bytes; `beyond_o` pulses where one lies
// outside the bank (2^27 beats), which drops it. No state of its own.
module cache_writer (
    input  logic         write_valid_i,
    output logic         write_ready_o,
    input  logic [  1:0] write_bank_i,
    input  logic [ 27:0] write_address_i,
    output logic [  3:0] bank_valid_o,
    input  logic [  3:0] bank_ready_i,
    output logic [ 26:0] bank_address_o,
    input  logic [  3:0] bank_pending_i,
    output logic         pending_o,
    output logic         beyond_o
);
  logic in_bank;

  assign in_bank = !write_address_i[27];
  assign bank_valid_o = write_valid_i && in_bank ? 4'd1 << write_bank_i : 4'd0;
  assign write_ready_o = !in_bank || |((4'd1 << write_bank_i) & bank_ready_i);
  assign bank_address_o = write_address_i[26:0];
  assign beyond_o = write_valid_i && !in_bank;
  assign pending_o = |bank_pending_i;
endmodule
