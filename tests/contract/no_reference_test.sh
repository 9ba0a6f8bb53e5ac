#!/usr/bin/env bash
# No lane links the reference: what agrees must have been computed twice.
# Usage: no_reference_test.sh SOURCE_FOLDER LANE_FOLDER REFERENCE_LIBRARY LIBRARY…
# The libraries are all of our own that the lane's library links.
set -euo pipefail

source_folder=$1 lane_folder=$2 reference=$3
shift 3
marker='logos::reference::\|logos::ReferenceLane'

# Prints the reference's symbols in a library; a library that nm cannot read ends the test.
found_in() {
  local symbols
  symbols=$(nm -C "$1" 2>/dev/null) || {
    echo "cannot read $1" >&2
    return 1
  }
  grep "$marker" <<<"$symbols" || true
}

# The test can fail: the reference's own library has such symbols.
[[ $(found_in "$reference") ]] || {
  echo "no symbol of $reference was recognised"
  exit 1
}

[[ -d $source_folder/$lane_folder ]] || {
  echo "no folder $source_folder/$lane_folder"
  exit 1
}
failed=0
for library in "$@"; do
  found=$(found_in "$library")
  if [[ ${library##*/} == libreference.a || $found ]]; then
    printf 'the lane links the reference through %s\n%s\n' "$library" "$found"
    failed=1
  fi
done
if grep -rn '#include "sim/reference' "$source_folder/$lane_folder"; then
  echo "$lane_folder includes the reference"
  failed=1
fi
((failed == 0)) && echo "looked at $# libraries and $lane_folder/: nothing of the reference"
