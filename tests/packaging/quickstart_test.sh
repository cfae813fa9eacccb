#!/usr/bin/env bash
# packaging/quickstart as a newcomer runs it: --once, and until Ctrl-C. TAP.
set -uo pipefail
project=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'umount -l "$work/mnt" 2>/dev/null; rm -rf "$work"' EXIT
number=0 failed=0

ok() {  # ok NAME COMMAND...
  local name=$1
  shift
  number=$((number + 1))
  if "$@"; then echo "ok $number - $name"; return; fi
  echo "not ok $number - $name"
  sed 's/^/#   /' "$work/out"
  failed=1
}
says() { grep -q -- "$1" "$work/out"; }
is_mounted() {
  awk -v point="$work/mnt" '$2 == point { found = 1 } END { exit !found }' /proc/mounts
}
nothing_is_left() { ! is_mounted && [ ! -e "$work/mnt" ]; }
wait_until() {  # wait_until SECONDS COMMAND...
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.05
  done
}

echo "TAP version 13"
if [ ! -e /dev/fuse ]; then
  echo "1..1"
  echo "ok 1 - quickstart # SKIP no /dev/fuse"
  exit 0
fi
echo "1..12"
# As it reads what ninja says of a build, of one without work, and of one that fails.
shows_progress() {
  (
    eval "$(sed -n '/^show_progress() {/,/^}/p' "$project/packaging/quickstart")"
    printf '[%d/20] Building x\n' {1..20} | show_progress
    echo 'ninja: no work to do.' | show_progress
    printf '%s\n' '-- Configuring' 'x.cpp:1: error: y' | show_progress
  ) >"$work/out"
  [ "$(sed -E 's/, [0-9]+ s$//' "$work/out" | paste -sd';')" = "$(
    printf '  %s of 20 steps (%s %%);' 1 5 2 10 4 20 6 30 8 40 10 50 12 60 14 70 16 80 18 90 20 100
    printf '  nothing has changed since it was built;x.cpp:1: error: y')" ]
}
ok "while it compiles it says how far it is" shows_progress
# As another user, in a mount namespace where /dev/fuse is root's alone.
refuses_politely() {
  [ "$(id -u)" -eq 0 ] || return 0
  local closed="$work/closed-fuse"
  mknod "$closed" c 10 229 && chmod 0600 "$closed" || return 0
  unshare --mount bash -c 'mount --bind "$1" /dev/fuse &&
    exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$2" --once /nowhere' \
    bash "$closed" "$project/packaging/quickstart" >"$work/out" 2>&1
  [ $? -eq 1 ] && says 'may not open /dev/fuse. as root: chmod 0666 /dev/fuse'
}
ok "where /dev/fuse is closed, it says at once what to do" refuses_politely
SECONDS=0
"$project/packaging/quickstart" --once "$work/mnt" >"$work/out" 2>&1
status=$?
took=$SECONDS
ok "quickstart --once ends with 0" [ $status -eq 0 ]
ok "it takes seconds where everything is built" [ $took -lt 30 ]
ok "it lists the interfaces" says '^tallyfs$'
ok "it shows a definition" says '^name=[^ ]* on=1 type='
ok "it shows data that was counted" says '^[a-z_0-9]* .* [1-9][0-9]*$'
ok "it leaves nothing behind" nothing_is_left

# A shell's background jobs ignore SIGINT unless it is put back, as at a terminal.
env --default-signal=INT setsid "$project/packaging/quickstart" "$work/mnt" >"$work/out" 2>&1 &
runner=$!
ok "without --once it stays" wait_until 60 says '^Ctrl-C ends'
ok "and is mounted meanwhile" is_mounted
page_answers() {
  local url api
  url=$(tail -1 "$work/out")
  [[ $url =~ ^(http://127\.0\.0\.1:[0-9]+/)#token=([0-9a-f]{64})\&s=[a-z] ]] || return 1
  api=${BASH_REMATCH[1]}api/1/statistics
  curl -sf -H "Authorization: Bearer ${BASH_REMATCH[2]}" "$api" | grep -q '"tallyfs"'
}
ok "its last line is the address of the page" wait_until 60 page_answers
# To the whole group, as the terminal sends it.
kill -INT -- -"$runner"
wait "$runner"
ok "Ctrl-C unmounts and leaves nothing" wait_until 60 nothing_is_left
exit $failed
