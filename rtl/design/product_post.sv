// What becomes of y: the post steps of the product unit, the writes to vector memory, the peaks and
// the progress.
//
// PostPlain and PostSums: written as they are. PostResidual: x is read from vector memory ahead, z =
// f32(x + y), below 2^-60 +0. PostSilu: a gate's quads wait, go one value after the other through
// SiluLanes silu pipes, and meet the up quads of the same row. The last quad of a row is written with
// zeros after the last column up to the end of its word.
//
// One instruction at a time: start_i, done_o when the last write is granted, its peaks are kept and
// hold_i is low. A row's peak is set anew by its first quad, not by the start: who reads the former
// instruction's peaks (a norm, a quantizer) may do so while this one starts and waits for its words.
// y comes without back-pressure: who sends it takes a place first (room_o and reserve_i for y,
// gate_room_o and reserve_gate_i for a gate's quads). Throughput: a quad of a row a cycle; of PostSilu
// SiluLanes gate values. Vector read: at most 64 quads ahead, data exactly 2 cycles after the grant.
// Vector write: once valid, all stays as it is until ready. Reset forgets what is under way. Between a
// queue's output (memory of LUTs, read at once) and a binary32 unit or a comparison lies a register.
module product_post #(
    parameter engine_pkg::config_t Config = engine_pkg::Default,
    parameter int SiluLanes = 1,  // 1, 2 or 4
    localparam int Rows = Config.rows
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    // start; these stay as they are to the end
    input  logic                               start_i,
    input  engine_pkg::instruction_t        instruction_i,
    input  logic [                        5:0] rows_i,
    input  logic [                       17:0] quads_i,  // of a row, as written
    input  logic                               hold_i,  // something of the instruction is to come
    output logic                               done_o,
    output logic [                       17:0] progress_quads_o,
    // y
    output logic                               room_o,
    output logic                               gate_room_o,
    input  logic                               reserve_i,
    input  logic                               reserve_gate_i,
    input  logic                               y_valid_i,
    input  logic [                      255:0] y_i,
    // vector memory
    output logic                               vm_read_valid_o,
    input  logic                               vm_read_ready_i,
    output logic [                       15:0] vm_read_address_o,
    input  logic                               vm_data_valid_i,
    input  logic [  engine_pkg::WordBits-1:0] vm_data_i,
    output logic                               vm_write_valid_o,
    input  logic                               vm_write_ready_i,
    output logic [                       15:0] vm_write_address_o,
    output logic [    engine_pkg::Slices-1:0] vm_write_slices_o,
    output logic [  engine_pkg::WordBits-1:0] vm_write_data_o,
    output logic [                Rows*31-1:0] peaks_o
);
  localparam int Waiting = 32;   // quads of y, and of gates
  localparam int Operands = 64;  // quads of x, or of SiLU: a silu pipe holds 120 values
  localparam int Results = 16;
  localparam logic [30:0] Vanishing = 31'h21800000;  // 2^-60

  logic plain, residual, silu, sums, row_major;
  assign residual  = instruction_i.variant == engine_pkg::PostResidual;
  assign silu      = instruction_i.variant == engine_pkg::PostSilu;
  assign sums      = instruction_i.variant == engine_pkg::PostSums;
  assign plain     = !residual && !silu;
  assign row_major = instruction_i.op == engine_pkg::OpScale;

  // y, apart from the gate's.
  logic y_valid, y_pop, y_gate;
  logic [255:0] y;
  logic [5:0] y_reserved_q;
  sync_fifo #(.Bits(256), .Depth(Waiting)) u_y (
      .clk_i, .rst_ni, .valid_i(y_valid_i && !y_gate), .ready_o(), .data_i(y_i),
      .valid_o(y_valid), .ready_i(y_pop), .data_o(y), .used_o()
  );
  assign room_o = y_reserved_q != 6'(Waiting);
  always_ff @(posedge clk_i) begin
    if (reserve_i != y_pop) y_reserved_q <= reserve_i ? y_reserved_q + 6'd1 : y_reserved_q - 6'd1;
    if (!rst_ni) y_reserved_q <= '0;
  end

  // Of PostSilu's y the rows of a gate's quad come first, then those of the up quad.
  logic [4:0] y_row_q;
  logic y_gate_q;
  assign y_gate = silu && y_gate_q;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      y_row_q  <= '0;
      y_gate_q <= 1'b1;
    end else if (y_valid_i) begin
      y_row_q <= {1'b0, y_row_q} + 6'd1 == rows_i ? 5'd0 : y_row_q + 5'd1;
      if ({1'b0, y_row_q} + 6'd1 == rows_i) y_gate_q <= !y_gate_q;
    end
  end

  // Gates wait for the silu pipes, their results come together again.
  logic gate_valid, gate_pop, operand_reserve, silu_push_q;
  logic [127:0] gate, silu_quad_q;
  logic [5:0] gate_reserved_q;
  logic [6:0] operands_reserved_q;
  logic [1:0] feed_q, silu_piece_q;
  logic feed;
  logic [SiluLanes-1:0] silu_valid;
  logic [32*SiluLanes-1:0] silu_y;

  sync_fifo #(.Bits(128), .Depth(Waiting)) u_gate (
      .clk_i, .rst_ni, .valid_i(y_valid_i && y_gate), .ready_o(), .data_i(y_i[127:0]),
      .valid_o(gate_valid), .ready_i(gate_pop), .data_o(gate), .used_o()
  );
  assign gate_room_o = gate_reserved_q != 6'(Waiting);
  always_ff @(posedge clk_i) begin
    if (reserve_gate_i != gate_pop) begin
      gate_reserved_q <= reserve_gate_i ? gate_reserved_q + 6'd1 : gate_reserved_q - 6'd1;
    end
    if (!rst_ni) gate_reserved_q <= '0;
  end

  assign feed     = gate_valid && (feed_q != 2'd0 || operands_reserved_q != 7'(Operands));
  assign gate_pop = feed && feed_q == 2'(4 - SiluLanes);
  always_ff @(posedge clk_i) begin
    if (feed) feed_q <= feed_q + 2'(SiluLanes);
    if (!rst_ni) feed_q <= '0;
  end

  logic fed_q;
  always_ff @(posedge clk_i) fed_q <= rst_ni && feed;
  for (genvar l = 0; l < SiluLanes; l++) begin : g_silu
    logic unused_tag;
    logic [1:0] lane;
    logic [31:0] value_q;
    assign lane = feed_q + 2'(l);
    always_ff @(posedge clk_i) if (feed) value_q <= gate[{lane, 5'd0}+:32];
    silu u_silu (
        .clk_i, .rst_ni, .valid_i(fed_q), .x_i(value_q), .tag_i(1'b0),
        .valid_o(silu_valid[l]), .y_o(silu_y[32*l+:32]), .tag_o(unused_tag)
    );
  end
  always_ff @(posedge clk_i) begin
    if (silu_valid[0]) begin
      for (int l = 0; l < SiluLanes; l++) begin
        for (int b = l; b < 4; b += SiluLanes) begin
          if (silu_piece_q == 2'(b - l)) silu_quad_q[32*b+:32] <= silu_y[32*l+:32];
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    silu_push_q <= silu_valid[0] && silu_piece_q == 2'(4 - SiluLanes);
    if (silu_valid[0]) silu_piece_q <= silu_piece_q + 2'(SiluLanes);
    if (!rst_ni) begin
      silu_push_q  <= 1'b0;
      silu_piece_q <= '0;
    end
  end

  // x of the residual, read ahead.
  logic reading_q, granted, read_last_row, read_last_quad, x_push_q;
  logic [4:0] read_row;
  logic [2:0] read_place, place1_q, place2_q;
  logic [127:0] x_q;
  product_walk u_read (
      .clk_i, .start_i, .step_i(granted), .row_major_i(row_major), .wide_i(1'b0), .rows_i, .quads_i,
      .base_i(instruction_i.source), .stride_i(instruction_i.source_stride), .row_o(read_row),
      .place_o(read_place), .address_o(vm_read_address_o), .last_row_o(read_last_row),
      .first_quad_o(), .last_quad_o(read_last_quad)
  );
  assign vm_read_valid_o = reading_q && operands_reserved_q != 7'(Operands);
  assign granted         = vm_read_valid_o && vm_read_ready_i;
  always_ff @(posedge clk_i) begin
    if (start_i) reading_q <= residual;
    else if (granted && read_last_row && read_last_quad) reading_q <= 1'b0;
    if (!rst_ni) reading_q <= 1'b0;
  end
  always_ff @(posedge clk_i) if (residual) place1_q <= read_place;
  always_ff @(posedge clk_i) if (residual) place2_q <= place1_q;
  always_ff @(posedge clk_i) begin
    if (vm_data_valid_i) begin
      unique case (place2_q)
        3'd0: x_q <= vm_data_i[127:0];
        3'd1: x_q <= vm_data_i[255:128];
        3'd2: x_q <= vm_data_i[383:256];
        3'd3: x_q <= vm_data_i[511:384];
        3'd4: x_q <= vm_data_i[639:512];
        3'd5: x_q <= vm_data_i[767:640];
        3'd6: x_q <= vm_data_i[895:768];
        default: x_q <= vm_data_i[1023:896];
      endcase
    end
  end
  always_ff @(posedge clk_i) x_push_q <= rst_ni && vm_data_valid_i;

  // The other operand of the post step: x or SiLU.
  logic operand_valid, combine;
  logic [127:0] operand;
  sync_fifo #(.Bits(128), .Depth(Operands)) u_operand (
      .clk_i, .rst_ni, .valid_i(silu_push_q || x_push_q), .ready_o(),
      .data_i(x_push_q ? x_q : silu_quad_q), .valid_o(operand_valid), .ready_i(combine),
      .data_o(operand), .used_o()
  );
  assign operand_reserve = granted || (feed && feed_q == 2'd0);
  always_ff @(posedge clk_i) begin
    if (operand_reserve != combine) begin
      operands_reserved_q <= operand_reserve ? operands_reserved_q + 7'd1
                                             : operands_reserved_q - 7'd1;
    end
    if (!rst_ni) operands_reserved_q <= '0;
  end

  // x + y and silu(gate) * up.
  logic [4:0] z_reserved_q;
  logic z_valid, z_pop;
  logic [127:0] z, added, multiplied, z_new;
  logic [3:0] added_valid, multiplied_valid;
  assign combine = !plain && y_valid && operand_valid && z_reserved_q != 5'(Results);
  logic combined_q;
  logic [127:0] operand_q, other_q;
  always_ff @(posedge clk_i) combined_q <= rst_ni && combine;
  always_ff @(posedge clk_i) begin
    if (combine) begin
      operand_q <= operand;
      other_q   <= y[127:0];
    end
  end
  for (genvar b = 0; b < engine_pkg::Banks; b++) begin : g_lane
    logic [1:0] unused_tag;
    f32_add #(.TagBits(1)) u_add (
        .clk_i, .rst_ni, .valid_i(combined_q && residual), .a_i(operand_q[32*b+:32]),
        .b_i(other_q[32*b+:32]), .tag_i(1'b0), .valid_o(added_valid[b]), .y_o(added[32*b+:32]),
        .tag_o(unused_tag[0])
    );
    f32_mul #(.TagBits(1)) u_mul (
        .clk_i, .rst_ni, .valid_i(combined_q && silu), .a_i(operand_q[32*b+:32]),
        .b_i(other_q[32*b+:32]), .tag_i(1'b0), .valid_o(multiplied_valid[b]),
        .y_o(multiplied[32*b+:32]), .tag_o(unused_tag[1])
    );
  end
  always_comb begin
    z_new = multiplied;
    if (added_valid[0]) begin
      for (int b = 0; b < 4; b++) begin
        z_new[32*b+:32] = added[32*b+:31] < Vanishing ? 32'd0 : added[32*b+:32];
      end
    end
  end
  sync_fifo #(.Bits(128), .Depth(Results)) u_z (
      .clk_i, .rst_ni, .valid_i(added_valid[0] || multiplied_valid[0]), .ready_o(),
      .data_i(z_new), .valid_o(z_valid), .ready_i(z_pop), .data_o(z), .used_o()
  );
  always_ff @(posedge clk_i) begin
    if (combine != z_pop) z_reserved_q <= combine ? z_reserved_q + 5'd1 : z_reserved_q - 5'd1;
    if (!rst_ni) z_reserved_q <= '0;
  end

  // The write: columns after the last one are 0.
  logic write_take, write_free, write_last_row, write_first_quad, write_last_quad;
  logic [4:0] write_row;
  logic [2:0] write_place;
  logic [15:0] write_address;
  logic [3:0] tail_q, lanes;
  logic [255:0] written;
  product_walk u_write (
      .clk_i, .start_i, .step_i(write_take), .row_major_i(row_major), .wide_i(sums), .rows_i,
      .quads_i, .base_i(instruction_i.destination), .stride_i(instruction_i.destination_stride),
      .row_o(write_row), .place_o(write_place), .address_o(write_address),
      .last_row_o(write_last_row), .first_quad_o(write_first_quad), .last_quad_o(write_last_quad)
  );
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      unique case (instruction_i.columns[1:0])
        2'd1: tail_q <= 4'b0001;
        2'd2: tail_q <= 4'b0011;
        2'd3: tail_q <= 4'b0111;
        default: tail_q <= 4'b1111;
      endcase
    end
  end
  assign write_free = !vm_write_valid_o || vm_write_ready_i;
  assign write_take = write_free && (plain ? y_valid : z_valid);
  assign y_pop      = plain ? write_take : combine;
  assign z_pop      = !plain && write_take;
  assign lanes      = write_last_quad ? tail_q : 4'b1111;
  always_comb begin
    written = plain ? y : {128'd0, z};
    for (int b = 0; b < 4; b++) begin  // 4 of 32 bits in the lower half, or 4 of 64
      if (sums && !lanes[b]) written[64*b+:64] = 64'd0;
      if (!sums && !lanes[b]) written[32*b+:32] = 32'd0;
    end
  end

  logic write_valid_q, write_row_ends_q, write_ends_q;
  logic [15:0] write_address_q;
  logic [engine_pkg::Slices-1:0] write_slices_q;
  logic [engine_pkg::WordBits-1:0] write_data_q;
  assign vm_write_valid_o   = write_valid_q;
  assign vm_write_address_o = write_address_q;
  assign vm_write_slices_o  = write_slices_q;
  assign vm_write_data_o    = write_data_q;
  always_ff @(posedge clk_i) begin
    if (write_free) write_valid_q <= write_take;
    if (!rst_ni) write_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (write_take) begin
      write_address_q  <= write_address;
      write_row_ends_q <= write_last_row;
      write_ends_q     <= write_last_row && write_last_quad;
      for (int s = 0; s < engine_pkg::Slices; s++) begin
        if (sums) begin
          write_slices_q[s] <= 3'(s / 2) == write_place ||
                               (write_last_quad && 3'(s / 2) > write_place);
          write_data_q[128*s+:128] <= 3'(s / 2) != write_place ? 128'd0
                                    : s % 2 == 0 ? written[127:0] : written[255:128];
        end else begin
          write_slices_q[s] <= 3'(s) == write_place || (write_last_quad && 3'(s) > write_place);
          write_data_q[128*s+:128] <= 3'(s) != write_place ? 128'd0 : written[127:0];
        end
      end
    end
  end

  // Peaks: of the four in two steps, then of the row.
  logic peak_take, peak_first1_q, peak_first2_q, peak_first3_q;
  logic [3:0] peak_valid_q;
  logic [4:0] peak_row1_q, peak_row2_q, peak_row3_q;
  logic [127:0] peak_quad_q;
  logic [30:0] peak_low_q, peak_high_q, peak_q;
  assign peak_take = write_take && instruction_i.track;
  always_ff @(posedge clk_i) begin
    if (peak_take || peak_valid_q != '0) peak_valid_q <= {peak_valid_q[2:0], peak_take};
    if (!rst_ni) peak_valid_q <= '0;
  end
  always_ff @(posedge clk_i) begin
    if (peak_take) begin
      peak_quad_q   <= written[127:0];
      peak_row1_q   <= write_row;
      peak_first1_q <= write_first_quad;
    end
  end
  always_ff @(posedge clk_i) begin
    if (peak_valid_q[0]) begin
      peak_low_q    <= larger(peak_quad_q[30:0], peak_quad_q[62:32]);
      peak_high_q   <= larger(peak_quad_q[94:64], peak_quad_q[126:96]);
      peak_row2_q   <= peak_row1_q;
      peak_first2_q <= peak_first1_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (peak_valid_q[1]) begin
      peak_q        <= larger(peak_low_q, peak_high_q);
      peak_row3_q   <= peak_row2_q;
      peak_first3_q <= peak_first2_q;
    end
  end
  function automatic logic [30:0] larger(input logic [30:0] a, input logic [30:0] b);
    larger = a > b ? a : b;
  endfunction
  logic [Rows*31-1:0] peaks_q;
  assign peaks_o = peaks_q;
  always_ff @(posedge clk_i) begin
    if (peak_valid_q[2]) begin
      for (int r = 0; r < Rows; r++) begin
        if (32'(peak_row3_q) == r && (peak_first3_q || peak_q > peaks_q[31*r+:31])) begin
          peaks_q[31*r+:31] <= peak_q;
        end
      end
    end
    if (!rst_ni) peaks_q <= '0;
  end

  // Progress and end. The end waits for the peaks.
  logic [17:0] progress_q;
  logic ending_q;
  logic accepted;
  assign accepted         = write_valid_q && vm_write_ready_i;
  assign progress_quads_o = progress_q;
  assign done_o           = ending_q && peak_valid_q == '0 && !hold_i;
  always_ff @(posedge clk_i) begin
    if (accepted && write_ends_q) ending_q <= 1'b1;
    else if (done_o) ending_q <= 1'b0;
    if (!rst_ni) ending_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (accepted && write_ends_q) progress_q <= '0;
    else if (accepted && write_row_ends_q) progress_q <= progress_q + 18'd1;
    if (!rst_ni) progress_q <= '0;
  end

  logic unused;  // the lanes go together
  assign unused = ^{added_valid, multiplied_valid, silu_valid, read_row, peak_quad_q};
endmodule
