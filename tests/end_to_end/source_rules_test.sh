#!/usr/bin/env bash
# What no source of the project may hold. Usage: source_rules_test.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"

failed=0
forbid() { # WHY PATTERN FOLDER…
  local why=$1 pattern=$2
  shift 2
  if grep -rnE --include='*.cc' --include='*.h' --include='*.cu' --include='*.cuh' \
    --include='CMakeLists.txt' --include='*.cmake' -e "$pattern" "$@"; then
    echo "^ $why"
    failed=1
  fi
}

# The patterns are written so that they do not match this file.
forbid 'a skipped test is never a pass' 'GTEST_[S]KIP|DISABLED[_]' tests
forbid 'finish it or leave it out' '\b(TO[D]O|FIX[M]E|X[X]X)\b' bench cuda program sim tests cmake
forbid 'it changes bits' '-f[f]ast-math|-f[f]p-contract=(fast|on)|use_[f]ast_math' \
  bench cuda program sim tests
forbid 'lanes and the bench come after sim and program' '#include "(bench|cuda)/' program sim
forbid 'sim comes after program' '#include "sim/' program
forbid 'lanes come before the bench' '#include "bench/' cuda
forbid 'no globbing of sources' 'file\(GLOB(_RECURSE)? [A-Za-z_]+ .*\.(cc|cu|h)' bench cuda program sim

# What the README and the tutorial run, scripts/bench has built.
built=$(sed -n 's/^targets=(\(.*\))$/\1/p' scripts/bench)
for program in $(grep -ho 'build/bin/[a-z_]*' README.md docs/tutorial.md | sort -u); do
  program=${program##*/}
  target=$(grep -rhoE --include=CMakeLists.txt "^ *set_target_properties\([a-z_]+ PROPERTIES OUTPUT_NAME $program\)" \
    bench program | sed 's/.*(\([a-z_]*\) .*/\1/') || target=$program
  if [[ " $built " != *" $target "* ]]; then
    echo "build/bin/$program: scripts/bench builds $built"
    failed=1
  fi
done
((failed == 0)) && echo 'all rules hold'
