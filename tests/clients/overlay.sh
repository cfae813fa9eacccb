# shellcheck shell=bash
# A mount namespace in which tallyfs lies over the kernel's tracefs, for clients that look there.

# find_bin [DIR]: where tallyfs is.
find_bin() {
  local bin=${1:-$here/../../build/release/bin}
  [ -n "$1" ] || [ -x "$bin/tallyfs" ] || bin=$(dirname "$(command -v tallyfs || echo .)")
  [ -x "$bin/tallyfs" ] || { echo "no tallyfs in $bin; build it, or say --bin DIR" >&2; return 1; }
  (cd "$bin" && pwd)
}

# in_overlay BIN WORK COMMAND [ARGUMENT...]: its status is the command's, or 1 if tallyfs does not
# start or ends with an error. WORK is an empty directory, for the socket and the log.
in_overlay() {
  OVERLAY_BIN=$1 OVERLAY_WORK=$2 unshare --mount --propagation private \
    bash -c '. "$0"; _run_in_overlay "$@"' "${BASH_SOURCE[0]}" "${@:3}"
}

_run_in_overlay() {
  local said='' daemon output status=0
  mkfifo "$OVERLAY_WORK/said" || return 1
  "$OVERLAY_BIN/tallyfs" -f --socket "$OVERLAY_WORK/socket" --over-tracefs \
    >"$OVERLAY_WORK/said" 2>"$OVERLAY_WORK/log" &
  daemon=$!
  exec {output}<"$OVERLAY_WORK/said"
  read -r -t 60 said <&"$output" || true
  if [ "$said" = READY ]; then
    TALLY_SOCKET=$OVERLAY_WORK/socket _run_beside "$daemon" "$@" || status=$?
  else
    echo 'tallyfs has not started:' >&2
    status=1
  fi
  kill "$daemon" 2>/dev/null
  wait "$daemon" || status=1
  [ "$status" -eq 0 ] || cat "$OVERLAY_WORK/log" >&2
  return "$status"
}

# _run_beside DAEMON COMMAND...: if the daemon ends first, or a signal comes, the command is killed:
# in that place is the kernel's own directory then, which is not for it.
_run_beside() {
  local command ended='' status=0
  set -m
  trap : INT TERM HUP
  "${@:2}" </dev/null &
  command=$!
  set +m
  wait -n -p ended "$1" "$command" || status=$?
  [ "$ended" != "$command" ] || return "$status"
  kill -- "-$command" 2>/dev/null
  wait "$command"
  echo 'tallyfs or the test was ended from outside' >&2
  return 1
}
