// What multipliers.v puts in a multiplier's place.
(* blackbox *)
module fit_multiplier #(parameter A_WIDTH = 1, parameter B_WIDTH = 1, parameter Y_WIDTH = 1)
  (input [A_WIDTH-1:0] A, input [B_WIDTH-1:0] B, output [Y_WIDTH-1:0] Y);
endmodule
