#!/usr/bin/env bash
# scripts/setup on machines that lack something, with apt, dpkg, id and sudo replaced.
# Usage: setup_test.sh SOURCE_FOLDER
# shellcheck disable=SC2016 # the stand-ins expand their own variables
set -euo pipefail

source_folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# A PATH with only what setup itself uses, and stand-ins that write down how they were called.
mkdir "$work/bin"
for tool in bash env nproc cat mktemp rm dirname grep; do
  ln -s "$(command -v "$tool")" "$work/bin/$tool"
done
stand_in() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
stand_in dpkg-query 'grep -qxF -- "${!#}" "$WORK/installed" && printf "install ok installed"'
stand_in apt-get 'echo "apt-get $* [$DEBIAN_FRONTEND]" >>"$WORK/calls"; echo noise; exit "${APT_STATUS-0}"'
stand_in sudo 'echo "sudo $1" >>"$WORK/calls"; exec "$@"'
stand_in id 'echo "${USER_ID-0}"'

# try NAME [VARIABLE=VALUE…]: runs `need` for one command, two libraries; keeps output and status.
try() {
  : >"$work/calls"
  status=0
  env -i PATH="$work/bin" WORK="$work" "$@" bash -euo pipefail -c '
    source "$0/scripts/setup"
    need "some-tool|some-command|builds
liba-dev|-|reads" "libb-dev|-|writes
liba-dev|-|reads"' "$source_folder" >"$work/stdout" 2>"$work/stderr" || status=$?
}
expect() { # FILE TEXT
  grep -qF -- "$2" "$work/$1" || fail "$case: $1 lacks '$2': $(cat "$work/$1")"
}
expect_empty() { [[ ! -s $work/$1 ]] || fail "$case: $1 is not empty: $(cat "$work/$1")"; }
expect_status() { [[ $status == "$1" ]] || fail "$case: status $status, want $1"; }

case='all is there'
printf 'liba-dev\nlibb-dev\n' >"$work/installed"
stand_in some-command ''
try A=1
expect_status 0
expect_empty stdout
expect_empty stderr
expect_empty calls

case='two packages are missing, as root'
printf 'libb-dev\n' >"$work/installed"
rm "$work/bin/some-command"
try A=1
expect_status 0
expect_empty stdout
expect stderr 'installing some-tool (builds), liba-dev (reads)'
expect calls 'apt-get update [noninteractive]'
expect calls 'apt-get install -y --no-install-recommends some-tool liba-dev [noninteractive]'
grep -q noise "$work/stderr" && fail "$case: apt's output is shown"

case='as a user with sudo'
try USER_ID=1000
expect_status 0
expect calls 'sudo env'

case='as a user without sudo'
mv "$work/bin/sudo" "$work/hidden"
try USER_ID=1000
expect_status 2
expect stderr 'As root: apt-get update && apt-get install -y --no-install-recommends some-tool liba-dev'
expect_empty calls
mv "$work/hidden" "$work/bin/sudo"

case='apt fails'
try APT_STATUS=100
expect_status 100
expect stderr 'apt-get update failed with status 100'
expect stderr noise

case='another distribution'
rm "$work/bin/apt-get"
try A=1
expect_status 2
expect stderr 'no Debian or Ubuntu'

((failures == 0)) && echo 'all cases passed'
