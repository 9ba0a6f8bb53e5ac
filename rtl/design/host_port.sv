// The host's memory: an AXI4 master of single lines of 64 bytes in the host's clock.
//
// Writes: a line of the store unit with strobes, in the output buffer, whose address is counted in
// lines from its start; or, with `copy_i`, a line of the DMA at a host address. The segment table
// says where each 2 MiB of the output buffer lies (bits 63:6 of an entry; bit 0: the entry counts). A
// line of a segment that does not count raises segment_error_o and is dropped. At most 128 lines wait
// for an answer; `pending_o` until all are answered. Reads: a line each with a tag as id; answers may
// come in any order, also of like ids, and go to the engine with their tag.
// ids are {epoch, tag}; a soft reset (rst_ni and soft_rst_ni together) empties the queues, keeps what
// stands at the port until it is taken, and answers of another epoch are dropped. Throughput: answers
// a line a cycle of the host's clock, requests and writes one in 2 cycles. What the host drives is
// registered before anything is made of it. Errors are levels, cleared by reset. Stream law at all ends
// of the engine's side.
module host_port (
    // engine's clock
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          copy_i,            // the DMA's lines are taken, not the store unit's
    input  logic          unit_valid_i,
    output logic          unit_ready_o,
    input  logic [  33:0] unit_line_i,       // of the output buffer
    input  logic [ 511:0] unit_data_i,
    input  logic [  63:0] unit_strobe_i,
    input  logic          copy_valid_i,
    output logic          copy_ready_o,
    input  logic [  57:0] copy_line_i,       // host address / 64
    input  logic [   1:0] copy_part_i,       // which of the four lines of
    input  logic [2047:0] copy_data_i,
    output logic          taken_o,           // a line
    output logic         pending_o,
    input  logic         read_valid_i,
    output logic         read_ready_o,
    input  logic [ 57:0] read_line_i,
    input  logic [  7:0] read_tag_i,
    output logic         data_valid_o,
    input  logic         data_ready_i,
    output logic [  7:0] data_tag_o,
    output logic [511:0] data_o,
    // host's clock
    input  logic         host_clk_i,
    input  logic         host_rst_ni,
    input  logic         soft_rst_ni,
    input  logic [  7:0] epoch_i,
    input  logic         segment_write_i,
    input  logic [  8:0] segment_address_i,
    input  logic [ 63:0] segment_data_i,
    output logic [ 63:0] segment_data_o,   // 1 cycle after the address
    output logic         read_error_o,
    output logic         write_error_o,
    output logic         segment_error_o,
    output logic         arvalid_o,
    input  logic         arready_i,
    output logic [ 15:0] arid_o,
    output logic [ 63:0] araddr_o,
    input  logic         rvalid_i,
    output logic         rready_o,
    input  logic [ 15:0] rid_i,
    input  logic [511:0] rdata_i,
    input  logic [  1:0] rresp_i,
    output logic         awvalid_o,
    input  logic         awready_i,
    output logic [ 15:0] awid_o,
    output logic [ 63:0] awaddr_o,
    output logic         wvalid_o,
    input  logic         wready_i,
    output logic [511:0] wdata_o,
    output logic [ 63:0] wstrb_o,
    input  logic         bvalid_i,
    output logic         bready_o,
    input  logic [ 15:0] bid_i,
    input  logic [  1:0] bresp_i
);
  logic soft_rst_n;
  logic [7:0] epoch_q;

  assign soft_rst_n = soft_rst_ni && host_rst_ni;
  always_ff @(posedge host_clk_i) if (!soft_rst_n) epoch_q <= epoch_i;

  // Reads.
  logic read_valid, read_ready;
  logic [57:0] read_line;
  logic [7:0] read_tag;

  async_fifo #(
      .Bits (66),
      .Depth(16)
  ) u_reads (
      .write_clk_i(clk_i),
      .write_rst_ni(rst_ni),
      .valid_i(read_valid_i),
      .ready_o(read_ready_o),
      .data_i({read_line_i, read_tag_i}),
      .read_clk_i(host_clk_i),
      .read_rst_ni(soft_rst_n),
      .valid_o(read_valid),
      .ready_i(read_ready),
      .data_o({read_line, read_tag})
  );

  assign read_ready = !arvalid_o && soft_rst_n;

  always_ff @(posedge host_clk_i) begin
    if (read_valid && read_ready) begin
      araddr_o <= {read_line, 6'd0};
      arid_o <= {epoch_q, read_tag};
    end
    if (!host_rst_ni) arvalid_o <= 1'b0;
    else if (read_valid && read_ready) arvalid_o <= 1'b1;
    else if (arready_i) arvalid_o <= 1'b0;
  end

  // Answers, registered once; there is room for as many as there are tags.
  logic data_valid_q, data_mine, data_room;
  logic [15:0] data_id_q;
  logic [1:0] data_response_q;
  logic [511:0] data_q;

  assign rready_o = host_rst_ni;
  assign data_mine = data_valid_q && data_id_q[15:8] == epoch_q && soft_rst_n;

  always_ff @(posedge host_clk_i) begin
    data_valid_q <= rvalid_i && host_rst_ni;
    if (rvalid_i) begin
      data_id_q <= rid_i;
      data_response_q <= rresp_i;
      data_q <= rdata_i;
    end
  end

  async_fifo #(
      .Bits (520),
      .Depth(256)
  ) u_data (
      .write_clk_i(host_clk_i),
      .write_rst_ni(soft_rst_n),
      .valid_i(data_mine),
      .ready_o(data_room),
      .data_i({data_id_q[7:0], data_q}),
      .read_clk_i(clk_i),
      .read_rst_ni(rst_ni),
      .valid_o(data_valid_o),
      .ready_i(data_ready_i),
      .data_o({data_tag_o, data_o})
  );

  // Writes: one register, then the queue.
  logic [7:0] issued_q, answered, unanswered;
  logic queue_ready, stage_ready, taken_valid_q, taken_ready, direct_q;
  logic [57:0] taken_line_q;
  logic [63:0] taken_strobe_q;
  logic [511:0] taken_data_q;
  logic write_valid, write_direct;
  logic [57:0] write_line;
  logic [63:0] write_strobe;
  logic [511:0] write_data;

  assign unanswered = issued_q - answered;
  assign pending_o = taken_valid_q || unanswered != 8'd0;
  assign taken_ready = !taken_valid_q || (queue_ready && !unanswered[7]);
  assign unit_ready_o = taken_ready && !copy_i;
  assign copy_ready_o = taken_ready && copy_i;
  assign taken_o = taken_ready && (copy_i ? copy_valid_i : unit_valid_i);

  always_ff @(posedge clk_i) begin
    if (taken_o) begin
      direct_q <= copy_i;
      if (copy_i) begin
        taken_line_q <= copy_line_i;
        taken_strobe_q <= '1;
        unique case (copy_part_i)
          2'd0: taken_data_q <= copy_data_i[511:0];
          2'd1: taken_data_q <= copy_data_i[1023:512];
          2'd2: taken_data_q <= copy_data_i[1535:1024];
          default: taken_data_q <= copy_data_i[2047:1536];
        endcase
      end else begin
        taken_line_q <= 58'(unit_line_i);
        taken_strobe_q <= unit_strobe_i;
        taken_data_q <= unit_data_i;
      end
    end
    if (!rst_ni) begin
      taken_valid_q <= 1'b0;
      issued_q <= '0;
    end else begin
      if (taken_ready) taken_valid_q <= taken_o;
      if (taken_valid_q && taken_ready) issued_q <= issued_q + 8'd1;
    end
  end

  async_fifo #(
      .Bits (635),
      .Depth(16)
  ) u_writes (
      .write_clk_i(clk_i),
      .write_rst_ni(rst_ni),
      .valid_i(taken_valid_q && !unanswered[7]),
      .ready_o(queue_ready),
      .data_i({direct_q, taken_line_q, taken_strobe_q, taken_data_q}),
      .read_clk_i(host_clk_i),
      .read_rst_ni(soft_rst_n),
      .valid_o(write_valid),
      .ready_i(stage_ready),
      .data_o({write_direct, write_line, write_strobe, write_data})
  );

  // Where the segment of the line lies: a block RAM that the CSRs write, asked while the line stands
  // at the queue's end.
  logic [63:0] segments[0:511];
  logic [63:0] segment_q;
  logic known_q, counts, beyond, send;

  assign counts = write_direct || (segment_q[0] && !beyond);
  assign beyond = write_line[57:24] != 34'd0;
  // Address and data of a write go out together and are taken in either order.
  assign stage_ready = known_q && !awvalid_o && !wvalid_o && soft_rst_n;
  assign send = write_valid && stage_ready && counts;

  always_ff @(posedge host_clk_i) begin
    if (segment_write_i) segments[segment_address_i] <= segment_data_i;
    segment_data_o <= segments[segment_address_i];
    if (write_valid) segment_q <= segments[write_line[23:15]];
    known_q <= write_valid && !stage_ready && soft_rst_n;
  end

  always_ff @(posedge host_clk_i) begin
    if (send) begin
      awaddr_o <= write_direct ? {write_line, 6'd0} : {segment_q[63:6] + 58'(write_line[14:0]), 6'd0};
      awid_o <= {epoch_q, 8'd0};
      wdata_o <= write_data;
      wstrb_o <= write_strobe;
    end
    if (!host_rst_ni) begin
      awvalid_o <= 1'b0;
      wvalid_o <= 1'b0;
    end else if (send) begin
      awvalid_o <= 1'b1;
      wvalid_o <= 1'b1;
    end else begin
      if (awready_i) awvalid_o <= 1'b0;
      if (wready_i) wvalid_o <= 1'b0;
    end
  end

  // Answers of writes, registered once.
  logic answer_valid_q, answer_mine;
  logic [7:0] answer_epoch_q;
  logic [1:0] answer_response_q;

  assign bready_o = host_rst_ni;
  assign answer_mine = answer_valid_q && answer_epoch_q == epoch_q && soft_rst_n;

  always_ff @(posedge host_clk_i) begin
    answer_valid_q <= bvalid_i && host_rst_ni;
    if (bvalid_i) begin
      answer_epoch_q <= bid_i[15:8];
      answer_response_q <= bresp_i;
    end
  end

  gray_counter #(.Bits(8)) u_answered (
      .event_clk_i(host_clk_i),
      .event_rst_ni(soft_rst_n),
      .event_i(answer_mine),
      .clk_i(clk_i),
      .count_o(answered)
  );

  always_ff @(posedge host_clk_i) begin
    if (!soft_rst_n) begin
      read_error_o <= 1'b0;
      write_error_o <= 1'b0;
      segment_error_o <= 1'b0;
    end else begin
      if (data_mine && (data_response_q != 2'd0 || !data_room)) read_error_o <= 1'b1;
      if (answer_mine && answer_response_q != 2'd0) write_error_o <= 1'b1;
      if (write_valid && stage_ready && !counts) segment_error_o <= 1'b1;
    end
  end
endmodule
