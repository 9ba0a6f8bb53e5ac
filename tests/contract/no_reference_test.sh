#!/usr/bin/env bash
# No lane links the reference: what agrees must have been computed twice.
# Usage: no_reference_test.sh SOURCE_FOLDER LANE_FOLDER REFERENCE_LIBRARY LIBRARY…
# The libraries are all of our own that the lane's library links.
set -euo pipefail

source_folder=$1 lane_folder=$2 reference=$3
shift 3
marker='logos::reference::\|logos::ReferenceLane'

# The test can fail: the reference's own library has such symbols.
nm -C "$reference" 2>/dev/null | grep -q "$marker" || {
  echo "no symbol of $reference was recognised"
  exit 1
}

failed=0
for library in "$@"; do
  if [[ ${library##*/} == libreference.a ]]; then
    echo "the lane links $library"
    failed=1
  elif nm -C "$library" 2>/dev/null | grep "$marker"; then
    echo "symbols of the reference in ${library##*/}"
    failed=1
  fi
done
if grep -rn '#include "sim/reference' "$source_folder/$lane_folder"; then
  echo "$lane_folder includes the reference"
  failed=1
fi
((failed == 0)) && echo "looked at $# libraries and $lane_folder/: nothing of the reference"
