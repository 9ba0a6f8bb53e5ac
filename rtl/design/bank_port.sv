// One DDR bank: an AXI4 master in the bank's own clock, behind clock-crossing queues.
//
// Reads: bursts of 1 to 64 beats, each within 4 KB, in the order of `command`; their beats come out
// of `data` in that order. Whoever commands must leave room for all beats (FifoBeats), so a beat
// never waits at the memory for a full queue. Writes: single beats with strobes; `pending_o` until
// the bank has answered all of them. At most 128 writes wait for an answer.
// Each burst carries the epoch as its id. A soft reset (rst_ni and bank_soft_rst_ni, together as
// async_fifo wants) empties the queues and counts, but AXI's law holds through it: a request that
// stands at the port stays until it is taken, and answers with another epoch's id are taken and
// dropped. bank_rst_ni resets the AXI side too. The engine changes epoch_i during a reset alone.
// Throughput: one beat a cycle of the bank's clock each way. Latency of the crossing: about 4 cycles
// of each clock a way. Errors are pulses in the bank's clock.
module bank_port #(
    parameter int FifoBeats = 1024
) (
    // engine's clock
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         command_valid_i,
    output logic         command_ready_o,
    input  logic [ 26:0] command_address_i,  // in beats of 64 bytes
    input  logic [  6:0] command_beats_i,
    output logic         data_valid_o,
    input  logic         data_ready_i,
    output logic [511:0] data_o,
    input  logic         write_valid_i,
    output logic         write_ready_o,
    input  logic [ 26:0] write_address_i,
    input  logic [511:0] write_data_i,
    input  logic [ 63:0] write_strobe_i,
    output logic         pending_o,
    // bank's clock
    input  logic         bank_clk_i,
    input  logic         bank_rst_ni,
    input  logic         bank_soft_rst_ni,
    input  logic [  7:0] epoch_i,
    output logic         read_error_o,
    output logic         write_error_o,
    output logic         arvalid_o,
    input  logic         arready_i,
    output logic [  7:0] arid_o,
    output logic [ 32:0] araddr_o,
    output logic [  7:0] arlen_o,
    input  logic         rvalid_i,
    output logic         rready_o,
    input  logic [  7:0] rid_i,
    input  logic [511:0] rdata_i,
    input  logic [  1:0] rresp_i,
    output logic         awvalid_o,
    input  logic         awready_i,
    output logic [  7:0] awid_o,
    output logic [ 32:0] awaddr_o,
    output logic         wvalid_o,
    input  logic         wready_i,
    output logic [511:0] wdata_o,
    output logic [ 63:0] wstrb_o,
    input  logic         bvalid_i,
    output logic         bready_o,
    input  logic [  7:0] bid_i,
    input  logic [  1:0] bresp_i
);
  logic soft_rst_n;
  logic [7:0] epoch_q;

  // The soft reset holds for several cycles, and the epoch lies still for longer on both sides.
  assign soft_rst_n = bank_soft_rst_ni && bank_rst_ni;
  always_ff @(posedge bank_clk_i) if (!soft_rst_n) epoch_q <= epoch_i;

  // Read commands.
  logic command_valid, command_ready;
  logic [26:0] command_address;
  logic [6:0] command_beats;

  async_fifo #(
      .Bits (34),
      .Depth(16)
  ) u_commands (
      .write_clk_i(clk_i),
      .write_rst_ni(rst_ni),
      .valid_i(command_valid_i),
      .ready_o(command_ready_o),
      .data_i({command_address_i, command_beats_i}),
      .read_clk_i(bank_clk_i),
      .read_rst_ni(soft_rst_n),
      .valid_o(command_valid),
      .ready_i(command_ready),
      .data_o({command_address, command_beats})
  );

  assign command_ready = !arvalid_o || arready_i;

  always_ff @(posedge bank_clk_i) begin
    if (command_valid && command_ready && soft_rst_n) begin
      araddr_o <= {command_address, 6'd0};
      arlen_o <= {1'b0, command_beats} - 8'd1;
      arid_o <= epoch_q;
    end
    if (!bank_rst_ni) arvalid_o <= 1'b0;
    else if (command_valid && command_ready && soft_rst_n) arvalid_o <= 1'b1;
    else if (arready_i) arvalid_o <= 1'b0;
  end

  // Read data.
  logic beat_ready, beat_mine;

  assign beat_mine = rid_i == epoch_q && soft_rst_n;
  assign rready_o = bank_rst_ni && (!beat_mine || beat_ready);
  assign read_error_o = rvalid_i && rready_o && beat_mine && rresp_i != 2'd0;

  async_fifo #(
      .Bits (512),
      .Depth(FifoBeats)
  ) u_data (
      .write_clk_i(bank_clk_i),
      .write_rst_ni(soft_rst_n),
      .valid_i(rvalid_i && beat_mine),
      .ready_o(beat_ready),
      .data_i(rdata_i),
      .read_clk_i(clk_i),
      .read_rst_ni(rst_ni),
      .valid_o(data_valid_o),
      .ready_i(data_ready_i),
      .data_o(data_o)
  );

  // Writes.
  logic write_valid, write_ready, write_room;
  logic [26:0] write_address;
  logic [511:0] write_data;
  logic [63:0] write_strobe;
  logic [7:0] issued_q, answered, unanswered;
  logic queue_ready;

  assign unanswered = issued_q - answered;
  assign pending_o = unanswered != 8'd0;
  assign write_room = !unanswered[7];
  assign write_ready_o = queue_ready && write_room;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) issued_q <= '0;
    else if (write_valid_i && write_ready_o) issued_q <= issued_q + 8'd1;
  end

  async_fifo #(
      .Bits (603),
      .Depth(16)
  ) u_writes (
      .write_clk_i(clk_i),
      .write_rst_ni(rst_ni),
      .valid_i(write_valid_i && write_room),
      .ready_o(queue_ready),
      .data_i({write_address_i, write_strobe_i, write_data_i}),
      .read_clk_i(bank_clk_i),
      .read_rst_ni(soft_rst_n),
      .valid_o(write_valid),
      .ready_i(write_ready),
      .data_o({write_address, write_strobe, write_data})
  );

  // Address and data of a write go out together and are taken in either order.
  assign write_ready = (!awvalid_o || awready_i) && (!wvalid_o || wready_i);

  always_ff @(posedge bank_clk_i) begin
    if (write_valid && write_ready && soft_rst_n) begin
      awaddr_o <= {write_address, 6'd0};
      awid_o <= epoch_q;
      wdata_o <= write_data;
      wstrb_o <= write_strobe;
    end
    if (!bank_rst_ni) begin
      awvalid_o <= 1'b0;
      wvalid_o <= 1'b0;
    end else if (write_valid && write_ready && soft_rst_n) begin
      awvalid_o <= 1'b1;
      wvalid_o <= 1'b1;
    end else begin
      if (awready_i) awvalid_o <= 1'b0;
      if (wready_i) wvalid_o <= 1'b0;
    end
  end

  logic answer_mine;

  assign bready_o = bank_rst_ni;
  assign answer_mine = bvalid_i && bready_o && bid_i == epoch_q && soft_rst_n;
  assign write_error_o = answer_mine && bresp_i != 2'd0;

  gray_counter #(.Bits(8)) u_answered (
      .event_clk_i(bank_clk_i),
      .event_rst_ni(soft_rst_n),
      .event_i(answer_mine),
      .clk_i(clk_i),
      .count_o(answered)
  );
endmodule
