# kill -9 of each process of a mount with probes, and of all, while the probes are met: after the
# next start no probe of the dead is left, and none of the living was touched: another mount's, and
# another tool's.
# TALLY_KILLS: of each kind (1; 50 in `tests/run long`).
_alone=yes  # orphans are those of all mounts of the machine
. ./tracing/_probes.sh
KILLS=${TALLY_KILLS:-1}

_set_up() {
  need_root
  [ "${TALLY_PATIENCE:-1}" = 1 ] || skip "FEEDERS OF OTHER TESTS WOULD REMOVE WHAT IS LEFT OVER"
  [ -e /sys/bus/event_source/devices/uprobe ] || skip "no uprobes here"
  ALIVE=$CASE/alive$$ MNT2=$CASE/mnt2
  cp "$(command -v bash)" "$TARGET"
  cp "$TARGET" "$ALIVE"
  # Another mount.
  mkdir "$MNT2"
  $SETSID "$TALLYFS" -f --socket "$CASE/run2/socket" -o tracefs "$MNT2" >"$CASE/second" 2>&1 &
  SECOND=$!
  echo "$SECOND" >>"$CASE/pids"
  wait_until 'grep -qx READY "$CASE/second"'
  [ -e "$MNT2/tracing/uprobe_events" ] || skip "no uprobes here"
  echo "p:child $ALIVE:make_child" >>"$MNT2/tracing/uprobe_events"
  echo 'hist:keys=common_comm' >"$MNT2/tracing/events/uprobes/child/trigger"
  # Another tool.
  FOREIGN=foreign$$
  _append "$(_living | sed "s|^p:[^ ]*|p:$FOREIGN/child|")"
  # Both programs run all the time.
  "$TARGET" -c 'while :; do (:); done' &
  LOADS=$!
  "$ALIVE" -c 'while :; do (:); done' &
  LOADS+=" $!"
  printf '%s\n' $LOADS >>"$CASE/pids"
  _start
}
_living() { _real 'cat uprobe_events' | grep "^p:tallyfs_.*$ALIVE"; }
_start() {
  start_daemon -o tracefs
  echo "p:child $TARGET:make_child" >>"$P"
  echo "r:back $TARGET:make_child" >>"$P"
  echo 'hist:keys=common_comm' >"$T/events/uprobes/child/trigger"
  echo 1 >"$T/events/uprobes/back/enable"
  _counts
}
# The one that is sought is not the second mount's.
_feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }
_supervisor() { ps -o ppid= -p "$(_feeder)" | tr -d ' '; }
_counts() {
  local before
  before=$(_hits "$T/events/uprobes/child")
  wait_until '[ "$(_hits "$T/events/uprobes/child")" -gt '"${before:-0}"' ]'
}
# Ours are two, and the others are as they were, and count.
_check() {
  local before
  wait_until '[ "$(_ours | wc -l)" -eq 2 ]'
  assert_eq 1 "$(_groups | wc -l)" "one group alone"
  [ $# -eq 0 ] || assert_eq "$1" "$(_groups)" "$2"
  assert_eq "$LIVING" "$(_living)" "the other mount's"
  assert_eq 1 "$(_real 'cat uprobe_events' | grep -c "^p:$FOREIGN/")" "the other tool's"
  before=$(_hits "$MNT2/tracing/events/uprobes/child")
  wait_until '[ "$(_hits "$MNT2/tracing/events/uprobes/child")" -gt '"$before"' ]'
}
_groups() { _ours | sed 's|^.:\([^/]*\)/.*|\1|' | sort -u; }
_gone() {  # _gone PID...
  local each
  for each; do
    wait_until '[ ! -d /proc/'"$each"' ] || grep -qs "^State:.Z" /proc/'"$each"'/status'
  done
}
# The mount is started again, and its group is another.
_start_again() {
  local before=$1
  umount -l "$MNT" 2>/dev/null || true # of a daemon that was killed
  _start
  _check
  assert_has_not "$before" "$(_groups)"
}
_end() {
  kill $LOADS
  kill -TERM "$SECOND"
  wait "$SECOND" || fail "the other daemon ended with $?"
  wait_until '[ -z "$(_living || true)" ]'
  assert_eq 1 "$(_real 'cat uprobe_events' | grep -c "^p:$FOREIGN/")" "the other tool's"
  _append "-:$FOREIGN/child"
  stop_daemon
  wait_until '[ -z "$(_ours)" ]'
}

no_kill_leaves_a_probe_of_the_dead_or_takes_one_of_the_living() {
  local i before victim family
  LIVING=$(_living)
  for ((i = 1; i <= KILLS; ++i)); do
    # The server: the keeper starts the next.
    before=$(_groups) victim=$SERVER
    kill -KILL "$SERVER"
    wait_until 'serves_instead_of '"$victim"
    _counts
    _check "$before" "kept after a kill of the server"
    # The feeder: its supervisor starts the next.
    victim=$(_feeder)
    kill -KILL "$victim"
    wait_until '[ -n "$(_feeder)" ] && [ "$(_feeder)" != '"$victim"' ]'
    _counts
    _check "$before" "kept after a kill of the feeder"
    # The supervisor: the feeder is the last holder of the group.
    victim=$(_supervisor)
    kill -KILL "$victim"
    _gone "$victim"
    stop_daemon
    _start_again "$before"
    # The daemon: the supervisor cleans up.
    before=$(_groups)
    victim="$SERVER $(_supervisor)"
    kill -KILL "$DAEMON"
    _wait_for "$DAEMON" || true
    _gone $victim
    wait_until '[ -z "$(_ours)" ]'
    _start_again "$before"
    # All.
    before=$(_groups)
    family=$(_family "$DAEMON" "$(_supervisor)" | sort -u | tr '\n' ' ')
    kill -KILL $family
    _wait_for "$DAEMON" || true
    _gone $family
    _start_again "$before"
  done
  echo "measured: $KILLS kills each of server, feeder, supervisor, daemon and all, under load"
  _end
}
