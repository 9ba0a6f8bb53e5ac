// What the binary32 units share.
package float_pkg;

  localparam logic [31:0] Nan = 32'h7FC00000;  // the one NaN that the units give

  // Zeros in front of the first one, of 32 bits; 31 for 0 as well as for 1. First the byte, then
  // the place in it: so that a stage may hold it with little beside it.
  function automatic logic [4:0] leading_zeros(input logic [31:0] x);
    logic third, second, first;  // no one in this byte
    logic [7:0] octet;
    // verilator lint_off UNUSEDSIGNAL
    logic [3:0] nibble;  // its lowest bit decides nothing
    // verilator lint_on UNUSEDSIGNAL
    logic four, two;
    third = x[31:24] == 8'd0;
    second = x[23:16] == 8'd0;
    first = x[15:8] == 8'd0;
    octet = !third ? x[31:24] : !second ? x[23:16] : !first ? x[15:8] : x[7:0];
    four = octet[7:4] == 4'd0;
    nibble = four ? octet[3:0] : octet[7:4];
    two = nibble[3:2] == 2'd0;
    leading_zeros = {third && second, third && (!second || first), four, two,
                     !(two ? nibble[1] : nibble[3])};
  endfunction

  // Sign, exponent field and 24-bit significand (its top bit is implied by a field above 0), rounded
  // to nearest even by the bits below it. A carry runs into the exponent, up to infinity.
  function automatic logic [31:0] rounded(input logic sign, input logic [7:0] field,
                                          input logic [22:0] fraction, input logic guard,
                                          input logic sticky);
    logic up;
    up = guard && (sticky || fraction[0]);
    rounded = {sign, {field, fraction} + {30'd0, up}};
  endfunction

  // Of the 26 leading bits of a product or a quotient, the one of weight 2^field second: those in
  // front give a field more, without both it is subnormal. What lies below is `sticky`.
  function automatic logic [31:0] rounded_wide(input logic sign, input logic [8:0] field,
                                               input logic [25:0] bits, input logic sticky);
    logic [8:0] adjusted;
    adjusted = bits[25] ? field + 9'd1 : bits[24] ? field : 9'd0;
    rounded_wide = adjusted >= 9'd255 ? {sign, 31'h7F800000}
                 : rounded(sign, adjusted[7:0], bits[25] ? bits[24:2] : bits[23:1],
                           bits[25] ? bits[1] : bits[0], sticky || (bits[25] && bits[0]));
  endfunction

endpackage
