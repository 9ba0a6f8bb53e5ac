// The norm of heads (arithmetic.md section 5, QK norm): keeps up to four heads, sums the squares of
// each quantized at its own peak, and multiplies it by its factor and the gains.
//
// Takes heads as heads_fetch hands them over; the quads of the gains come before the first one.
// Bounds stay as they are from start_i on, which comes two cycles or more before the first head. A
// head goes out when its factor is there and the taker has room_i; its quads come without back-
// pressure, last_o with the last. Throughput: a head every 2 * quads + 2 cycles or every quarter of
// the latency, whichever is more. Latency: that of norm_root and 2 * quads + 30 cycles. Overflow: a
// peak above 2^40 raises fault_o and counts as all zero. Reset forgets all heads.
module heads_norm (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         start_i,
    input  logic [  6:0] quads_i,
    input  logic [  8:0] columns_i,
    input  logic [ 31:0] epsilon_i,
    output logic         fault_o,
    // in
    output logic         room_o,
    input  logic         claim_i,
    input  logic         quad_valid_i,
    input  logic         quad_gain_i,
    input  logic [  5:0] quad_index_i,
    input  logic [127:0] quad_i,
    input  logic         head_valid_i,
    input  logic [ 30:0] peak_i,
    // out
    input  logic         room_i,
    output logic         claim_o,
    output logic         quad_valid_o,
    output logic [  5:0] quad_index_o,
    output logic [127:0] quad_o,
    output logic         last_o
);
  // Heads so far, modulo 8; a head's slot is its number modulo 4.
  logic [2:0] claimed_q, filled_q, measured_q, summed_q, rooted_q, scaled_q;
  logic [1:0] slot_filling;
  logic [7:0] shift_q[0:3];  // 14 - X, signed
  logic [3:0] zero_q;
  logic [31:0] root_q[0:3];
  logic unused_peak;

  assign room_o       = 3'(claimed_q - scaled_q) < 3'd4;
  assign slot_filling = filled_q[1:0];  // a head's quads end before the next one's begin
  assign unused_peak  = ^peak_i[22:0];

  logic head_fault, head_zero;
  assign head_fault = peak_i[30:23] > 8'd167;               // X > 40
  assign head_zero  = head_fault || peak_i[30:23] < 8'd67;  // X < -60

  // Heads and gains. A head's quads may come while the peak of the one before is under way: the
  // slot written to follows the quads, not the peaks.
  logic [1:0] write_slot_q;
  logic reading_q, scaling_q;
  logic [5:0] index_q;
  logic [1:0] read_slot;
  logic [127:0] x, g;

  quad_memory #(
      .Quads(256)
  ) u_heads (
      .clk_i,
      .write_valid_i (quad_valid_i && !quad_gain_i),
      .write_quad_i  ({write_slot_q, quad_index_i}),
      .write_data_i  (quad_i),
      .read_valid_i  (reading_q),
      .read_element_i({read_slot, index_q, 2'd0}),
      .read_data_o   (x)
  );

  quad_memory #(
      .Quads(64)
  ) u_gains (
      .clk_i,
      .write_valid_i (quad_valid_i && quad_gain_i),
      .write_quad_i  (quad_index_i),
      .write_data_i  (quad_i),
      .read_valid_i  (reading_q && scaling_q),
      .read_element_i({index_q, 2'd0}),
      .read_data_o   (g)
  );

  // A walk over a head: its squares first, later its scaling.
  logic may_measure, may_scale, last_quad;
  assign may_measure = measured_q != filled_q;
  assign may_scale   = scaled_q != rooted_q && room_i;
  assign last_quad   = {1'b0, index_q} + 7'd1 == quads_i;
  assign read_slot   = scaling_q ? scaled_q[1:0] : measured_q[1:0];
  assign claim_o     = !reading_q && !may_measure && may_scale;

  // What is read comes two cycles later.
  logic [1:0] valid_q, scale_q, last_q;
  logic [11:0] index_later_q;
  logic [3:0] slot_later_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      claimed_q    <= '0;
      filled_q     <= '0;
      measured_q   <= '0;
      scaled_q     <= '0;
      write_slot_q <= '0;
    end else begin
      if (claim_i) claimed_q <= claimed_q + 3'd1;
      if (quad_valid_i && !quad_gain_i && {1'b0, quad_index_i} + 7'd1 == quads_i) begin
        write_slot_q <= write_slot_q + 2'd1;
      end
      if (head_valid_i) begin
        filled_q              <= filled_q + 3'd1;
        shift_q[slot_filling] <= 8'd141 - peak_i[30:23];
        zero_q[slot_filling]  <= head_zero;
      end
      if (!reading_q) begin
        reading_q <= may_measure || may_scale;
        scaling_q <= !may_measure;
        index_q   <= '0;
      end else begin
        index_q <= index_q + 6'd1;
        if (last_quad) begin
          reading_q <= 1'b0;
          if (scaling_q) scaled_q <= scaled_q + 3'd1;
          else measured_q <= measured_q + 3'd1;
        end
      end
    end
    if (reading_q || valid_q != '0) begin
      valid_q       <= {valid_q[0], reading_q};
      scale_q       <= {scale_q[0], scaling_q};
      last_q        <= {last_q[0], last_quad};
      index_later_q <= {index_later_q[5:0], index_q};
      slot_later_q  <= {slot_later_q[1:0], read_slot};
    end
    if (!rst_ni) begin
      claimed_q  <= '0;
      filled_q   <= '0;
      measured_q <= '0;
      scaled_q   <= '0;
      reading_q  <= 1'b0;
      valid_q    <= '0;
    end
  end

  assign fault_o = head_valid_i && head_fault;

  // The squares.
  logic quantized_valid, quantized_last, sum_valid, unused_tag;
  logic [63:0] quantized;
  logic [47:0] sum;
  logic [7:0] slot_shift;

  assign slot_shift = shift_q[slot_later_q[3:2]];

  rows_quantize #(
      .Lanes  (4),
      .TagBits(1)
  ) u_quantize (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[1] && !scale_q[1]),
      .x_i    (x),
      .s_i    ({{2{slot_shift[7]}}, slot_shift}),
      .from_i (5'd0),
      .to_i   (zero_q[slot_later_q[3:2]] ? 6'd0 : 6'd4),
      .tag_i  (last_q[1]),
      .valid_o(quantized_valid),
      .q_o    (quantized),
      .tag_o  (quantized_last)
  );

  sum_of_squares #(
      .Lanes  (4),
      .TagBits(1)
  ) u_squares (
      .clk_i,
      .rst_ni,
      .valid_i(quantized_valid),
      .last_i (quantized_last),
      .q_i    (quantized),
      .tag_i  (1'b0),
      .valid_o(sum_valid),
      .sum_o  (sum),
      .tag_o  (unused_tag)
  );

  logic root_valid;
  logic [31:0] root;
  logic [1:0] root_slot;

  norm_root #(
      .TagBits(2),
      .Depth  (4)
  ) u_root (
      .clk_i,
      .rst_ni,
      .columns_valid_i(start_i),
      .columns_i      ({11'd0, columns_i}),
      .epsilon_i,
      .valid_i        (sum_valid),
      .sum_i          (sum),
      .e_i            (-shift_q[summed_q[1:0]]),
      .zero_i         (zero_q[summed_q[1:0]]),
      .tag_i          (summed_q[1:0]),
      .valid_o        (root_valid),
      .root_o         (root),
      .tag_o          (root_slot)
  );

  always_ff @(posedge clk_i) begin
    if (sum_valid) summed_q <= summed_q + 3'd1;
    if (root_valid) begin
      root_q[root_slot] <= root;
      rooted_q          <= rooted_q + 3'd1;
    end
    if (start_i || !rst_ni) begin
      summed_q <= '0;
      rooted_q <= '0;
    end
  end

  // Scaled: the gains travel along with the first product.
  logic [3:0] first_valid, second_valid;
  logic [127:0] second_y;
  logic [6:0] first_tag, second_tag;
  logic [31:0] slot_root;
  logic unused_valid;

  assign slot_root    = root_q[slot_later_q[3:2]];
  assign unused_valid = ^{first_valid, second_valid};

  for (genvar k = 0; k < 4; k++) begin : gen_lane
    logic [31:0] first_y, first_g;
    if (k == 0) begin : gen_tagged
      f32_mul #(
          .TagBits(39)
      ) u_first (
          .clk_i,
          .rst_ni,
          .valid_i(valid_q[1] && scale_q[1]),
          .a_i    (x[k*32+:32]),
          .b_i    (slot_root),
          .tag_i  ({last_q[1], index_later_q[11:6], g[k*32+:32]}),
          .valid_o(first_valid[k]),
          .y_o    (first_y),
          .tag_o  ({first_tag, first_g})
      );
      f32_mul #(
          .TagBits(7)
      ) u_second (
          .clk_i,
          .rst_ni,
          .valid_i(first_valid[k]),
          .a_i    (first_y),
          .b_i    (first_g),
          .tag_i  (first_tag),
          .valid_o(second_valid[k]),
          .y_o    (second_y[k*32+:32]),
          .tag_o  (second_tag)
      );
    end else begin : gen_plain
      logic unused_second_tag;
      f32_mul #(
          .TagBits(32)
      ) u_first (
          .clk_i,
          .rst_ni,
          .valid_i(valid_q[1] && scale_q[1]),
          .a_i    (x[k*32+:32]),
          .b_i    (slot_root),
          .tag_i  (g[k*32+:32]),
          .valid_o(first_valid[k]),
          .y_o    (first_y),
          .tag_o  (first_g)
      );
      f32_mul #(
          .TagBits(1)
      ) u_second (
          .clk_i,
          .rst_ni,
          .valid_i(first_valid[k]),
          .a_i    (first_y),
          .b_i    (first_g),
          .tag_i  (1'b0),
          .valid_o(second_valid[k]),
          .y_o    (second_y[k*32+:32]),
          .tag_o  (unused_second_tag)
      );
    end
  end

  assign quad_valid_o           = second_valid[0];
  assign quad_o                 = second_y;
  assign {last_o, quad_index_o} = second_tag;
endmodule
