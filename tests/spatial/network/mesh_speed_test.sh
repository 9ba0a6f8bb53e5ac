#!/usr/bin/env bash
# What mesh_speed prints and what it refuses. Argument: the program.
set -euo pipefail
program=$1
failures=0

# expect STATUS TEXT ARGUMENT…: the program's exit status and a line that it prints, by pattern.
expect() {
  local status=0 printed want=$1 text=$2
  shift 2
  printed=$("$program" "$@" 2>&1) || status=$?
  if [[ $status != "$want" ]] || ! grep -qE "$text" <<<"$printed"; then
    printf 'mesh_speed %s: got status %s and\n%s\nwant %s and %s\n' "$*" "$status" "$printed" \
      "$want" "$text"
    failures=1
  fi
}

expect 2 '^usage: mesh_speed flit\|packet WIDTH HEIGHT'
expect 2 '^mesh_speed: MODEL: unknown model; got fluid, want flit or packet$' \
  fluid 4 4 uniform 0.1 1
expect 2 '^mesh_speed: WIDTH: not a number; got four, want a number$' flit four 4 uniform 0.1 1
expect 2 '^mesh_speed: RATE: not a number; got 0.1x, want a number$' flit 4 4 uniform 0.1x 1
expect 2 '^mesh_speed: RATE: out of range; got nan, want 1e-09 to 1$' flit 4 4 uniform nan 1
expect 2 '^mesh_speed: FLITS: out of range; got 21, want 1 to 8$' flit 4 4 uniform 0.1 21
expect 2 '^mesh_speed: CYCLES: out of range; got 0, want 1 to 1000000000$' flit 4 4 uniform 0.1 1 0
expect 2 '^mesh_speed: mesh: height is out of range; got 0, want 1 to 256$' flit 4 0 uniform 0.1 1
expect 2 '^mesh_speed: traffic: unknown pattern; got tornado' flit 4 4 tornado 0.1 1
for model in flit packet; do
  # One tile alone: 1 + 1 + 5 cycles a packet, whatever the seed.
  expect 0 '^latency 7\.0 cycles over 1\.00 routers, accepted 0\.0[0-9]* flits' \
    "$model" 1 1 uniform 0.02 1 500
done
expect 0 '^warning: the link from router 0 to tile 0 was busy in' packet 1 1 uniform 0.9 1 500
exit "$failures"
