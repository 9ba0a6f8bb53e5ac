// 2^e * x for a binary32 x that is normal or 0 and a result that is so too: an addition to the
// exponent field. Combinational.
//
// A subnormal x and a result below 2^-126 give zero of x's sign, a result of 2^128 or more infinity
// (no consumer of arithmetic.md sees either); an infinity or a NaN stays as it is.
module f32_scale (
    input  logic [31:0] x_i,
    input  logic [ 9:0] e_i,  // signed
    output logic [31:0] y_o
);
  logic [10:0] field;  // signed, from -512 to 766

  always_comb begin
    field = {3'd0, x_i[30:23]} + {e_i[9], e_i};
    if (x_i[30:23] == 8'hFF) y_o = x_i;
    else if (x_i[30:23] == 8'd0 || field[10] || field == 11'd0) y_o = {x_i[31], 31'd0};
    else if (field >= 11'd255) y_o = {x_i[31], 31'h7F800000};
    else y_o = {x_i[31], field[7:0], x_i[22:0]};
  end
endmodule
