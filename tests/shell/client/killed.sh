# Feeders that are killed while they count in cells, or put samples into rings: of what they had
# added nothing is missing, and nothing is counted twice. tests/client/lane_killed.cpp counts.
. ./client/_lane.sh
LANE_KILLED=${TALLY_BIN:+$TALLY_BIN/}tally-lane-killed

# _kill FEEDERS ARGUMENT...: so many of them; TALLY_KILLS, if it is set.
_kill() {
  command -v "$LANE_KILLED" >/dev/null || skip 'tally-lane-killed is not built'
  local feeders=${TALLY_KILLS:-$1}
  shift
  assert_eq ok "$(TALLY_SOCKET=$SOCK "$LANE_KILLED" "$feeders" "$STAT/web/data" "$@")"
  wait_until '[ "$(own lanes)" = 0 ]'
  assert_eq 0 "$(own lane_bad)"
  [ "${1:-}" != list ] || _have_gone_by_ring
}
_have_gone_by_ring() {
  [ "$(own ring_samples)" -gt 1000 ] || fail "only $(own ring_samples) samples went by ring"
  assert_eq 0 "$(own lane_dropped)"
}

a_feeder_may_be_killed_in_any_call() { _kill 20; }
a_feeder_may_be_killed_in_any_call_with_a_ring() { _kill 20 list; }
a_feeder_may_be_killed_in_a_signal_handler() { _kill 20 handler; }
a_feeder_may_be_killed_in_a_signal_handler_with_a_ring() { _kill 20 list handler; }
a_feeder_and_its_child_may_be_killed_around_a_fork() { _kill 15 fork; }
a_feeder_and_its_child_may_be_killed_around_a_fork_with_a_ring() { _kill 15 list fork; }
a_feeder_may_be_killed_while_its_statistic_is_defined() { _kill 24 eras; }

# _kill_beside COMMAND ARGUMENT...: the command is carried out in each round.
_kill_beside() {
  command -v "$LANE_KILLED" >/dev/null || skip 'tally-lane-killed is not built'
  local command=$1 said='' feeders=$((${TALLY_KILLS:-500} / 100))
  shift
  mkfifo "$CASE/tell" "$CASE/hear"
  TALLY_SOCKET=$SOCK "$LANE_KILLED" $feeders "$STAT/web/data" "$@" <"$CASE/tell" >"$CASE/hear" &
  echo $! >>"$CASE/pids"
  exec 7>"$CASE/tell" 8<"$CASE/hear"
  while IFS= read -r -t $((60 * ${TALLY_PATIENCE:-1})) said <&8 && [ "$said" = restart ]; do
    $command
    echo done >&7
  done
  assert_eq ok "$said"
  assert_eq 0 "$(own lane_bad)"
}
_end_and_start() { stop_daemon && start_daemon --state "$CASE/state"; }
_begin_with_state() {
  stop_daemon
  mkdir -m 700 "$CASE/state"
  start_daemon --state "$CASE/state"
}

a_feeder_may_be_killed_while_its_daemon_ends_and_another_begins() {
  _begin_with_state
  _kill_beside _end_and_start restart
}
a_feeder_may_be_killed_while_its_daemon_ends_and_another_begins_with_a_ring() {
  _begin_with_state
  _kill_beside _end_and_start list restart
}

# The keeper starts another server, with the last state that was saved.
_kill_server() {
  local server
  server=$(server_of "$DAEMON")
  kill -KILL "$server"
  wait_until "[ \"\$(server_of $DAEMON)\" != $server ] && data tallyfs >/dev/null 2>&1"
}
what_a_killed_feeder_added_is_not_counted_twice_when_the_server_is_killed_too() {
  _begin_with_state
  _kill_beside _kill_server lost
}
what_a_killed_feeder_added_is_not_counted_twice_when_the_server_is_killed_too_with_a_ring() {
  _begin_with_state
  _kill_beside _kill_server list lost
}

# A reload loses nothing at any time.
_kill_under_reloads() {
  command -v "$LANE_KILLED" >/dev/null || skip 'tally-lane-killed is not built'
  local feeders=$((${TALLY_KILLS:-1000} / 100)) killing
  TALLY_SOCKET=$SOCK "$LANE_KILLED" $feeders "$STAT/web/data" "$@" >"$CASE/killed" &
  killing=$!
  echo $killing >>"$CASE/pids"
  while kill -0 $killing 2>/dev/null; do "$TALLYFS" --reload "$MNT"; done
  wait $killing || true
  assert_eq ok "$(cat "$CASE/killed")"
  assert_eq 0 "$(own lane_bad)"
}
a_feeder_may_be_killed_while_its_daemon_is_reloaded() { _kill_under_reloads; }
a_feeder_may_be_killed_while_its_daemon_is_reloaded_with_a_ring() { _kill_under_reloads list; }
