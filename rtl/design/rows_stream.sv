// Takes the super-beats of one instruction of the rows unit and cuts them into chunks: words of 32
// binary32 (OpLoad, OpGain, OpPeak), 32 bytes (OpEmbed), or whole (OpRotary).
//
// A row has one section of chunks; with OpEmbed two: the row scale and the multipliers, then the
// weights. A section begins at a super-beat; chunks behind its end are dropped. Chunks leave by
// valid/ready, as a place in the super-beat: once valid, valid stays and data stay as they are
// until ready. Latency: 1 cycle from a super-beat to its first chunk. Throughput: one chunk a
// cycle; the next super-beat is taken in the cycle in which the last chunk leaves. Reset stops all.
module rows_stream (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    input  logic                                start_i,         // while busy_o is low
    input  logic [                         5:0] rows_i,          // 1 to 32
    input  logic [                         3:0] chunks_i,        // of a super-beat: 1, 2 or 8
    input  logic [                        15:0] first_chunks_i,  // of OpEmbed's first section, or 0
    input  logic [                        15:0] chunks_of_row_i, // of the other; at least 1
    output logic                                busy_o,          // something is to come
    output logic                                wanting_o,       // ready for a super-beat
    input  logic                                stream_valid_i,
    output logic                                stream_ready_o,
    input  logic [engine_pkg::StreamBits-1:0]   stream_data_i,
    output logic                                chunk_valid_o,
    input  logic                                chunk_ready_i,
    output logic                                chunk_first_section_o,
    output logic [                        15:0] chunk_index_o,   // within its section
    output logic [                         4:0] chunk_row_o,
    output logic [                         2:0] chunk_place_o,   // within the super-beat
    output logic [engine_pkg::StreamBits-1:0]   beat_o           // the super-beat
);
  localparam int StreamBits = engine_pkg::StreamBits;

  // Intake: what the next super-beat holds.
  logic taking_q, in_first_q;
  logic [5:0] rows_left_q;
  logic [15:0] section_left_q, first_chunks_q, chunks_of_row_q;
  logic [3:0] chunks_q;

  // The super-beat at hand.
  logic [StreamBits-1:0] beat_q;
  logic [3:0] left_q;
  logic first_section_q, ends_section_q;
  logic [15:0] index_q;
  logic [4:0] row_q;
  logic [2:0] place_q;

  logic take, give, ends_section;

  assign ends_section   = section_left_q <= {12'd0, chunks_q};
  assign wanting_o      = taking_q && (left_q == 4'd0 || (left_q == 4'd1 && chunk_ready_i));
  assign stream_ready_o = wanting_o;
  assign take           = wanting_o && stream_valid_i;
  assign give           = left_q != 4'd0 && chunk_ready_i;
  assign busy_o         = taking_q || left_q != 4'd0;

  assign chunk_valid_o         = left_q != 4'd0;
  assign chunk_first_section_o = first_section_q;
  assign chunk_index_o         = index_q;
  assign chunk_row_o           = row_q;
  assign chunk_place_o         = place_q;
  assign beat_o                = beat_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      taking_q        <= 1'b1;
      rows_left_q     <= rows_i;
      chunks_q        <= chunks_i;
      first_chunks_q  <= first_chunks_i;
      chunks_of_row_q <= chunks_of_row_i;
      in_first_q      <= first_chunks_i != 16'd0;
      section_left_q  <= first_chunks_i != 16'd0 ? first_chunks_i : chunks_of_row_i;
    end else if (take) begin
      if (!ends_section) begin
        section_left_q <= section_left_q - {12'd0, chunks_q};
      end else if (in_first_q) begin
        in_first_q     <= 1'b0;
        section_left_q <= chunks_of_row_q;
      end else begin
        in_first_q     <= first_chunks_q != 16'd0;
        section_left_q <= first_chunks_q != 16'd0 ? first_chunks_q : chunks_of_row_q;
        rows_left_q    <= rows_left_q - 6'd1;
        taking_q       <= rows_left_q != 6'd1;
      end
    end

    if (take) begin
      left_q          <= ends_section ? section_left_q[3:0] : chunks_q;
      place_q         <= '0;
      first_section_q <= in_first_q;
      ends_section_q  <= ends_section;
    end else if (give) begin
      left_q  <= left_q - 4'd1;
      place_q <= place_q + 3'd1;
    end
    if (start_i) begin
      index_q <= '0;
      row_q   <= '0;
    end else if (give) begin
      index_q <= left_q == 4'd1 && ends_section_q ? '0 : index_q + 16'd1;
      if (left_q == 4'd1 && ends_section_q && !first_section_q) row_q <= row_q + 5'd1;
    end
    if (!rst_ni) begin
      taking_q <= 1'b0;
      left_q   <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) beat_q <= stream_data_i;
  end
endmodule
