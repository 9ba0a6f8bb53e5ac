// A pair's outputs: o = 2^(E - 23) * f32(F(A) * inv), four columns a cycle, to vector memory, and the
// greatest magnitude of each row's. Where E is ZE all weights are 0, so A is 0 and o is +0. The heads
// of a row lie one after the other, from any lane on, so columns pass a shifter of lanes on their way
// into words.
//
// Latency: 18 cycles from the read of the sums to a word. Throughput: 4 columns a cycle; a word at a
// time is written. The pipe does not stop: reads wait while more than two words wait to be written,
// and 18 quads and the ends of three rows fill at most six more. Lanes in front of the row's first
// element, in its slice, and after its last one, up to the end of its word, are written as +0.
// Reset clears what is under way.
module attend_outputs #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,         // of an instruction that keeps maxima
    input  attend_pkg::shape_t        shape_i,
    input  logic                      setup_i,         // these stand:
    input  logic [              15:0] row_base_i,
    input  logic [              15:0] stride_i,
    input  logic [              19:0] element_i,
    input  logic [               4:0] first_row_i,
    // The last values of a pair leave; its E and heads then. Later all its sums stand.
    input  logic                      values_end_i,
    input  logic                      values_parity_i,
    // verilator lint_off UNUSEDSIGNAL
    input  attend_pkg::pair_t         pair_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [               7:0] greatest_exponent_i,
    input  logic                      sums_ready_i,
    output logic                      sums_free_o,     // the last are read, with the inverses of
    output logic                      sums_parity_o,   // this parity
    input  logic [               1:0] inverses_ready_i,
    output logic [               4:0] inverse_index_o,
    input  logic [              31:0] inverse_i,
    // Sums, three cycles later.
    output logic                      read_valid_o,
    output logic [               1:0] read_set_o,
    output logic [               2:0] read_word_o,
    output logic [               1:0] read_head_o,
    output logic [               2:0] read_quad_o,
    input  logic [             255:0] read_data_i,
    // Vector memory.
    output logic                      vm_write_valid_o,
    input  logic                      vm_write_ready_i,
    output logic [              15:0] vm_write_address_o,
    output logic [               7:0] vm_write_slices_o,
    output logic [            1023:0] vm_write_data_o,
    output logic [Config.rows*31-1:0] peaks_o,
    output logic                      idle_o
);
  typedef enum logic [1:0] {
    Idle,
    Wait,
    Read
  } state_e;

  typedef struct packed {
    logic       row_last;   // the row's last quad
    logic       head_last;  // the head's: its last columns may be missing
    logic       parity;
    logic [3:0] head;
    logic [7:0] exponent;   // E
  } tag_t;

  // Reads of the sums, head by head.
  state_e state_q, state_d;
  logic parity_q, row_last_q;
  logic [3:0] last_head_q, head_q;
  logic [7:0] exponent_q;
  logic [5:0] quad_q;
  logic room, read, last_quad, last_head;
  assign last_quad   = quad_q == shape_i.last_quad;
  assign last_head   = head_q == last_head_q;
  assign read        = state_q == Read && room;
  assign sums_free_o = read && last_quad && last_head;
  assign sums_parity_o = parity_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (sums_ready_i) state_d = Wait;
      Wait: if (inverses_ready_i[parity_q]) state_d = Read;
      Read: if (sums_free_o) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  assign read_valid_o = read;
  assign read_set_o   = head_q[3:2];
  assign read_head_o  = head_q[1:0];
  assign read_word_o  = quad_q[5:3];
  assign read_quad_o  = quad_q[2:0];

  logic [2:0] under_way_q;
  tag_t tag1_q, tag2_q, tag3_q;
  logic [4:0] flying_q;  // quads between their read and the shifter
  logic quad_valid_q;

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    if (values_end_i) begin
      parity_q    <= values_parity_i;
      exponent_q  <= greatest_exponent_i;
      last_head_q <= pair_i.last_head;
      row_last_q  <= pair_i.row_last;
      head_q      <= 4'd0;
      quad_q      <= 6'd0;
    end
    if (read) begin
      quad_q <= last_quad ? 6'd0 : quad_q + 6'd1;
      if (last_quad) head_q <= head_q + 4'd1;
      tag1_q <= {row_last_q && last_quad && last_head, last_quad, parity_q, head_q, exponent_q};
    end
    if (under_way_q[0]) tag2_q <= tag1_q;
    if (under_way_q[1]) tag3_q <= tag2_q;
    if (read || under_way_q != 3'd0) under_way_q <= {under_way_q[1:0], read};
    if (read != quad_valid_q) flying_q <= read ? flying_q + 5'd1 : flying_q - 5'd1;
    if (!rst_ni) begin
      state_q     <= Idle;
      under_way_q <= 3'd0;
      flying_q    <= 5'd0;
    end
  end

  // Four lanes; the first carries the tag.
  logic converted_valid, scaled_valid;
  tag_t converted_tag, factor_tag_q;
  // verilator lint_off UNUSEDSIGNAL
  tag_t product_tag;  // the head has done its part
  // verilator lint_on UNUSEDSIGNAL
  logic factor_valid_q;
  logic [31:0] factor_q;
  logic [127:0] scaled;
  logic [9:0] power;
  assign inverse_index_o = {converted_tag.parity, converted_tag.head};
  assign power           = {{2{product_tag.exponent[7]}}, product_tag.exponent} - 10'd23;

  always_ff @(posedge clk_i) begin
    if (converted_valid || factor_valid_q) factor_valid_q <= converted_valid;
    if (converted_valid) begin
      factor_q     <= inverse_i;
      factor_tag_q <= converted_tag;
    end
    if (!rst_ni) factor_valid_q <= 1'b0;
  end

  for (genvar l = 0; l < 4; l++) begin : g_lane
    localparam int TagBits = l == 0 ? 15 : 1;
    logic [TagBits-1:0] tag, tag_converted, tag_factor, tag_product;
    logic converted, valid, missing;
    logic [31:0] number, number_q, product, result;
    if (l == 0) begin : g_first
      assign tag             = tag3_q;
      assign converted_tag   = tag_converted;
      assign converted_valid = converted;
      assign tag_factor      = factor_tag_q;
      assign product_tag     = tag_product;
      assign scaled_valid    = valid;
    end else begin : g_bare
      logic unused;
      assign tag        = 1'b0;
      assign tag_factor = 1'b0;
      assign unused     = ^{tag_converted, tag_product, valid};
    end
    int_to_f32 #(
        .TagBits(TagBits)
    ) convert (
        .clk_i,
        .rst_ni,
        .valid_i(under_way_q[2]),
        .i_i    (read_data_i[64*l+:64]),
        .tag_i  (tag),
        .valid_o(converted),
        .y_o    (number),
        .tag_o  (tag_converted)
    );
    always_ff @(posedge clk_i) begin
      if (converted) number_q <= number;
    end
    f32_mul #(
        .TagBits(TagBits)
    ) multiply (
        .clk_i,
        .rst_ni,
        .valid_i(factor_valid_q),
        .a_i    (number_q),
        .b_i    (factor_q),
        .tag_i  (tag_factor),
        .valid_o(valid),
        .y_o    (product),
        .tag_o  (tag_product)
    );
    f32_scale scale (
        .x_i(product),
        .e_i(power),
        .y_o(result)
    );
    assign missing = l > 0 && product_tag.head_last && {1'b0, shape_i.last_count} < 3'(l);
    assign scaled[32*l+:32] = missing ? 32'd0 : result;
  end

  // The quad, and how many of its columns there are.
  logic [127:0] four_q;
  logic [1:0] count_q;  // less 1
  logic row_end_q;

  always_ff @(posedge clk_i) begin
    if (scaled_valid || quad_valid_q) quad_valid_q <= scaled_valid;
    if (scaled_valid) begin
      four_q    <= scaled;
      count_q   <= product_tag.head_last ? shape_i.last_count : 2'd3;
      row_end_q <= product_tag.row_last;
    end
    if (!rst_ni) quad_valid_q <= 1'b0;
  end

  // The shifter: up to three columns wait for the rest of their slice. Behind a row's last quad a
  // slice may be left over; another pair's quads come later than that.
  logic [95:0] rest_q;
  logic [1:0] rest_count_q;
  logic flush_q;
  logic [223:0] joined;
  logic [2:0] total;
  logic slice_ready;
  assign total       = {1'b0, rest_count_q} + {1'b0, count_q} + 3'd1;
  assign slice_ready = total[2];

  always_comb begin
    unique case (rest_count_q)
      2'd0: joined = {96'd0, four_q};
      2'd1: joined = {64'd0, four_q, rest_q[31:0]};
      2'd2: joined = {32'd0, four_q, rest_q[63:0]};
      default: joined = {four_q, rest_q};
    endcase
  end

  // Words.
  logic slice_valid_q, slice_end_q, word_valid_q, word_end, fresh_q;
  logic [127:0] slice_data_q;
  logic [2:0] slice_q;
  logic [7:0] slices_q, word_slices_q;
  logic [1023:0] word_q;
  logic [15:0] base_q, address_q, word_address_q;
  assign word_end = slice_q == 3'd7 || slice_end_q;

  always_ff @(posedge clk_i) begin
    if (quad_valid_q || flush_q) begin
      slice_valid_q <= flush_q || slice_ready;
      slice_data_q  <= flush_q ? {32'd0, rest_q} : joined[127:0];
      slice_end_q   <= flush_q || (row_end_q && total == 3'd4);
      if (flush_q || (row_end_q && total == 3'd4)) begin
        rest_q       <= 96'd0;
        rest_count_q <= element_i[1:0];
      end else begin
        rest_q       <= slice_ready ? joined[223:128] : joined[95:0];
        rest_count_q <= total[1:0];
      end
      flush_q <= !flush_q && row_end_q && total != 3'd4;
    end else begin
      slice_valid_q <= 1'b0;
    end
    if (slice_valid_q || word_valid_q) word_valid_q <= slice_valid_q && word_end;
    if (slice_valid_q) begin
      for (int i = 0; i < 8; i++) begin
        if (slice_q == 3'(i)) word_q[128*i+:128] <= slice_data_q;
        else if (fresh_q) word_q[128*i+:128] <= 128'd0;
      end
      fresh_q        <= word_end;
      slice_q        <= slice_end_q ? element_i[4:2] : slice_q + 3'd1;
      word_address_q <= address_q;
      word_slices_q  <= slices_q;
      if (slice_end_q) begin
        base_q    <= base_q + stride_i;
        address_q <= base_q + stride_i + {1'b0, element_i[19:5]};
        slices_q  <= 8'hFF << element_i[4:2];
      end else if (word_end) begin
        address_q <= address_q + 16'd1;
        slices_q  <= 8'hFF;
      end
    end
    if (setup_i) begin
      base_q       <= row_base_i;
      address_q    <= row_base_i + {1'b0, element_i[19:5]};
      slice_q      <= element_i[4:2];
      slices_q     <= 8'hFF << element_i[4:2];
      rest_q       <= 96'd0;
      rest_count_q <= element_i[1:0];
      fresh_q      <= 1'b1;
    end
    if (!rst_ni) begin
      flush_q       <= 1'b0;
      slice_valid_q <= 1'b0;
      word_valid_q  <= 1'b0;
    end
  end

  // What waits to be written.
  logic [3:0] words_q;
  logic written, fifo_ready;
  assign written = vm_write_valid_o && vm_write_ready_i;
  assign room    = words_q <= 4'd2;
  assign idle_o  = state_q == Idle && flying_q == 5'd0 && !quad_valid_q && !flush_q &&
                   !slice_valid_q && !word_valid_q && words_q == 4'd0;

  word_fifo #(
      .Bits   (1024),
      .TagBits(24),
      .Depth  (8)
  ) waiting (
      .clk_i,
      .rst_ni,
      .valid_i(word_valid_q),
      .ready_o(fifo_ready),
      .data_i (word_q),
      .tag_i  ({word_address_q, word_slices_q}),
      .valid_o(vm_write_valid_o),
      .ready_i(vm_write_ready_i),
      .data_o (vm_write_data_o),
      .tag_o  ({vm_write_address_o, vm_write_slices_o})
  );

  always_ff @(posedge clk_i) begin
    if (word_valid_q != written) words_q <= word_valid_q ? words_q + 4'd1 : words_q - 4'd1;
    if (!rst_ni) words_q <= 4'd0;
  end

  // The greatest magnitude: of two columns each, of the quad, of the row so far.
  logic [4:0] row_q, twos_row_q, fours_row_q;
  logic twos_valid_q, fours_valid_q, unused;
  logic [30:0] low_q, high_q, greatest_q;
  assign unused = fifo_ready;

  function automatic logic [30:0] larger(input logic [30:0] a, input logic [30:0] b);
    larger = a > b ? a : b;
  endfunction

  always_ff @(posedge clk_i) begin
    if (quad_valid_q || twos_valid_q || fours_valid_q) begin
      twos_valid_q  <= quad_valid_q;
      fours_valid_q <= twos_valid_q;
    end
    if (quad_valid_q) begin
      low_q      <= larger(four_q[30:0], four_q[62:32]);
      high_q     <= larger(four_q[94:64], four_q[126:96]);
      twos_row_q <= row_q;
      if (row_end_q) row_q <= row_q + 5'd1;
    end
    if (twos_valid_q) begin
      greatest_q  <= larger(low_q, high_q);
      fours_row_q <= twos_row_q;
    end
    if (fours_valid_q) begin
      for (int r = 0; r < Config.rows; r++) begin
        if (fours_row_q == 5'(r)) peaks_o[31*r+:31] <= larger(peaks_o[31*r+:31], greatest_q);
      end
    end
    if (start_i) peaks_o <= '0;
    if (setup_i) row_q <= first_row_i;
    if (!rst_ni) begin
      twos_valid_q  <= 1'b0;
      fours_valid_q <= 1'b0;
    end
  end
endmodule
