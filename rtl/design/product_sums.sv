// Adds the sums of several chips (OpScale) up, 64 columns at a time: a super-beat holds the int64 of 32
// columns of one chip; those of the last chip come out as whole sums, quad by quad.
//
// Stream law at both ends: once valid, valid stays and data stay as they are until ready. A super-beat
// takes 8 cycles, a quad each, and is taken (beat_ready_o) with the last one; the beat_* inputs stay
// until then. Latency: 3 cycles from a quad's cycle to quad_valid_o. Sums are added modulo 2^64; those
// of a program fit in 46 bits. Reset clears what is under way.
module product_sums (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    input  logic                                 beat_valid_i,
    output logic                                 beat_ready_o,
    input  logic [engine_pkg::StreamBits-1:0] beat_data_i,
    input  logic                                 beat_first_i,  // of the first chip: nothing to add to
    input  logic                                 beat_last_i,   // of the last chip
    input  logic                                 beat_half_i,   // columns 32-63
    input  logic [                          4:0] beat_quads_i,  // quads of the 64 columns that count
    output logic                                 waiting_o,     // for quad_ready_i
    output logic                                 quad_valid_o,
    input  logic                                 quad_ready_i,
    output logic [                        255:0] quad_sums_o
);
  logic advance, take;
  logic [2:0] quad_q;
  logic [3:0] place;

  logic [255:0] partial[0:15];  // of the quads of 64 columns

  // Stage 1: a quad's terms. Stage 2: the low halves added. Stage 3: the high halves.
  logic valid1_q, valid2_q, valid3_q, whole1_q, whole2_q, whole3_q;
  logic [3:0] place1_q, place2_q;
  logic [255:0] terms1_q, before1_q, sums3_q;
  logic [131:0] low2_q;                    // 4 of 33 bits
  logic [127:0] terms2_q, before2_q;       // the high halves

  assign advance      = !(valid3_q && whole3_q) || quad_ready_i;
  assign waiting_o    = !advance;
  assign take         = beat_valid_i && advance;
  assign place        = {beat_half_i, quad_q};
  assign beat_ready_o = advance && quad_q == 3'd7;
  assign quad_valid_o = valid3_q && whole3_q;
  assign quad_sums_o  = sums3_q;

  always_ff @(posedge clk_i) begin
    if (take) quad_q <= quad_q + 3'd1;
    if (!rst_ni) quad_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      valid1_q <= beat_valid_i;
      valid2_q <= valid1_q;
      valid3_q <= valid2_q;
    end
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      unique case (quad_q)
        3'd0: terms1_q <= beat_data_i[255:0];
        3'd1: terms1_q <= beat_data_i[511:256];
        3'd2: terms1_q <= beat_data_i[767:512];
        3'd3: terms1_q <= beat_data_i[1023:768];
        3'd4: terms1_q <= beat_data_i[1279:1024];
        3'd5: terms1_q <= beat_data_i[1535:1280];
        3'd6: terms1_q <= beat_data_i[1791:1536];
        default: terms1_q <= beat_data_i[2047:1792];
      endcase
      before1_q <= beat_first_i ? '0 : partial[place];
      place1_q  <= place;
      whole1_q  <= beat_last_i && {1'b0, place} < beat_quads_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance && valid1_q) begin
      for (int b = 0; b < 4; b++) begin
        low2_q[33*b+:33]    <= {1'b0, terms1_q[64*b+:32]} + {1'b0, before1_q[64*b+:32]};
        terms2_q[32*b+:32]  <= terms1_q[64*b+32+:32];
        before2_q[32*b+:32] <= before1_q[64*b+32+:32];
      end
      place2_q <= place1_q;
      whole2_q <= whole1_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance && valid2_q) begin : high
      logic [255:0] sums;
      for (int b = 0; b < 4; b++) begin
        sums[64*b+:64] = {
          terms2_q[32*b+:32] + before2_q[32*b+:32] + {31'd0, low2_q[33*b+32]}, low2_q[33*b+:32]
        };
      end
      sums3_q           <= sums;
      whole3_q          <= whole2_q;
      partial[place2_q] <= sums;  // read again 16 quads later
    end
  end
endmodule
