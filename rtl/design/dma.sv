// Copies between host memory and the banks, while no program runs.
//
// A start pulse copies `lines_i` lines of 64 bytes between host line `host_line_i` on and super-beat
// `memory_i` on (line i is bank i mod 4 of super-beat i / 4). To the banks: up to 256 single-line reads
// are under way, each with a tag of its own; an answer, in whatever order, is written where its tag
// says, so nothing is sorted. To the host: the super-beats come through the stream as unit 6, four
// lines each. done_o is a pulse once all is answered. Throughput: a line a cycle.
// Stream law at all ends. Reset ends the copy; what was asked for is dropped by its epoch.
module dma (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          start_i,
    input  logic          to_host_i,
    input  logic [  57:0] host_line_i,
    input  logic [  27:0] memory_i,
    input  logic [  27:0] lines_i,         // at least 1
    output logic          busy_o,
    output logic          done_o,
    output logic [   2:0] state_o,
    output logic [  27:0] lines_done_o,
    // host
    output logic          read_valid_o,
    input  logic          read_ready_i,
    output logic [  57:0] read_line_o,
    output logic [   7:0] read_tag_o,
    input  logic          data_valid_i,
    output logic          data_ready_o,
    input  logic [   7:0] data_tag_i,
    input  logic [ 511:0] data_i,
    output logic          host_write_valid_o,
    input  logic          host_write_ready_i,
    output logic [  57:0] host_write_line_o,
    output logic [   1:0] host_write_part_o,  // which of the four lines of the super-beat
    input  logic          host_pending_i,
    // banks
    output logic          write_valid_o,
    input  logic          write_ready_i,
    output logic [   1:0] write_bank_o,
    output logic [  27:0] write_address_o,
    output logic [ 511:0] write_data_o,
    input  logic          write_pending_i,
    output logic          range_valid_o,
    input  logic          range_ready_i,
    output logic [  27:0] range_address_o,
    output logic [  27:0] range_count_o,
    input  logic          stream_valid_i,
    output logic          stream_ready_o
);
  typedef enum logic [2:0] {
    Idle = 3'd0,
    Read = 3'd1,       // from the host
    Settle = 3'd2,     // until the banks have answered
    Ask = 3'd3,        // the range
    Send = 3'd4,       // to the host
    Answers = 3'd5     // until the host has
  } state_e;

  state_e state_q, state_d;
  logic [27:0] asked_q, done_q;
  logic [57:0] line_q;

  assign busy_o = state_q != Idle;
  assign state_o = state_q;
  assign lines_done_o = done_q;

  // Tags: 256 fresh ones, then those that came back. Each keeps the index of its line.
  logic [27:0] lines[0:255];
  logic [8:0] fresh_q;
  logic back_valid, back_ready, has_tag, ask;
  logic [7:0] back_tag;
  logic free;

  assign has_tag = !fresh_q[8] || back_valid;
  assign read_tag_o = fresh_q[8] ? back_tag : fresh_q[7:0];
  assign read_valid_o = state_q == Read && asked_q != lines_i && has_tag;
  assign read_line_o = line_q;
  assign ask = read_valid_o && read_ready_i;
  assign back_ready = ask && fresh_q[8];

  // An answer: its line's index comes from block RAM, then it goes to its bank.
  logic hold_q;
  logic [7:0] tag_q;
  logic [27:0] index_q;
  logic [511:0] data_q;

  assign data_ready_o = !hold_q || write_ready_i;
  assign write_valid_o = hold_q;
  assign write_bank_o = index_q[1:0];
  assign write_address_o = memory_i + {2'd0, index_q[27:2]};
  assign write_data_o = data_q;
  assign free = hold_q && write_ready_i;

  sync_fifo #(
      .Bits (8),
      .Depth(256)
  ) u_back (
      .clk_i,
      .rst_ni(rst_ni && state_q != Idle),
      .valid_i(free),
      .ready_o(),
      .data_i(tag_q),
      .valid_o(back_valid),
      .ready_i(back_ready),
      .data_o(back_tag),
      .used_o()
  );

  always_ff @(posedge clk_i) begin
    if (ask) lines[read_tag_o] <= asked_q;
    if (data_valid_i && data_ready_o) begin
      index_q <= lines[data_tag_i];
      tag_q <= data_tag_i;
      data_q <= data_i;
    end
    if (!rst_ni) hold_q <= 1'b0;
    else if (data_ready_o) hold_q <= data_valid_i;
  end

  // To the host.
  logic [1:0] part_q;
  logic sent, last;

  assign range_valid_o = state_q == Ask;
  assign range_address_o = memory_i;
  assign range_count_o = {2'd0, lines_i[27:2]} + 28'(|lines_i[1:0]);
  assign host_write_valid_o = state_q == Send && stream_valid_i;
  assign host_write_line_o = line_q;
  assign sent = host_write_valid_o && host_write_ready_i;
  assign last = done_q + 28'd1 == lines_i;
  assign stream_ready_o = sent && (part_q == 2'd3 || last);
  assign host_write_part_o = part_q;

  assign done_o = (state_q == Settle && !write_pending_i) || (state_q == Answers && !host_pending_i);

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (start_i) state_d = to_host_i ? Ask : Read;
      Read: if (done_q == lines_i) state_d = Settle;
      Ask: if (range_ready_i) state_d = Send;
      Send: if (sent && last) state_d = Answers;
      default: if (done_o) state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
    if (state_q == Idle) begin
      asked_q <= '0;
      part_q <= '0;
      fresh_q <= '0;
      line_q <= host_line_i;
      if (start_i) done_q <= '0;
    end else begin
      if (ask) begin
        asked_q <= asked_q + 28'd1;
        if (!fresh_q[8]) fresh_q <= fresh_q + 9'd1;
      end
      if (ask || sent) line_q <= line_q + 58'd1;
      if (free || sent) done_q <= done_q + 28'd1;
      if (sent) part_q <= part_q + 2'd1;
    end
  end
endmodule
