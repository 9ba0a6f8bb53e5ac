// One DDR bank: an AXI4 master in the bank's own clock, behind clock-crossing queues.
//
// Reads: bursts of 1 to 64 beats, each within 4 KB, in the order of `command`; their beats come out
// of `data` in that order. Whoever commands must leave room for all beats (FifoBeats): the memory's
// beats are always taken, and one too many or without room is an error. Writes: single beats with strobes; `pending_o` until
// the bank has answered all of them. At most 128 writes wait for an answer.
// Each burst carries the epoch as its id. A soft reset (rst_ni and bank_soft_rst_ni, together as
// async_fifo wants) empties the queues and counts, but AXI's law holds through it: a request that
// stands at the port stays until it is taken, and answers with another epoch's id are taken and
// dropped. bank_rst_ni resets the AXI side too. The engine changes epoch_i during a reset alone.
// Throughput: reads a beat a cycle of the bank's clock, a burst or a write every 2 cycles at most.
// Latency of the crossing: about 4 cycles of each clock a way. What the bank drives is registered
// before anything is made of it. Errors are levels in the bank's clock, cleared by the soft reset.
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

  assign command_ready = !arvalid_o && soft_rst_n;

  always_ff @(posedge bank_clk_i) begin
    if (command_valid && command_ready) begin
      araddr_o <= {command_address, 6'd0};
      arlen_o <= {1'b0, command_beats} - 8'd1;
      arid_o <= epoch_q;
    end
    if (!bank_rst_ni) arvalid_o <= 1'b0;
    else if (command_valid && command_ready) arvalid_o <= 1'b1;
    else if (arready_i) arvalid_o <= 1'b0;
  end

  // Read data, registered once; the queue has room for all that was commanded.
  logic beat_valid_q, beat_room, beat_mine, lost;
  logic [7:0] beat_id_q;
  logic [1:0] beat_response_q;
  logic [511:0] beat_q;
  logic [11:0] owed_q;
  logic asks;

  assign rready_o = bank_rst_ni;
  assign beat_mine = beat_valid_q && beat_id_q == epoch_q && soft_rst_n;
  assign lost = beat_mine && (!beat_room || owed_q == 12'd0);

  always_ff @(posedge bank_clk_i) begin
    beat_valid_q <= rvalid_i && bank_rst_ni;
    if (rvalid_i) begin
      beat_id_q <= rid_i;
      beat_response_q <= rresp_i;
      beat_q <= rdata_i;
    end
  end

  // Beats that this epoch's bursts still owe; one too many is an error like any other.
  assign asks = command_valid && command_ready;
  always_ff @(posedge bank_clk_i) begin
    if (!soft_rst_n) owed_q <= '0;
    else if (asks || beat_mine) begin
      owed_q <= owed_q + (asks ? 12'(command_beats) : 12'd0) - 12'(beat_mine && owed_q != 12'd0);
    end
  end

  async_fifo #(
      .Bits (512),
      .Depth(FifoBeats)
  ) u_data (
      .write_clk_i(bank_clk_i),
      .write_rst_ni(soft_rst_n),
      .valid_i(beat_mine && owed_q != 12'd0),
      .ready_o(beat_room),
      .data_i(beat_q),
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
  assign write_ready = !awvalid_o && !wvalid_o && soft_rst_n;

  always_ff @(posedge bank_clk_i) begin
    if (write_valid && write_ready) begin
      awaddr_o <= {write_address, 6'd0};
      awid_o <= epoch_q;
      wdata_o <= write_data;
      wstrb_o <= write_strobe;
    end
    if (!bank_rst_ni) begin
      awvalid_o <= 1'b0;
      wvalid_o <= 1'b0;
    end else if (write_valid && write_ready) begin
      awvalid_o <= 1'b1;
      wvalid_o <= 1'b1;
    end else begin
      if (awready_i) awvalid_o <= 1'b0;
      if (wready_i) wvalid_o <= 1'b0;
    end
  end

  // Answers of writes, registered once.
  logic answer_valid_q, answer_mine;
  logic [7:0] answer_id_q;
  logic [1:0] answer_response_q;

  assign bready_o = bank_rst_ni;
  assign answer_mine = answer_valid_q && answer_id_q == epoch_q && soft_rst_n;

  always_ff @(posedge bank_clk_i) begin
    answer_valid_q <= bvalid_i && bank_rst_ni;
    if (bvalid_i) begin
      answer_id_q <= bid_i;
      answer_response_q <= bresp_i;
    end
  end

  gray_counter #(.Bits(8)) u_answered (
      .event_clk_i(bank_clk_i),
      .event_rst_ni(soft_rst_n),
      .event_i(answer_mine),
      .clk_i(clk_i),
      .count_o(answered)
  );

  always_ff @(posedge bank_clk_i) begin
    if (!soft_rst_n) begin
      read_error_o <= 1'b0;
      write_error_o <= 1'b0;
    end else begin
      if (lost || (beat_mine && beat_response_q != 2'd0)) read_error_o <= 1'b1;
      if (answer_mine && answer_response_q != 2'd0) write_error_o <= 1'b1;
    end
  end
endmodule
