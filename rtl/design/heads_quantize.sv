// Q16 of heads, put back into the order of their columns and packed into words of 32 int16; with
// write_back_i the binary32 quads also go to vector memory, to where the head came from.
//
// Keeps four heads: that many are under way between the start of one in heads_rotate and its peak.
// Heads come as heads_rotate hands them over: quads of the low half and of the high half
// (low_columns_i: columns of the low one; all of them where nothing was rotated), then the peak.
// The bounds stay as they are from start_i on. A head is begun when the taker has room_i (claim_o);
// its words come in order, zeros behind the last column, each with its exponent, without back-
// pressure. Throughput: a head every 8 * words + 1 cycles while write requests are granted.
// Latency: 16 cycles to the first word. Write requests stay until granted. Overflow: a peak above
// 2^40 raises fault_o (unless nowhere_i) and makes the head all zero. Reset forgets all heads.
module heads_quantize (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    input  logic                              start_i,
    input  logic                              nowhere_i,
    input  logic                              write_back_i,
    input  logic [                      15:0] source_i,
    input  logic [                      15:0] stride_i,
    input  logic [                       5:0] rows_i,
    input  logic [                       6:0] quads_i,
    input  logic [                       8:0] columns_i,
    input  logic [                       8:0] low_columns_i,
    input  logic [                       3:0] words_i,        // of a head, 1 to 8
    output logic                              drained_o,      // no write-back is under way
    output logic                              fault_o,
    // in
    output logic                              room_o,
    input  logic                              claim_i,
    input  logic                              quad_valid_i,
    input  logic                              quad_high_i,
    input  logic [                       5:0] quad_index_i,
    input  logic [                     127:0] quad_i,
    input  logic                              head_valid_i,
    input  logic [                      30:0] peak_i,
    // vector memory
    output logic                              vm_write_valid_o,
    input  logic                              vm_write_ready_i,
    output logic [                      15:0] vm_write_address_o,
    output logic [    engine_pkg::Slices-1:0] vm_write_slices_o,
    output logic [  engine_pkg::WordBits-1:0] vm_write_data_o,
    // words
    input  logic                              room_i,
    output logic                              claim_o,
    output logic                              word_valid_o,
    output logic                              first_o,        // the head's first word
    output logic                              last_o,
    output logic [                     511:0] word_o,
    output logic [                       7:0] exponent_o
);
  localparam int Depth = 16;  // quads on their way to vector memory

  // Heads so far, modulo 8; a head's slot is its number modulo 4.
  logic [2:0] claimed_q, filled_q, read_q;
  logic [1:0] write_slot_q, slot;
  logic [7:0] shift_q[0:3];  // 14 - X, signed
  logic [3:0] zero_q;
  logic head_fault, head_zero, unused_peak;

  assign room_o      = 3'(claimed_q - read_q) < 3'd4;
  assign slot        = read_q[1:0];
  assign head_fault  = peak_i[30:23] > 8'd167;               // X > 40
  assign head_zero   = head_fault || peak_i[30:23] < 8'd67;  // X < -60
  assign fault_o     = head_valid_i && head_fault && !nowhere_i;
  assign unused_peak = ^peak_i[22:0];

  // The walk over a head, to the end of its last word.
  logic reading_q;
  logic [5:0] index_q;
  logic [4:0] row_q;
  logic [15:0] first_quad_q, row_base_q, quad_of_row;
  logic [4:0] credits_q;
  logic step, last_quad, last_row, back, credit_back;
  // Counted along with index_q: columns of the low half and of the head that are left (signed).
  logic [9:0] low_left_q, left_q, high_element_q;

  assign last_quad    = {1'b0, index_q} + 7'd1 == {words_i, 3'd0};
  assign last_row     = {1'b0, row_q} + 6'd1 == rows_i;
  assign claim_o      = !reading_q && read_q != filled_q && room_i;
  assign step         = reading_q && (!write_back_i || credits_q != 5'd0);
  assign back         = step && write_back_i && {1'b0, index_q} < quads_i;
  assign quad_of_row  = first_quad_q + {10'd0, index_q};

  logic [127:0] low_data, high_data;

  quad_memory #(
      .Quads(256)
  ) u_low (
      .clk_i,
      .write_valid_i (quad_valid_i && !quad_high_i),
      .write_quad_i  ({write_slot_q, quad_index_i}),
      .write_data_i  (quad_i),
      .read_valid_i  (step),
      .read_element_i({slot, index_q, 2'd0}),
      .read_data_o   (low_data)
  );

  quad_memory #(
      .Quads(256)
  ) u_high (
      .clk_i,
      .write_valid_i (quad_valid_i && quad_high_i),
      .write_quad_i  ({write_slot_q, quad_index_i}),
      .write_data_i  (quad_i),
      .read_valid_i  (step),
      .read_element_i(high_element_q),
      .read_data_o   (high_data)
  );

  // Lanes that count, of a signed number of columns left.
  function automatic logic [2:0] lanes(input logic [9:0] columns);
    lanes = columns[9] ? 3'd0 : columns[8:0] > 9'd3 ? 3'd4 : columns[2:0];
  endfunction

  // Two cycles later: {write-back and where to, place in the word, first and last, ZE and 14 - X,
  // lanes}.
  localparam int TagBits = 1 + 19 + 3 + 2 + 9 + 6;
  logic [1:0] valid_q;
  logic [2*TagBits-1:0] tags_q;
  logic [TagBits-1:0] tag;
  logic [15:0] back_address;
  assign back_address = row_base_q + {3'd0, quad_of_row[15:3]};
  assign tag = {back, back_address, quad_of_row[2:0], index_q[2:0], index_q[5:3] == 3'd0,
                {1'b0, index_q[5:3]} + 4'd1 == words_i, zero_q[slot], shift_q[slot],
                lanes(low_left_q), lanes(left_q)};

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      claimed_q    <= '0;
      filled_q     <= '0;
      read_q       <= '0;
      write_slot_q <= '0;
      row_q        <= '0;
      first_quad_q <= '0;
      row_base_q   <= source_i;
    end else begin
      if (claim_i) claimed_q <= claimed_q + 3'd1;
      if (head_valid_i) begin
        filled_q               <= filled_q + 3'd1;
        shift_q[filled_q[1:0]] <= 8'd141 - peak_i[30:23];
        zero_q[filled_q[1:0]]  <= head_zero;
      end
      if (quad_valid_i && quad_last) write_slot_q <= write_slot_q + 2'd1;
      if (claim_o) begin
        reading_q      <= 1'b1;
        index_q        <= '0;
        low_left_q     <= {1'b0, low_columns_i};
        left_q         <= {1'b0, columns_i};
        high_element_q <= {slot, 8'd0} - {1'b0, low_columns_i};
      end else if (step) begin
        index_q        <= index_q + 6'd1;
        low_left_q     <= low_left_q - 10'd4;
        left_q         <= left_q - 10'd4;
        high_element_q <= high_element_q + 10'd4;
        if (last_quad) begin
          reading_q  <= 1'b0;
          read_q     <= read_q + 3'd1;
          row_q      <= last_row ? '0 : row_q + 5'd1;
          row_base_q <= last_row ? source_i : row_base_q + stride_i;
          if (last_row) first_quad_q <= first_quad_q + {9'd0, quads_i};
        end
      end
    end
    if (step || valid_q != '0) begin
      valid_q <= {valid_q[0], step};
      tags_q  <= {tags_q[TagBits-1:0], tag};
    end
    if (back != credit_back) credits_q <= credit_back ? credits_q + 5'd1 : credits_q - 5'd1;
    if (!rst_ni) begin
      claimed_q <= '0;
      filled_q  <= '0;
      read_q    <= '0;
      reading_q <= 1'b0;
      valid_q   <= '0;
      credits_q <= 5'(Depth);
    end
  end

  // The last quad of a head that comes in: the high half's last, or the last of all.
  logic [8:0] high_columns;
  logic [6:0] last_half_quads;
  logic quad_last;
  assign high_columns    = columns_i - low_columns_i;
  assign last_half_quads = 7'((high_columns + 9'd3) >> 2);
  assign quad_last       = low_columns_i == columns_i
                         ? {1'b0, quad_index_i} + 7'd1 == quads_i
                         : quad_high_i && {1'b0, quad_index_i} + 7'd1 == last_half_quads;

  // In the order of the columns.
  logic quad_valid_q;
  logic [127:0] quad_q;
  logic [TagBits-1:0] data_tag;
  logic [TagBits-1:6] quad_tag_q;
  assign data_tag = tags_q[TagBits+:TagBits];

  always_ff @(posedge clk_i) begin
    if (valid_q[1]) begin
      for (int k = 0; k < 4; k++) begin
        quad_q[k*32+:32] <= data_tag[2:0] <= 3'(k) ? 32'd0
                          : data_tag[5:3] > 3'(k) ? low_data[k*32+:32] : high_data[k*32+:32];
      end
      quad_tag_q <= data_tag[TagBits-1:6];
    end
    quad_valid_q <= valid_q[1] && rst_ni;
  end

  // Written back: a queue, then a request whose quad stands in every slice.
  logic unused_ready, queue_valid, queue_ready, request_q;
  logic [127:0] queue_quad;
  logic [15:0] queue_address;
  logic [2:0] queue_slice;

  word_fifo #(
      .Bits   (128),
      .TagBits(19),
      .Depth  (Depth)
  ) u_back (
      .clk_i,
      .rst_ni,
      .valid_i(quad_valid_q && quad_tag_q[39]),
      .ready_o(unused_ready),
      .data_i (quad_q),
      .tag_i  (quad_tag_q[38:20]),
      .valid_o(queue_valid),
      .ready_i(queue_ready),
      .data_o (queue_quad),
      .tag_o  ({queue_address, queue_slice})
  );

  assign queue_ready = !request_q || vm_write_ready_i;

  always_ff @(posedge clk_i) begin
    if (queue_valid && queue_ready) begin
      vm_write_address_o <= queue_address;
      vm_write_slices_o  <= 8'd1 << queue_slice;
      vm_write_data_o    <= {8{queue_quad}};
    end
    request_q <= (queue_valid || !queue_ready) && rst_ni;
  end

  assign vm_write_valid_o = request_q;
  assign credit_back      = request_q && vm_write_ready_i;
  assign drained_o        = credits_q == 5'(Depth);

  // Quantized and packed.
  logic quantized_valid, complete_q;
  logic [63:0] quantized;
  logic [2:0] quantized_place;
  logic quantized_first, quantized_last, quantized_zero;
  logic [7:0] quantized_shift;

  rows_quantize #(
      .Lanes  (4),
      .TagBits(14)
  ) u_quantize (
      .clk_i,
      .rst_ni,
      .valid_i(quad_valid_q),
      .x_i    (quad_q),
      .s_i    ({{2{quad_tag_q[13]}}, quad_tag_q[13:6]}),
      .from_i (5'd0),
      .to_i   (quad_tag_q[14] ? 6'd0 : 6'd4),
      .tag_i  (quad_tag_q[19:6]),
      .valid_o(quantized_valid),
      .q_o    (quantized),
      .tag_o  ({quantized_place, quantized_first, quantized_last, quantized_zero, quantized_shift})
  );

  always_ff @(posedge clk_i) begin
    if (quantized_valid) begin
      unique case (quantized_place)
        3'd0: word_o[63:0] <= quantized;
        3'd1: word_o[127:64] <= quantized;
        3'd2: word_o[191:128] <= quantized;
        3'd3: word_o[255:192] <= quantized;
        3'd4: word_o[319:256] <= quantized;
        3'd5: word_o[383:320] <= quantized;
        3'd6: word_o[447:384] <= quantized;
        default: word_o[511:448] <= quantized;
      endcase
      first_o    <= quantized_first;
      last_o     <= quantized_last;
      exponent_o <= quantized_zero ? 8'h80 : -quantized_shift;
    end
    complete_q <= quantized_valid && quantized_place == 3'd7 && rst_ni;
  end

  assign word_valid_o = complete_q;
endmodule
