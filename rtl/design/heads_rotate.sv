// Rotates heads (arithmetic.md section 6) with the rotary row of each head's row, or hands them on
// as they are. Pair p = x[j], r = x[j + half]: low p*c - r*s, high p*s + r*c.
//
// Keeps two heads. Heads come in order, head by head and within a head row by row. The bounds stay
// as they are from start_i on. A head goes out when the taker has room_i, without back-pressure;
// with rotation low and high quads alternate, each counted within its half; head_valid_o with the
// largest magnitude comes after the last quad. Throughput: a head of n columns every n / 4 + 1
// cycles (with rotation every half of each head rounded up to quads). Latency: to the first quad 18
// cycles with rotation, 4 without. Overflow: that of binary32. Reset forgets all heads.
module heads_rotate (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          start_i,
    input  logic          rotate_i,
    input  logic [   5:0] rows_i,
    input  logic [   6:0] quads_i,           // of a head
    input  logic [   7:0] half_i,            // columns of half a head, 1 to 128
    // in
    output logic          room_o,
    input  logic          claim_i,
    input  logic          quad_valid_i,
    input  logic [   5:0] quad_index_i,
    input  logic [ 127:0] quad_i,
    input  logic          head_valid_i,      // with the last quad or later
    // rotary memory
    output logic          rotary_read_valid_o,
    output logic [   6:0] rotary_read_address_o,
    input  logic [2047:0] rotary_data_i,
    // out
    input  logic          room_i,
    output logic          claim_o,
    output logic          quad_valid_o,
    output logic          quad_high_o,
    output logic [   5:0] quad_index_o,
    output logic [ 127:0] quad_o,            // +0 in lanes behind the half
    output logic          head_valid_o,
    output logic [  30:0] peak_o
);
  // Heads so far, modulo 4; a head's slot is its number modulo 2.
  logic [1:0] claimed_q, filled_q, read_q;
  logic write_slot_q;
  assign room_o = 2'(claimed_q - read_q) < 2'd2;

  // The walk over a head.
  logic reading_q, beat_q;
  logic [5:0] index_q;
  logic [4:0] row_q;
  logic [6:0] walk_quads;
  logic may_read, step, last_quad;
  logic [7:0] left;  // columns of the half from this quad on, less 1

  assign walk_quads = rotate_i ? {1'b0, 6'((half_i + 8'd3) >> 2)} : quads_i;
  assign last_quad  = {1'b0, index_q} + 7'd1 == walk_quads;
  assign left       = half_i - {index_q, 2'd0} - 8'd1;
  assign may_read   = read_q != filled_q && room_i;
  assign claim_o    = !reading_q && may_read;
  assign step       = reading_q && (beat_q || !rotate_i);

  logic read_quad;
  logic [8:0] high_element;
  logic [127:0] p_data, r_data;
  assign read_quad    = reading_q && !beat_q;
  assign high_element = {read_q[0], index_q, 2'd0} + {1'b0, half_i};

  quad_memory #(
      .Quads(128)
  ) u_low (
      .clk_i,
      .write_valid_i (quad_valid_i),
      .write_quad_i  ({write_slot_q, quad_index_i}),
      .write_data_i  (quad_i),
      .read_valid_i  (read_quad),
      .read_element_i({read_q[0], index_q, 2'd0}),
      .read_data_o   (p_data)
  );

  quad_memory #(
      .Quads(128)
  ) u_high (
      .clk_i,
      .write_valid_i (quad_valid_i && rotate_i),
      .write_quad_i  ({write_slot_q, quad_index_i}),
      .write_data_i  (quad_i),
      .read_valid_i  (read_quad && rotate_i),
      .read_element_i(high_element),
      .read_data_o   (r_data)
  );

  assign rotary_read_valid_o   = read_quad && rotate_i && index_q[2:0] == 3'd0;
  assign rotary_read_address_o = {row_q, index_q[4:3]};

  // What is read comes two cycles later: {index, beat, last, lanes}.
  localparam int TagBits = 6 + 1 + 1 + 3;
  logic [1:0] valid_q;
  logic [2*TagBits-1:0] tags_q;
  logic [2:0] lanes;
  assign lanes = !rotate_i || left >= 8'd3 ? 3'd4 : {1'b0, left[1:0]} + 3'd1;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      claimed_q    <= '0;
      filled_q     <= '0;
      read_q       <= '0;
      write_slot_q <= 1'b0;
      row_q        <= '0;
    end else begin
      if (claim_i) claimed_q <= claimed_q + 2'd1;
      if (quad_valid_i && {1'b0, quad_index_i} + 7'd1 == quads_i) write_slot_q <= !write_slot_q;
      if (head_valid_i) filled_q <= filled_q + 2'd1;
      if (claim_o) begin
        reading_q <= 1'b1;
        beat_q    <= 1'b0;
        index_q   <= '0;
      end else if (step) begin
        beat_q  <= 1'b0;
        index_q <= index_q + 6'd1;
        if (last_quad) begin
          reading_q <= 1'b0;
          read_q    <= read_q + 2'd1;
          row_q     <= {1'b0, row_q} + 6'd1 == rows_i ? '0 : row_q + 5'd1;
        end
      end else if (reading_q) begin
        beat_q <= 1'b1;
      end
    end
    if (reading_q || valid_q != '0) begin
      valid_q <= {valid_q[0], reading_q};
      tags_q  <= {tags_q[TagBits-1:0], index_q, beat_q, step && last_quad, lanes};
    end
    if (!rst_ni) begin
      claimed_q <= '0;
      filled_q  <= '0;
      read_q    <= '0;
      reading_q <= 1'b0;
      valid_q   <= '0;
    end
  end

  // Operands of a quad of pairs, for both beats.
  logic data_valid, data_beat;
  logic [TagBits-1:0] data_tag;
  logic [127:0] p_q, r_q, c_q, s_q;
  logic operands_valid_q;
  logic [TagBits-1:0] operands_tag_q;

  assign data_valid = valid_q[1];
  assign data_tag   = tags_q[TagBits+:TagBits];
  assign data_beat  = data_tag[4];

  // Four of the 32 pairs of a rotary word: cosines low, sines high.
  function automatic logic [255:0] split(input logic [255:0] pairs);
    split = {pairs[255:224], pairs[191:160], pairs[127:96], pairs[63:32], pairs[223:192],
             pairs[159:128], pairs[95:64], pairs[31:0]};
  endfunction

  always_ff @(posedge clk_i) begin
    if (data_valid && !data_beat) begin
      p_q <= p_data;
      if (rotate_i) begin
        r_q <= r_data;
        unique case (data_tag[7:5])
          3'd0: {s_q, c_q} <= split(rotary_data_i[255:0]);
          3'd1: {s_q, c_q} <= split(rotary_data_i[511:256]);
          3'd2: {s_q, c_q} <= split(rotary_data_i[767:512]);
          3'd3: {s_q, c_q} <= split(rotary_data_i[1023:768]);
          3'd4: {s_q, c_q} <= split(rotary_data_i[1279:1024]);
          3'd5: {s_q, c_q} <= split(rotary_data_i[1535:1280]);
          3'd6: {s_q, c_q} <= split(rotary_data_i[1791:1536]);
          default: {s_q, c_q} <= split(rotary_data_i[2047:1792]);
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (data_valid) operands_tag_q <= data_tag;
    operands_valid_q <= data_valid && rst_ni;
  end

  // Products and sums.
  logic [3:0] first_valid, second_valid, sum_valid;
  logic [127:0] sums;
  logic [TagBits-1:0] first_tag, sum_tag;
  logic multiply, high, unused_valid;
  assign multiply     = operands_valid_q && rotate_i;
  assign high         = operands_tag_q[4];
  assign unused_valid = ^{first_valid, second_valid, sum_valid};

  for (genvar k = 0; k < 4; k++) begin : gen_lane
    logic [31:0] first_y, second_y;
    logic unused_second_tag;
    f32_mul #(
        .TagBits(1)
    ) u_second (
        .clk_i,
        .rst_ni,
        .valid_i(multiply),
        .a_i    (r_q[k*32+:32]),
        .b_i    (high ? c_q[k*32+:32] : s_q[k*32+:32]),
        .tag_i  (1'b0),
        .valid_o(second_valid[k]),
        .y_o    (second_y),
        .tag_o  (unused_second_tag)
    );
    if (k == 0) begin : gen_tagged
      f32_mul #(
          .TagBits(TagBits)
      ) u_first (
          .clk_i,
          .rst_ni,
          .valid_i(multiply),
          .a_i    (p_q[k*32+:32]),
          .b_i    (high ? s_q[k*32+:32] : c_q[k*32+:32]),
          .tag_i  (operands_tag_q),
          .valid_o(first_valid[k]),
          .y_o    (first_y),
          .tag_o  (first_tag)
      );
      f32_add #(
          .TagBits(TagBits)
      ) u_sum (
          .clk_i,
          .rst_ni,
          .valid_i(first_valid[k]),
          .a_i    (first_y),
          .b_i    ({second_y[31] ^ !first_tag[4], second_y[30:0]}),
          .tag_i  (first_tag),
          .valid_o(sum_valid[k]),
          .y_o    (sums[k*32+:32]),
          .tag_o  (sum_tag)
      );
    end else begin : gen_plain
      logic unused_first_tag, unused_sum_tag;
      f32_mul #(
          .TagBits(1)
      ) u_first (
          .clk_i,
          .rst_ni,
          .valid_i(multiply),
          .a_i    (p_q[k*32+:32]),
          .b_i    (high ? s_q[k*32+:32] : c_q[k*32+:32]),
          .tag_i  (1'b0),
          .valid_o(first_valid[k]),
          .y_o    (first_y),
          .tag_o  (unused_first_tag)
      );
      f32_add #(
          .TagBits(1)
      ) u_sum (
          .clk_i,
          .rst_ni,
          .valid_i(first_valid[k]),
          .a_i    (first_y),
          .b_i    ({second_y[31] ^ !first_tag[4], second_y[30:0]}),
          .tag_i  (1'b0),
          .valid_o(sum_valid[k]),
          .y_o    (sums[k*32+:32]),
          .tag_o  (unused_sum_tag)
      );
    end
  end

  // Out: sums, or what was read.
  logic plain, out_valid, out_last_q;
  logic [TagBits-1:0] out_tag;
  logic [127:0] out;
  assign plain     = operands_valid_q && !rotate_i;
  assign out_valid = plain || sum_valid[0];
  assign out_tag   = plain ? operands_tag_q : sum_tag;
  assign out       = plain ? p_q : sums;

  always_ff @(posedge clk_i) begin
    if (out_valid) begin
      quad_o <= {out_tag[2:0] > 3'd3 ? out[127:96] : 32'd0,
                 out_tag[2:0] > 3'd2 ? out[95:64] : 32'd0,
                 out_tag[2:0] > 3'd1 ? out[63:32] : 32'd0, out[31:0]};
      quad_index_o <= out_tag[10:5];
      quad_high_o  <= out_tag[4];
      out_last_q   <= out_tag[3];
    end
    quad_valid_o <= out_valid && rst_ni;
  end

  peak_tree #(
      .Lanes(4)
  ) u_peak (
      .clk_i,
      .rst_ni,
      .valid_i(quad_valid_o),
      .last_i (out_last_q),
      .data_i (quad_o),
      .valid_o(head_valid_o),
      .peak_o
  );
endmodule
