// Counts through the quads (4 outputs) of the rows of an instruction, with the address of each in
// vector memory: quad by quad, all rows of each, or, with row_major_i, row by row.
//
// start_i sets it to the first; step_i goes on to the next; the other inputs stay as they are from the
// start to the end. Outputs are registers and comparisons of them. One step a cycle. The registers
// have no reset: what comes before a start means nothing.
module product_walk (
    input  logic        clk_i,
    input  logic        start_i,
    input  logic        step_i,
    input  logic        row_major_i,
    input  logic        wide_i,       // outputs of 64 bits: a word holds 4 quads, not 8
    input  logic [ 5:0] rows_i,
    input  logic [17:0] quads_i,
    input  logic [15:0] base_i,       // word of row 0
    input  logic [15:0] stride_i,     // words from a row to the next
    output logic [ 4:0] row_o,
    output logic [ 2:0] place_o,      // the quad's number within its word
    output logic [15:0] address_o,
    output logic        last_row_o,
    output logic        first_quad_o,
    output logic        last_quad_o
);
  logic [4:0] row_q;
  logic [17:0] quad_q;
  logic [15:0] base_q, address_q, base_next;
  logic word_ends;

  assign row_o       = row_q;
  assign place_o     = wide_i ? {1'b0, quad_q[1:0]} : quad_q[2:0];
  assign address_o   = address_q;
  assign last_row_o  = {1'b0, row_q} + 6'd1 == rows_i;
  assign first_quad_o = quad_q == '0;
  assign last_quad_o = quad_q + 18'd1 == quads_i;

  assign word_ends = wide_i ? quad_q[1:0] == 2'd3 : quad_q[2:0] == 3'd7;
  assign base_next = base_q + (row_major_i ? stride_i : {15'd0, word_ends});

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q     <= '0;
      quad_q    <= '0;
      base_q    <= base_i;
      address_q <= base_i;
    end else if (step_i) begin
      if (row_major_i ? last_quad_o : last_row_o) begin
        row_q     <= row_major_i ? row_q + 5'd1 : 5'd0;
        quad_q    <= row_major_i ? 18'd0 : quad_q + 18'd1;
        base_q    <= base_next;
        address_q <= base_next;
      end else if (row_major_i) begin
        quad_q    <= quad_q + 18'd1;
        address_q <= address_q + {15'd0, word_ends};
      end else begin
        row_q     <= row_q + 5'd1;
        address_q <= address_q + stride_i;
      end
    end
  end
endmodule
