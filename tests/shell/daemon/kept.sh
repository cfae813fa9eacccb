# What is there when a server was killed, without --state: the memory of the keeper has it.

_set_up() { need pgrep; }
. ./daemon/_keeper.sh

what_was_counted_a_second_ago_is_there() {
  start_daemon
  send 'create web/us on=1 type=range' 'web/us 5' 'web/us 7' 'web/a 1'
  assert_data web 'us 2 5 6.000 7' 'a 1 1 1.000 1'
  _is_kept
  _replace_server
  assert_data web 'us 2 5 6.000 7' 'a 1 1 1.000 1'
  send 'web/us 9' 'late/n 3'
  assert_data web 'us 3 5 7.000 9' 'a 1 1 1.000 1'
  rmdir "$STAT/web"
  _is_kept
  _replace_server
  assert_eq 'late tallyfs' "$(ls "$STAT" | paste -sd' ')"
  assert_data late 'n 1 3 3.000 3'
}

# Each is killed right behind the write, before a save of a second could have come.
what_was_written_is_there_after_a_kill_at_once() {
  start_daemon
  local i tracing=$MNT/tracing
  send 'create web/us on=1'
  assert_counts web 'us 0'
  for i in 1 2 3 4 5; do
    define web "name=us type=list entries_max=1$i"
    _replace_server
    assert_has "type=list" "$(cat "$STAT/web/definition")"
    assert_has "entries_max=1$i" "$(cat "$STAT/web/definition")"
    echo "web/$i type=last" >>"$MNT/rules"
    _replace_server
    assert_has "web/$i type=last" "$(cat "$MNT/rules")"
    mkdir "$tracing/instances/of$i"
    _replace_server
    [ -d "$tracing/instances/of$i" ] || fail 'the directory is gone'
    echo "slow$i u64 ns" >>"$tracing/synthetic_events"
    echo 'hist:keys=ns' >"$tracing/events/synthetic/slow$i/trigger"
    _replace_server
    assert_has 'hist:keys=ns' "$(cat "$tracing/events/synthetic/slow$i/trigger")"
  done
  rmdir "$tracing/instances/of3"
  _replace_server
  [ ! -e "$tracing/instances/of3" ] || fail 'the directory is there again'
  echo '!hist:keys=ns' >"$tracing/events/synthetic/slow2/trigger"
  : >"$MNT/rules"
  rmdir "$STAT/web"
  _replace_server
  assert_has_not 'hist:keys=ns' "$(cat "$tracing/events/synthetic/slow2/trigger")"
  assert_eq tallyfs "$(ls "$STAT")"
  assert_has_not 'type=last' "$(cat "$MNT/rules")"
  assert_has_not ' left out' "$(cat "$STDERR")"
}

# By any command and any door, in interfaces of few and of many statistics. TALLY_KILLS says how
# many kills.
what_was_answered_is_there_after_many_kills() {
  need_python
  start_daemon
  "$PYTHON" "$here/kills_answered.py" "$MNT" "$SOCK" "$DAEMON" "${TALLY_KILLS:-$(fewer 25 10)}"
  assert_has_not ' left out' "$(cat "$STDERR")"
}

what_programs_define_is_there_after_a_kill_at_once() {
  start_daemon
  local i
  send 'create web/us on=1'
  for i in $(seq 40); do echo "create many/s$i on=1"; done | "$TALLY_SEND" --socket "$SOCK"
  for i in 1 2 3; do
    "$TALLY_SEND" --socket "$SOCK" "create web/n$i on=1 type=range" "define many/s$i units=$i"
    _replace_server
    assert_has "name=n$i on=1 type=range" "$(cat "$STAT/web/definition")"
    assert_has "name=s$i " "$(cat "$STAT/many/definition")"
    assert_eq "$i" "$(attribute many "s$i" units)"
    "$TALLY_SEND" --socket "$SOCK" "remove web/n$i" "define many/s$i type=range"
    _replace_server
    assert_has_not "name=n$i" "$(cat "$STAT/web/definition")"
    assert_eq range "$(attribute many "s$i" type)"
  done
  assert_has_not ' left out' "$(cat "$STDERR")"
}

# The third server has all that was kept.
a_write_that_two_servers_crash_with_is_refused() {
  _need_resend
  need_python
  [ -z "${TALLY_PATIENCE:-}" ] || skip 'a sanitizer looks for leaks by ptrace itself'
  local said status=0
  start_daemon
  send 'create web/a on=1' 'web/a 1'
  assert_counts web 'a 1'
  _is_kept
  said=$("$PYTHON" "$here/end_in_write.py" "$DAEMON" "$STAT/web/definition" 'name=a units=bad' \
    SIGABRT save 2) || status=$?
  [ $status != 3 ] || skip 'no process may trace another'
  assert_eq EIO "$said"
  assert_eq 2 "$(own takeovers)"
  assert_eq 1 "$(own poisoned)"
  send 'web/a 1'
  assert_counts web 'a 2'
  assert_match '.*write of pid [0-9]+ uid [0-9]+ is refused: servers have crashed with it' \
    "$(grep 'is refused:' "$STDERR")"
  assert_has 'Command: name=a units=bad' "$(cat "$MNT/tracing/error_log")"
  define web 'name=a units=good'
}

# It is saved, with its outcome: a second time it would be EEXIST.
a_write_that_was_carried_out_is_not_carried_out_again() {
  _need_resend
  need_python
  [ -z "${TALLY_PATIENCE:-}" ] || skip 'a sanitizer looks for leaks by ptrace itself'
  local said times status trigger=$MNT/tracing/events/web/request/trigger
  start_daemon
  send 'event define web/request pid_t pid'
  for times in 1 2; do
    status=0
    said=$("$PYTHON" "$here/end_in_write.py" "$DAEMON" "$trigger" "hist:keys=pid:name=n$times" \
      SIGKILL reply $times) || status=$?
    [ $status != 3 ] || skip 'no process may trace another'
    assert_eq done "$said"
  done
  assert_eq 3 "$(own takeovers)"
  assert_eq 2 "$(grep -c '^hist:' "$trigger")"
}

# The cause may be in what they keep.
after_three_crashes_a_server_begins_anew() {
  start_daemon
  local i
  send 'web/a 1'
  assert_counts web 'a 1'
  _is_kept
  for i in 1 2 3; do
    _replace_server ABRT
    [ "$i" = 3 ] || assert_counts web 'a 1'
  done
  assert_eq tallyfs "$(ls "$STAT")"
  assert_has 'have kept is left out: three of them crashed in a row' "$(cat "$STDERR")"
  send 'web/a 1'
  _is_kept
  _replace_server
  assert_counts web 'a 1'
}

# A limit for files holds for shared memory, too.
a_memory_that_takes_nothing_is_told() {
  ulimit -S -f 1000
  start_daemon
  send 'web/a 1'
  assert_counts web 'a 1'
  wait_until 'grep -q "the state is not kept: .*: File too large" "$STDERR"'
  assert_has 'the state is not kept' "$(cat "$MNT/tracing/error_log")"
  assert_eq 1 "$(own unsaved)"
  assert_match '[1-9][0-9]*' "$(own keep_failures)"
  define web 'name=a type=list entries_max=9'
  assert_eq 1 "$(grep -c 'is not kept' "$STDERR")"
  _replace_server
  send 'web/b 1'
  assert_counts web 'b 1'
}

# The entries of two triggers are saved with the first of them.
a_shared_histogram_stays_when_its_first_trigger_goes() {
  start_daemon
  local tracing=$MNT/tracing i
  for i in 1 2; do
    echo "slow$i u64 ns" >>"$tracing/synthetic_events"
    echo 'hist:name=both:keys=ns' >"$tracing/events/synthetic/slow$i/trigger"
  done
  _is_kept
  echo '!hist:name=both:keys=ns' >"$tracing/events/synthetic/slow1/trigger"
  _replace_server
  assert_has 'hist:both:keys=ns' "$(cat "$tracing/events/synthetic/slow2/trigger")"
  assert_has_not ' left out' "$(cat "$STDERR")"
}

# What a file of --state has is newer than a memory that takes nothing any more.
a_file_of_state_counts_where_the_memory_is_full() {
  ulimit -S -f 1000
  start_daemon --state "$CASE/state" --state-period 1
  send 'web/a 1'
  assert_counts web 'a 1'
  wait_until 'grep -qas web "$CASE"/state/state.[0-9]*'
  _replace_server
  assert_counts web 'a 1'
  [ "$(own state_saved_s)" -gt 0 ]
}

after_three_crashes_the_file_of_state_counts() {
  start_daemon --state "$CASE/state" --state-period 1
  local i
  send 'web/a 1'
  assert_counts web 'a 1'
  wait_until 'grep -qas web "$CASE"/state/state.[0-9]*'
  for i in 1 2 3; do _replace_server ABRT; done
  assert_counts web 'a 1'
  assert_has 'loaded 1 object from' "$(cat "$STDERR")"
}

what_was_cleared_or_taken_stays_so() {
  start_daemon
  local trigger=$MNT/tracing/events/web/q/trigger hist=$MNT/tracing/events/web/q/hist i
  send 'event define web/q u64 us'
  wait_until '[ -e "$MNT/tracing/events/web/q/trigger" ]'
  echo 'hist:keys=us' >"$trigger"
  for i in 1 2 3 4 5; do echo "event web/q us=$i"; done >"$CASE/events"
  for i in 1 2 3 4 5 6 7 8 9; do echo "latency sec ns=${i}000 cpu=0"; done >"$CASE/latencies"
  send_file "$CASE/events"
  send_file "$CASE/latencies"
  _await_intake
  assert_has 'Hits: 5' "$(cat "$hist")"
  _is_kept
  send_file "$CASE/events"
  _await_intake
  assert_has 'Hits: 10' "$(cat "$hist")"
  echo 'hist:keys=us:clear' >>"$trigger"
  _replace_server
  assert_has 'Hits: 0' "$(cat "$hist")"
  assert_has '#samples 9' "$(cat "$MNT/tracing/latency_hist/sec/snapshot_reset")"
  _replace_server
  assert_has 'samples 0' "$(cat "$MNT/tracing/latency_hist/sec/summary")"
}
