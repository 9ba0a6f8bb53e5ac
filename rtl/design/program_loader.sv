// Reads a program from DDR into the program memory before a run.
//
// A start pulse asks the stream for the header at program_address_i, compares it with identity_i and
// then takes its instructions, 4 a super-beat, one written a cycle. Ends with a pulse of done_o, or
// of one of the errors: another identity; a header that is none, too many instructions for the
// memory, or a program whose last instruction is not OpEnd. Ranges are asked for as unit 5.
// Throughput: a super-beat every 4 cycles. Reset ends a load.
module program_loader #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          start_i,
    input  logic [  27:0] program_address_i,
    input  logic [ 255:0] identity_i,
    output logic          busy_o,
    output logic          done_o,
    output logic          identity_error_o,
    output logic          program_error_o,
    output logic [ 255:0] loaded_o,          // the identity in the header read last
    output logic [   2:0] state_o,
    output logic          range_valid_o,
    input  logic          range_ready_i,
    output logic [  27:0] range_address_o,
    output logic [  27:0] range_count_o,
    input  logic          stream_valid_i,
    output logic          stream_ready_o,
    input  logic [2047:0] stream_data_i,
    output logic          write_valid_o,
    output logic [  15:0] write_address_o     // instruction of super-beat / 4, lowest bits: which
);
  localparam logic [31:0] Magic = 32'h3544474C;  // "LGD5"

  typedef enum logic [2:0] {
    Idle = 3'd0,
    AskHeader = 3'd1,
    Header = 3'd2,
    Check = 3'd3,
    AskBody = 3'd4,
    Body = 3'd5,
    Done = 3'd6
  } state_e;

  state_e state_q, state_d;
  logic [31:0] count_q, magic_q, version_q;
  logic [15:0] index_q;
  logic [7:0] last_op_q;
  logic legal, same, last;

  assign legal = magic_q == Magic && version_q == 32'd1 && count_q != 32'd0 &&
      count_q <= Config.instructions;
  assign same = loaded_o == identity_i;
  assign last = index_q + 16'd1 == count_q[15:0];

  assign busy_o = state_q != Idle;
  assign state_o = state_q;
  assign range_valid_o = state_q == AskHeader || state_q == AskBody;
  assign range_address_o = state_q == AskHeader ? program_address_i : program_address_i + 28'd1;
  assign range_count_o = state_q == AskHeader ? 28'd1 : 28'(count_q[15:2]) + 28'(|count_q[1:0]);
  assign program_error_o = (state_q == Check && !legal) || (state_q == Done && last_op_q != engine_pkg::OpEnd);
  assign identity_error_o = state_q == Check && legal && !same;
  assign done_o = state_q == Done && last_op_q == engine_pkg::OpEnd;

  // One instruction a cycle; the super-beat is taken with its last one.
  assign stream_ready_o = state_q == Header || (state_q == Body && (index_q[1:0] == 2'd3 || last));
  assign write_valid_o = state_q == Body && stream_valid_i;
  assign write_address_o = index_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (start_i) state_d = AskHeader;
      AskHeader: if (range_ready_i) state_d = Header;
      Header: if (stream_valid_i) state_d = Check;
      Check: state_d = legal && same ? AskBody : Idle;
      AskBody: if (range_ready_i) state_d = Body;
      Body: if (stream_valid_i && last) state_d = Done;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
    if (state_q == Header && stream_valid_i) begin
      loaded_o <= stream_data_i[255:0];
      count_q <= stream_data_i[287:256];
      magic_q <= stream_data_i[319:288];
      version_q <= stream_data_i[351:320];
      index_q <= '0;
    end
    if (write_valid_o) begin
      index_q <= index_q + 16'd1;
      unique case (index_q[1:0])
        2'd0: last_op_q <= stream_data_i[7:0];
        2'd1: last_op_q <= stream_data_i[519:512];
        2'd2: last_op_q <= stream_data_i[1031:1024];
        default: last_op_q <= stream_data_i[1543:1536];
      endcase
    end
  end
endmodule
