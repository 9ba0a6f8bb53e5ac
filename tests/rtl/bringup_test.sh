#!/usr/bin/env bash
# The program bringup: exit statuses, files, export and replay, OPAE's stand-in in place of the card.
# Usage: bringup_test.sh BRINGUP STAND_IN_LIBRARY
set -uo pipefail

bringup=$1 stand_in=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# expect STATUS TEXT ARGUMENT…: the program ends with STATUS and says TEXT.
expect() {
  local want=$1 text=$2 status
  shift 2
  "$bringup" "$@" >"$folder/out" 2>"$folder/err"
  status=$?
  if ((status != want)) || ! cat "$folder/out" "$folder/err" | grep -qF -- "$text"; then
    printf 'bringup %s: status %d, wanted %d with "%s":\n' "$*" "$status" "$want" "$text"
    cat "$folder/out" "$folder/err"
    failed=1
  fi
}

expect 0 "10  soak               passed" --steps 3 --export "$folder/answers" \
  --json "$folder/a.json" --junit "$folder/a.xml"
grep -q '"passed": true' "$folder/a.json" || { echo "a.json: not passed"; failed=1; }
grep -q 'failures="0" skipped="0"' "$folder/a.xml" || { echo "a.xml: not passed"; failed=1; }
# Its fourth program has heads of a width that 4 does not divide.
expect 0 "10  soak               passed" --seed 2 --steps 5
expect 0 "passed" --steps 1 --replay "$folder/answers" --board opae --opae-library "$stand_in"
expect 0 "10  soak               passed" --steps 2 --replay "$folder/answers" --stalls 5 --fill 0xFF
expect 1 "bank 2" --replay "$folder/answers" --fault bank2:silent@0 --junit "$folder/b.xml"
grep -q 'failures="1" skipped="6"' "$folder/b.xml" || { echo "b.xml: not failed"; failed=1; }
expect 1 "fault bank1:slow@99999999 left no trace" --steps 1 --replay "$folder/answers" \
  --fault bank1:slow@99999999 --json "$folder/c.json" --junit "$folder/c.xml"
grep -q '"passed": false' "$folder/c.json" || { echo "c.json: passed"; failed=1; }
grep -q 'failures="1" skipped="0"' "$folder/c.xml" || { echo "c.xml: not failed"; failed=1; }

# What is replayed is neither written over nor waited for.
expect 2 "a file of its own in the folder of --replay" --replay "$folder/answers" \
  --json "$folder/answers/answers.json"
mkdir "$folder/new"
expect 2 "a file of its own in the folder of --export" --export "$folder/new" \
  --json "$folder/new/answers.json"
cp -r "$folder/answers" "$folder/pipe"
one=$(ls "$folder/pipe" | grep decode)
rm "$folder/pipe/$one" && mkfifo "$folder/pipe/$one"
expect 2 "$one: " --replay "$folder/pipe"

# An output that cannot be written costs no other.
expect 2 "No space left on device" --steps 1 --replay "$folder/answers" --json /dev/full \
  --junit "$folder/d.xml"
grep -q 'failures="0" skipped="0"' "$folder/d.xml" || { echo "d.xml: not passed"; failed=1; }
"$bringup" --steps 1 --replay "$folder/answers" --json "$folder/e.json" >/dev/full 2>"$folder/err"
[[ $? == 2 ]] && grep -q '"passed": true' "$folder/e.json" || { echo "e.json: not passed"; failed=1; }

# A memory that takes one read at a time is slow, and named.
expect 1 "bandwidth of a sequential read" --replay "$folder/answers" --set board.ddr4.in_flight=1

echo damaged >>"$folder/answers/$(ls "$folder/answers" | grep decode)"
expect 2 "another identity" --replay "$folder/answers"
expect 2 "answers.json" --replay "$folder/nowhere"
expect 2 "opae-sdk 2.x" --board opae --opae-library "$folder/none.so"
# A file by its name alone is a file, too, though the loader would look elsewhere.
echo text >"$folder/text.so"
cd "$folder" && expect 2 "$folder/text.so: " --board opae --opae-library text.so
cd - >/dev/null
mkfifo "$folder/pipe.so"
expect 2 "is not a regular file, no library" --board opae --opae-library "$folder/pipe.so"
head -c 20000 "$stand_in" >"$folder/part.so"
expect 2 "the library is cut off; got 20000 bytes, want" --board opae --opae-library "$folder/part.so"
expect 2 "an empty value" --board opae --opae-library ''
expect 2 "response_order: the engine takes answers in order" --set board.ddr4.response_order=as_completed
expect 2 "--stalls" --stalls 18446744073709551615

# Where no rung is begun, a report of an earlier run does not stay.
echo '{"passed": true}' >"$folder/f.json"
expect 2 "opae-sdk 2.x" --board opae --opae-library "$folder/none.so" --json "$folder/f.json" \
  --junit "$folder/f.xml"
grep -q '"passed": false' "$folder/f.json" || { echo "f.json: passed"; failed=1; }
grep -q 'failures="1"' "$folder/f.xml" || { echo "f.xml: not failed"; failed=1; }

expect 2 "no such unit" --fault bank7:silent@0
expect 2 "nowhere" --json "$folder/nowhere/a.json"
expect 2 "the same file as --json" --json "$folder/d" --junit "$folder/../$(basename "$folder")/d"
expect 2 "unknown key" --set board.ddr4.nonsense=1
expect 0 "bank0 to bank3" --list
expect 0 "--replay" --help
exit $failed
