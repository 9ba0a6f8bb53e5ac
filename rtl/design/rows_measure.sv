// The exponent of each row's block, from the row's peak (arithmetic.md section 2, steps 1 and 2).
//
// start_i takes the rows one after the other: own_i from own_peaks_i, else from the set
// `peak_set_i`, row pass_row_i + r. shift_o is 14 - X (signed), zero_o says ZE; with keep_i
// exponents_o gets the exponent too. They stay until the next measuring. Bounds stay as they are
// while busy_o is high. Latency: rows + 2 cycles until busy_o falls. Overflow: X > 40 gives ZE and
// a pulse of fault_o. Reset stops it and makes all exponents ZE.
module rows_measure #(
    parameter engine_pkg::config_t Config = engine_pkg::Default
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,
    input  logic                      own_i,
    input  logic                      keep_i,
    input  logic [               5:0] rows_i,           // 1 to 32
    input  logic [               4:0] pass_row_i,
    input  logic [               1:0] peak_set_i,
    // Of a peak only the exponent field counts.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [Config.rows*31-1:0] own_peaks_i,
    input  logic [Config.rows*31-1:0] rows_peaks_i,
    input  logic [Config.rows*31-1:0] product_peaks_i,
    input  logic [Config.rows*31-1:0] attend_peaks_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                      busy_o,
    output logic                      fault_o,
    output logic [ Config.rows*8-1:0] shift_o,
    output logic [   Config.rows-1:0] zero_o,
    output logic [ Config.rows*8-1:0] exponents_o
);
  localparam int Rows = Config.rows;

  logic selecting_q, selected_q;
  logic [4:0] row_q, selected_row_q, peak_row;
  logic [7:0] field_q, shift;
  logic zero, fault;

  assign peak_row = own_i ? row_q : row_q + pass_row_i;
  assign shift    = 8'd141 - field_q;          // X = field - 127
  assign fault    = field_q > 8'd167;          // X > 40
  assign zero     = fault || field_q < 8'd67;  // X < -60
  assign fault_o  = selected_q && fault;
  assign busy_o   = selecting_q || selected_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      selecting_q <= 1'b1;
      row_q       <= '0;
    end else if (selecting_q) begin
      selecting_q <= {1'b0, row_q} + 6'd1 != rows_i;
      row_q       <= row_q + 5'd1;
    end
    if (!rst_ni) selecting_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (selecting_q) begin
      for (int k = 0; k < Rows; k++) begin
        if (peak_row == 5'(k)) begin
          field_q <= own_i ? own_peaks_i[k*31+23+:8]
                   : peak_set_i == engine_pkg::PeaksOfProduct ? product_peaks_i[k*31+23+:8]
                   : peak_set_i == engine_pkg::PeaksOfAttend ? attend_peaks_i[k*31+23+:8]
                   : rows_peaks_i[k*31+23+:8];
        end
      end
      selected_row_q <= row_q;
    end
    selected_q <= selecting_q && rst_ni;
  end

  always_ff @(posedge clk_i) begin
    if (selected_q) begin
      for (int k = 0; k < Rows; k++) begin
        if (selected_row_q == 5'(k)) begin
          shift_o[k*8+:8] <= shift;
          zero_o[k]       <= zero;
          if (keep_i) exponents_o[k*8+:8] <= zero ? 8'h80 : -shift;
        end
      end
    end
    if (!rst_ni) exponents_o <= {Rows{8'h80}};
  end
endmodule
