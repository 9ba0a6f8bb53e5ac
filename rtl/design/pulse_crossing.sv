// A pulse of one cycle from one clock to a pulse of one cycle in another.
//
// Two pulses closer than three cycles of the slower clock may come over as none; its users send
// events that need to be seen once (errors) or that wait for an answer. Latency: 3 to 4 cycles of
// the target's clock. Reset of either side may lose a pulse, and never makes one up: the target
// looks for changes only once its own copy has settled.
module pulse_crossing (
    input  logic source_clk_i,
    input  logic source_rst_ni,
    input  logic pulse_i,
    input  logic target_clk_i,
    input  logic target_rst_ni,
    output logic pulse_o
);
  logic level_q, level, last_q, settled_q;
  logic [2:0] wait_q;

  always_ff @(posedge source_clk_i) begin
    if (!source_rst_ni) level_q <= 1'b0;
    else if (pulse_i) level_q <= !level_q;
  end

  synchronizer #(.Bits(1)) u_level (.clk_i(target_clk_i), .d_i(level_q), .q_o(level));

  assign pulse_o = settled_q && level != last_q;

  always_ff @(posedge target_clk_i) begin
    last_q <= level;
    if (!target_rst_ni) begin
      settled_q <= 1'b0;
      wait_q <= '0;
    end else if (!settled_q) begin
      wait_q <= wait_q + 1'b1;
      settled_q <= &wait_q;
    end
  end
endmodule
