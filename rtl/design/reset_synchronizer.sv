// A reset (active low) of any clock, released and begun with this module's clock.
//
// Latency: 2 to 3 cycles both ways; it needs the clock to run, as all resets here are synchronous.
module reset_synchronizer (
    input  logic clk_i,
    input  logic rst_ni,
    output logic rst_no
);
  synchronizer #(.Bits(1)) u_reset (.clk_i(clk_i), .d_i(rst_ni), .q_o(rst_no));
endmodule
