// Reads heads from vector memory, head by head and within a head row by row, and hands them on quad
// by quad with their largest magnitude. With gains_i the gains of a head come first, once.
//
// With chain_i, head h is asked for once the product that writes it has gone past it or has ended.
// The bounds stay as they are from start_i to the last head's peak. A head begins (claim_o) only
// where room_i says that the taker has room for a whole one; then its quads come without back-
// pressure, and head_valid_o with the peak after the last of them. Latency: 9 cycles at a free port
// from the start to the first quad, 4 from the last quad to its peak. Throughput: one quad a cycle;
// a head costs one cycle more only where its words cost more to ask for (words + 1 cycles). A
// request stays until granted. Reset stops all.
module heads_fetch (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            start_i,
    input  logic                            gains_i,
    input  logic [                    15:0] gain_i,        // first word in gain memory
    input  logic                            chain_i,
    input  logic [                     7:0] need_i,        // of the product unit
    input  logic [                    15:0] source_i,
    input  logic [                    15:0] stride_i,
    input  logic [                     5:0] rows_i,        // 1 to 32
    input  logic [                     7:0] heads_i,       // at least 1
    input  logic [                     6:0] quads_i,       // of a head, 1 to 64
    input  logic [                     2:0] last_lanes_i,  // of its last quad, 1 to 4
    output logic                            waiting_o,     // for the product
    // progress of the product unit
    input  logic [                     7:0] product_ended_i,
    input  logic [                    17:0] product_progress_quads_i,
    // vector memory
    output logic                            vm_read_valid_o,
    input  logic                            vm_read_ready_i,
    output logic [                    15:0] vm_read_address_o,
    input  logic                            vm_data_valid_i,
    input  logic [engine_pkg::WordBits-1:0] vm_data_i,
    // gain memory
    output logic                            gain_read_valid_o,
    output logic [                    15:0] gain_read_address_o,
    input  logic [engine_pkg::WordBits-1:0] gain_data_i,
    // quads
    input  logic                            room_i,
    output logic                            claim_o,
    output logic                            quad_valid_o,
    output logic                            quad_gain_o,   // a quad of the gains
    output logic [                     5:0] quad_index_o,
    output logic [                   127:0] quad_o,        // +0 in lanes behind the head
    output logic                            head_valid_o,
    output logic [                    30:0] peak_o
);
  localparam int WordBits = engine_pkg::WordBits;
  localparam int Depth = 4;  // words under way and in the buffer

  typedef enum logic [1:0] {
    StIdle,
    StGains,
    StHead,
    StWords
  } state_e;

  // What is asked for.
  state_e state_q, state_d;
  logic [4:0] row_q;
  logic [7:0] head_q;
  logic [15:0] first_quad_q, row_base_q, request_address_q;
  logic [12:0] word_q, last_word_q;
  logic [2:0] credits_q;
  logic request_q, gain1_q, gain2_q;
  logic [15:0] end_quad;
  logic allowed, issue, issue_gain, last_gain, last_word, last_row, last_head;
  logic pop;

  assign end_quad   = first_quad_q + {9'd0, quads_i};  // behind the head
  assign allowed    = !chain_i || 8'(product_ended_i - need_i) < 8'd128 ||
                      product_progress_quads_i >= {2'd0, end_quad};
  assign last_gain  = word_q == last_word_q;
  assign last_word  = word_q == last_word_q;
  assign last_row   = {1'b0, row_q} + 6'd1 == rows_i;
  assign last_head  = head_q + 8'd1 == heads_i;
  assign issue_gain   = state_q == StGains && credits_q != 3'd0;
  assign issue      = state_q == StWords && credits_q != 3'd0 && (!request_q || vm_read_ready_i);

  assign vm_read_valid_o     = request_q;
  assign vm_read_address_o   = request_address_q;
  assign gain_read_valid_o   = issue_gain;
  assign gain_read_address_o = gain_i + {3'd0, word_q};
  assign waiting_o           = state_q == StHead && !allowed;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (start_i) state_d = gains_i ? StGains : StHead;
      StGains: if (issue_gain && last_gain) state_d = StHead;
      StHead:  if (allowed) state_d = StWords;
      StWords: if (issue && last_word) state_d = last_row && last_head ? StIdle : StHead;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    if (start_i) begin
      row_q        <= '0;
      head_q       <= '0;
      first_quad_q <= '0;
      row_base_q   <= source_i;
      word_q       <= '0;
      last_word_q  <= {9'd0, 4'((quads_i - 7'd1) >> 3)};  // of the gains
    end
    if (issue_gain) word_q <= word_q + 13'd1;
    if (state_q == StHead) begin
      word_q      <= first_quad_q[15:3];
      last_word_q <= 13'((end_quad - 16'd1) >> 3);
    end
    if (issue) begin
      word_q            <= word_q + 13'd1;
      request_address_q <= row_base_q + {3'd0, word_q};
      if (last_word) begin
        row_q      <= last_row ? '0 : row_q + 5'd1;
        row_base_q <= last_row ? source_i : row_base_q + stride_i;
        if (last_row) begin
          head_q       <= head_q + 8'd1;
          first_quad_q <= end_quad;
        end
      end
    end
    request_q <= issue || (request_q && !vm_read_ready_i);
    gain1_q   <= issue_gain;
    gain2_q   <= gain1_q;
    if ((issue || issue_gain) != pop) credits_q <= pop ? credits_q + 3'd1 : credits_q - 3'd1;
    if (!rst_ni) begin
      state_q   <= StIdle;
      request_q <= 1'b0;
      gain1_q   <= 1'b0;
      gain2_q   <= 1'b0;
      credits_q <= 3'(Depth);
    end
  end

  // The words that came; gains are all asked for before the first head.
  logic word_valid, unused_ready, unused_tag, arrived_q;
  logic [WordBits-1:0] arrived_word_q, word;

  always_ff @(posedge clk_i) begin
    if (vm_data_valid_i) arrived_word_q <= vm_data_i;
    else if (gain2_q) arrived_word_q <= gain_data_i;
    arrived_q <= (vm_data_valid_i || gain2_q) && rst_ni;
  end

  word_fifo #(
      .Bits   (WordBits),
      .TagBits(1),
      .Depth  (Depth)
  ) u_words (
      .clk_i,
      .rst_ni,
      .valid_i(arrived_q),
      .ready_o(unused_ready),
      .data_i (arrived_word_q),
      .tag_i  (1'b0),
      .valid_o(word_valid),
      .ready_i(pop),
      .data_o (word),
      .tag_o  (unused_tag)
  );

  // Cut into quads.
  logic cutting_q, in_gains_q;
  logic [5:0] index_q;
  logic [2:0] place_q, first_place_q;  // of the quad within its word
  logic [4:0] cut_row_q;
  logic [7:0] cut_head_q;
  logic cut, last_quad, last_cut_row;

  assign last_quad    = {1'b0, index_q} + 7'd1 == quads_i;
  assign last_cut_row = {1'b0, cut_row_q} + 6'd1 == rows_i;
  assign cut          = cutting_q && word_valid && (index_q != 6'd0 || in_gains_q || room_i);
  assign pop          = cut && (place_q == 3'd7 || last_quad);
  assign claim_o      = cut && index_q == 6'd0 && !in_gains_q;

  function automatic logic [127:0] masked(input logic [127:0] quad, input logic [2:0] lanes);
    masked = {lanes > 3'd3 ? quad[127:96] : 32'd0, lanes > 3'd2 ? quad[95:64] : 32'd0,
              lanes > 3'd1 ? quad[63:32] : 32'd0, quad[31:0]};
  endfunction

  logic last_q;
  logic [2:0] lanes;
  assign lanes = last_quad ? last_lanes_i : 3'd4;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      cutting_q     <= 1'b1;
      in_gains_q    <= gains_i;
      index_q       <= '0;
      place_q       <= '0;
      first_place_q <= '0;
      cut_row_q     <= '0;
      cut_head_q    <= '0;
    end else if (cut) begin
      index_q <= last_quad ? '0 : index_q + 6'd1;
      place_q <= place_q + 3'd1;
      if (last_quad && in_gains_q) begin
        in_gains_q <= 1'b0;
        place_q    <= '0;
      end else if (last_quad && !last_cut_row) begin
        cut_row_q <= cut_row_q + 5'd1;
        place_q   <= first_place_q;
      end else if (last_quad) begin
        cut_row_q     <= '0;
        first_place_q <= place_q + 3'd1;
        cut_head_q    <= cut_head_q + 8'd1;
        cutting_q     <= cut_head_q + 8'd1 != heads_i;
      end
    end
    if (!rst_ni) cutting_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (cut) begin
      unique case (place_q)
        3'd0: quad_o <= masked(word[127:0], lanes);
        3'd1: quad_o <= masked(word[255:128], lanes);
        3'd2: quad_o <= masked(word[383:256], lanes);
        3'd3: quad_o <= masked(word[511:384], lanes);
        3'd4: quad_o <= masked(word[639:512], lanes);
        3'd5: quad_o <= masked(word[767:640], lanes);
        3'd6: quad_o <= masked(word[895:768], lanes);
        default: quad_o <= masked(word[1023:896], lanes);
      endcase
      quad_index_o <= index_q;
      quad_gain_o  <= in_gains_q;
      last_q       <= last_quad;
    end
    quad_valid_o <= cut && rst_ni;
  end

  peak_tree #(
      .Lanes(4)
  ) u_peak (
      .clk_i,
      .rst_ni,
      .valid_i(quad_valid_o && !quad_gain_o),
      .last_i (last_q),
      .data_i (quad_o),
      .valid_o(head_valid_o),
      .peak_o
  );
endmodule
