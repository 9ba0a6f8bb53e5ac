// The host's memory: an AXI4 master of single lines of 64 bytes in the host's clock.
//
// Writes: a line with strobes, either at a host address (direct) or in the output buffer, whose
// address is counted in lines from its start; the segment table says where each 2 MiB of the output
// buffer lies (bits 63:6 of an entry; bit 0: the entry counts). A line of a segment that does not
// count raises segment_error_o (a level) and is dropped. At most 128 lines wait for an answer;
// `pending_o` until all are answered. Reads: a line each with a tag as id; answers may come in any
// order, also of like ids, and go to the engine with their tag.
// ids are {epoch, tag}; a soft reset (rst_ni and soft_rst_ni together) empties the queues, keeps what
// stands at the port until it is taken, and answers of another epoch are dropped. Throughput: a line
// a cycle of the host's clock each way. Errors are levels, cleared by reset. Stream law at all ends.
module host_port (
    // engine's clock
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         write_valid_i,
    output logic         write_ready_o,
    input  logic         write_direct_i,
    input  logic [ 57:0] write_line_i,     // direct: host address / 64; else line of the buffer
    input  logic [511:0] write_data_i,
    input  logic [ 63:0] write_strobe_i,
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

  assign read_ready = !arvalid_o || arready_i;

  always_ff @(posedge host_clk_i) begin
    if (read_valid && read_ready && soft_rst_n) begin
      araddr_o <= {read_line, 6'd0};
      arid_o <= {epoch_q, read_tag};
    end
    if (!host_rst_ni) arvalid_o <= 1'b0;
    else if (read_valid && read_ready && soft_rst_n) arvalid_o <= 1'b1;
    else if (arready_i) arvalid_o <= 1'b0;
  end

  logic data_mine, data_room;

  assign data_mine = rid_i[15:8] == epoch_q && soft_rst_n;
  assign rready_o = host_rst_ni && (!data_mine || data_room);

  async_fifo #(
      .Bits (520),
      .Depth(16)
  ) u_data (
      .write_clk_i(host_clk_i),
      .write_rst_ni(soft_rst_n),
      .valid_i(rvalid_i && data_mine),
      .ready_o(data_room),
      .data_i({rid_i[7:0], rdata_i}),
      .read_clk_i(clk_i),
      .read_rst_ni(rst_ni),
      .valid_o(data_valid_o),
      .ready_i(data_ready_i),
      .data_o({data_tag_o, data_o})
  );

  // Writes.
  logic [7:0] issued_q, answered, unanswered;
  logic write_room, queue_ready;
  logic write_valid, write_direct, stage_ready;
  logic [57:0] write_line;
  logic [63:0] write_strobe;
  logic [511:0] write_data;

  assign unanswered = issued_q - answered;
  assign pending_o = unanswered != 8'd0;
  assign write_room = !unanswered[7];
  assign write_ready_o = queue_ready && write_room;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) issued_q <= '0;
    else if (write_valid_i && write_ready_o) issued_q <= issued_q + 8'd1;
  end

  async_fifo #(
      .Bits (635),
      .Depth(16)
  ) u_writes (
      .write_clk_i(clk_i),
      .write_rst_ni(rst_ni),
      .valid_i(write_valid_i && write_room),
      .ready_o(queue_ready),
      .data_i({write_direct_i, write_line_i, write_strobe_i, write_data_i}),
      .read_clk_i(host_clk_i),
      .read_rst_ni(soft_rst_n),
      .valid_o(write_valid),
      .ready_i(stage_ready),
      .data_o({write_direct, write_line, write_strobe, write_data})
  );

  // Where the segment of the line lies: a block RAM that the CSRs write.
  logic [63:0] segments[0:511];
  logic [63:0] segment_q;
  logic stage_valid_q, direct_q, beyond_q, port_ready, send, counts;
  logic [57:0] line_q;
  logic [63:0] strobe_q;
  logic [511:0] data_q;

  assign stage_ready = !stage_valid_q || port_ready;

  always_ff @(posedge host_clk_i) begin
    if (segment_write_i) segments[segment_address_i] <= segment_data_i;
    segment_data_o <= segments[segment_address_i];
    if (write_valid && stage_ready) begin
      segment_q <= segments[write_line[23:15]];
      direct_q <= write_direct;
      beyond_q <= write_line[57:24] != 34'd0;
      line_q <= write_line;
      strobe_q <= write_strobe;
      data_q <= write_data;
    end
    if (!soft_rst_n) stage_valid_q <= 1'b0;
    else if (stage_ready) stage_valid_q <= write_valid;
  end

  // Address and data of a write go out together and are taken in either order.
  assign counts = direct_q || (segment_q[0] && !beyond_q);
  assign port_ready = !counts || ((!awvalid_o || awready_i) && (!wvalid_o || wready_i));
  assign send = stage_valid_q && port_ready && counts && soft_rst_n;

  always_ff @(posedge host_clk_i) begin
    if (send) begin
      awaddr_o <= direct_q ? {line_q, 6'd0} : {segment_q[63:6] + 58'(line_q[14:0]), 6'd0};
      awid_o <= {epoch_q, 8'd0};
      wdata_o <= data_q;
      wstrb_o <= strobe_q;
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

  logic answer_mine;

  assign bready_o = host_rst_ni;
  assign answer_mine = bvalid_i && bready_o && bid_i[15:8] == epoch_q && soft_rst_n;

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
      if (rvalid_i && rready_o && data_mine && rresp_i != 2'd0) read_error_o <= 1'b1;
      if (answer_mine && bresp_i != 2'd0) write_error_o <= 1'b1;
      if (stage_valid_q && !counts) segment_error_o <= 1'b1;
    end
  end
endmodule
