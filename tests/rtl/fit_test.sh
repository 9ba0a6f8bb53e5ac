#!/usr/bin/env bash
# scripts/fit. Usage: fit_test.sh SOURCE_DIR units|table
set -uo pipefail

root=$1 part=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# expect STATUS TEXT ARGUMENT…: scripts/fit ends with STATUS and says TEXT.
expect() {
  local want=$1 text=$2 status
  shift 2
  "$root/scripts/fit" "$@" >"$folder/out" 2>&1
  status=$?
  if ((status != want)) || ! tr -s ' ' <"$folder/out" | grep -qF -- "$text"; then
    printf 'scripts/fit %s: status %d, wanted %d with "%s":\n' "$*" "$status" "$want" "$text"
    cat "$folder/out"
    failed=1
  fi
}

# module NAME TEXT: a design of this one module. `expect` reads it from $folder/design.
module() {
  mkdir -p "$folder/design"
  printf '%s\n' "$2" >"$folder/design/$1.sv"
}

if [[ $part == units ]]; then
  # A 24x24 multiplier is one block; of two 18x19 ones, two share one.
  expect 0 'f32_mul 1 0 ' --unit f32_mul
  module four 'module four (input logic clk_i, input logic [63:0] a_i, output logic [127:0] y_o);
    always_ff @(posedge clk_i)
      for (int k = 0; k < 4; k++) y_o[k*32+:32] <= 32'"'"'(a_i[k*16+:16]) * 32'"'"'(a_i[(3-k)*16+:16]);
  endmodule'
  expect 0 'four 2 0 64 128' --unit four --design "$folder/design"
  # 1024 words of 64 bits: 4 blocks of 1024 x 20; read where it is not clocked, or shallow: none.
  module words 'module words (input logic clk_i, write_i, input logic [9:0] at_i,
                              input logic [63:0] d_i, output logic [63:0] q_o);
    logic [63:0] words [0:1023];
    always_ff @(posedge clk_i) begin
      if (write_i) words[at_i] <= d_i;
      q_o <= words[at_i];
    end
  endmodule'
  expect 0 'words 0 4 ' --unit words --design "$folder/design"
  # Six inputs are one LUT, whose level is counted; twelve, in whichever way, are two.
  module both 'module both (input logic clk_i, input logic [11:0] a_i, output logic y_o, z_o);
    always_ff @(posedge clk_i) y_o <= &a_i[5:0];
    always_ff @(posedge clk_i) z_o <= ^a_i;
  endmodule'
  expect 0 ' 2 both' --unit both --design "$folder/design"

  module latch 'module latch (input logic a_i, b_i, output logic y_o);
    always @* if (a_i) y_o = b_i;
  endmodule'
  expect 1 '$dlatch' --unit latch --design "$folder/design"
  module comb_latch 'module comb_latch (input logic a_i, b_i, output logic y_o);
    always_comb if (a_i) y_o = b_i;
  endmodule'
  expect 1 'Latch inferred' --unit comb_latch --design "$folder/design"
  module drivers 'module drivers (input logic a_i, b_i, output logic y_o);
    assign y_o = a_i;
    assign y_o = b_i;
  endmodule'
  expect 1 'multiple conflicting drivers' --unit drivers --design "$folder/design"
  module turns 'module turns (input logic a_i, output logic y_o);
    assign y_o = a_i ^ y_o;
  endmodule'
  expect 1 'found logic loop' --unit turns --design "$folder/design"
  module nobody 'module nobody (input logic a_i, output logic y_o);
    logic b;
    assign y_o = a_i && b;
  endmodule'
  expect 1 'has no driver' --unit nobody --design "$folder/design"

  expect 2 'want 1/1, 8/8, 16/16 or 32/16' 8/16
  expect 2 'want a module' --unit nothing_of_this_name
  expect 2 'want a folder' --unit latch --design "$folder/nowhere"
  expect 2 'has no size' --unit latch 8/8
  expect 2 'want --unit' --design "$folder"
else
  # The blocks as they stand; ALMs are within a tenth where another yosys maps them.
  "$root/scripts/fit" 8/8 >"$folder/out" || exit 1
  grep -A 14 '^engine 8/8' "$folder/out" >"$folder/now"
  grep -A 14 '^engine 8/8' "$root/rtl/fit/README.md" >"$folder/then"
  paste "$folder/now" "$folder/then" | awk '
    $1 != $6 { print "other lines: " $0; wrong = 1 }
    NR > 1 && NR < 15 && ($2 != $7 || $3 != $8) { print "other blocks: " $0; wrong = 1 }
    NR > 1 && NR < 15 && ($4 > 1.1 * $9 + 20 || $9 > 1.1 * $4 + 20) {
      print "other ALMs: " $0
      wrong = 1
    }
    END { exit wrong || NR != 15 }' || { cat "$folder/out"; failed=1; }
fi
exit $failed
