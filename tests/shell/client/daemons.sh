# Daemons that are absent, come later, hang, are killed or replaced, under a program on libtally.
. ./client/_probe.sh

_child() {
  tell may-fork
  [ "$SAID" = yes ] || skip "ThreadSanitizer cannot follow a thread that a forked child starts"
  ok become-child
}
_restart() { kill_daemon; umount -l "$MNT"; start_daemon "$@"; }

a_daemon_that_comes_later_gets_it_all() {
  stop_daemon
  web_hits
  ok 'inc hits 1000'
  said ENOTCONN flush
  said ENOTCONN 'sync 50'
  assert_eq 1000 "$(count_of held)"
  start_daemon
  wait_until '[ "$(data web 2>/dev/null)" = "hits 1000" ]'
  assert_balanced
}

without_a_daemon_what_has_no_room_is_dropped_and_counted() {
  stop_daemon
  start_probe
  ok 'settings 10000 0 4096' 'interface web' 'statistic web hits' 'start hits' 'inc hits 10000'
  assert_eq '4096 5904' "$(count_of held) $(count_of dropped)"
  said 5904 'dropped hits'
  start_daemon
  ok 'sync 10000'
  assert_data web 'hits 4096'
  wait_until '[ "$(data tallyfs | sed -n "s/^dropped //p")" = 5904 ]'
  assert_has "dropped_by $(printf %#x "$PROBE") 5904" "$(data tallyfs)"
  assert_balanced
}

a_killed_and_restarted_daemon_gets_the_definitions_as_first_given() {
  start_probe
  ok 'interface web' 'statistic web hits us/hits' 'define hits list' 'start hits' \
    'statistic web off' 'sync 5000' 'inc hits 3' 'sync 5000'
  echo name=hits type=range >"$STAT/web/definition"
  _restart
  wait_until '[ "$(line web hits 2>/dev/null | grep -c "on=1 type=list .*entries_max=100 .*units=us/hits")" = 1 ]'
  assert_attribute web off on 0
  ok 'inc hits 2' 'sync 5000'
  assert_data web 'hits 0x0 1' 'hits 0x1 1' 'off 0'
  assert_balanced
}

what_users_have_redefined_in_a_daemon_that_lived_on_stays() {
  web_hits
  ok 'define hits list' 'sync 5000'
  define web 'name=hits on=0 type=range'
  end_probe
  rm "$CASE/tell" "$CASE/hear"
  # Another run of the same program.
  web_hits
  ok 'define hits list' 'sync 5000' 'inc hits 5' 'sync 5000'
  assert_attribute web hits type range
  assert_attribute web hits on 0
  # And a connection that was lost, with a daemon that was not.
  said ok close-fds
  wait_until 'tell "sync 1000"; [ "$SAID" = ok ]'
  assert_attribute web hits type range
  assert_attribute web hits on 0
  # What the program asks for later is done.
  ok 'stop hits' 'start hits' 'sync 5000'
  assert_attribute web hits on 1
}

every_sample_is_accounted_for_while_the_daemon_is_killed_and_restarted() {
  start_probe
  ok 'settings 1000 0 1048576' 'interface web' 'statistic web hits' 'start hits' 'sync 5000'
  local round calls
  calls=$(fewer 3000000 600000)
  for round in 1 2 3 4 5; do
    echo "inc hits $calls" >&7
    _restart
    IFS= read -r -t $((60 * ${TALLY_PATIENCE:-1})) SAID <&8
    ok 'sync 20000'
    local added held sent confirmed lost dropped here
    tell counts
    eval "${SAID// /;}"
    assert_eq $((round * (calls + 1000) - 1000)) "$added" "added in $SAID"
    assert_eq "$added" $((held + confirmed + lost + dropped)) \
      "held + confirmed + lost + dropped in $SAID"
    # What the new daemon has is of this round, and among what was confirmed. What cells held for
    # those that were killed counts as lost.
    here=$(data web | cut -d' ' -f2)
    [ "$here" -le "$calls" ] || fail "$here are in the tree, of $calls"
    [ "$here" -le "$confirmed" ] || fail "$here are in the tree, confirmed are $confirmed"
    ok 'inc hits 1000' 'sync 5000'
    assert_data web "hits $((here + 1000))"
  done
}

# By cells, and by rings. The feeder may count as lost what the daemon has taken and not confirmed.
# Into a cell that the daemon has just read for the last time, a call under way may add one sample.
what_is_added_while_a_daemon_ends_is_counted_by_it_or_by_the_next() {
  stop_daemon
  start_daemon --state "$CASE/state"
  start_probe
  ok 'settings 1000 1000 1048576' 'interface web' 'statistic web hits' 'start hits' \
    'statistic web kinds' 'define kinds list' 'start kinds' 'sync 5000'
  local round of calls
  calls=$(fewer 400000 40000)
  for round in 1 2 3 4 5 6; do
    of=$([ $((round % 2)) = 0 ] && echo hits || echo kinds)
    echo "inc $of $calls" >&7
    stop_daemon
    start_daemon --state "$CASE/state"
    IFS= read -r -t $((60 * ${TALLY_PATIENCE:-1})) SAID <&8
    ok 'sync 20000'
    assert_eq 0 "$(count_of dropped)"
    assert_eq $(((round + 1) / 2 * calls)) "$(_samples kinds)"
    local missing=$((round / 2 * calls - $(_samples hits)))
    [ $missing -ge 0 ] && [ $missing -le $((round / 2)) ] || fail "$missing hits are missing"
  done
}
_samples() {
  py "$STAT/web/data.json" "$@" <<'EOT'
import json, sys
samples = {each["name"]: each["samples"] for each in json.load(open(sys.argv[1]))["statistics"]}
print(*(samples[name] for name in sys.argv[2:]))
EOT
}

while_the_daemon_is_stopped_calls_stay_cheap_and_drops_are_counted() {
  web_hits
  ok 'sync 5000'
  freeze "$SERVER"
  tell 'slowest hits 3000000'
  local slowest=$SAID
  kill -CONT "$SERVER"
  # Nothing waits for the daemon; the rest is the scheduler's, beside other cases.
  [ "$slowest" -lt "$(time_limit_us 5000000)" ] || fail "a call took $slowest us"
  ok 'sync 20000'
  assert_balanced
  assert_eq 3000000 "$(count_of added)"
  [ "$(count_of dropped)" -gt 0 ] || fail 'nothing was dropped'
  assert_eq 0 "$(count_of lost)"
  assert_data web "hits $(count_of confirmed)"
  wait_until '[ "$(data tallyfs | sed -n "s/^dropped //p")" = "$(count_of dropped)" ]'
}

a_feeder_may_wait_for_room_up_to_a_bound() {
  start_probe
  ok 'settings 10000 300 4096' 'interface web' 'statistic web hits' 'start hits' 'sync 5000'
  freeze "$SERVER"
  tell 'slowest hits 2000000'
  local slowest=$SAID
  [ "$slowest" -ge 290000 ] || fail "nothing waited: $slowest us"
  [ "$slowest" -lt "$(time_limit_us 5000000)" ] || fail "a call waited $slowest us"
  [ "$(count_of dropped)" -gt 0 ] || fail 'nothing was dropped'
  kill -CONT "$SERVER"
  ok 'sync 20000'
  assert_data web "hits $(count_of confirmed)"
  end_probe
  # With a daemon that takes things in, waiting means that nothing is lost: over the socket.
  local calls
  calls=$(fewer 5000000)
  start_probe
  ok 'settings 10000 60000 4096 1' 'interface db' 'statistic db hits' 'start hits' 'sync 5000' \
    "inc hits $calls" 'sync 20000'
  assert_data db "hits $calls"
  assert_eq 0 "$(count_of dropped)" dropped
  assert_balanced
}

a_process_can_end_while_the_daemon_is_stopped() {
  web_hits
  ok 'sync 5000'
  freeze "$SERVER"
  ok 'inc hits 2000000'
  local begun took
  begun=$(now_us)
  end_probe
  took=$(($(now_us) - begun))
  kill -CONT "$SERVER"
  [ $took -le "$(time_limit_us 5000000)" ] || fail "it took $took us to end"
}

a_daemon_that_takes_the_place_of_another_is_found() {
  web_hits
  ok 'inc hits 1' 'sync 5000'
  stop_daemon
  mkdir "$CASE/other"
  MNT=$CASE/other STAT=$CASE/other/statistics
  start_daemon
  ok 'inc hits 2' 'sync 10000'
  assert_data web 'hits 2'
}

what_is_removed_from_the_tree_comes_back_with_the_next_sample() {
  web_hits
  ok 'inc hits 1' 'sync 5000'
  rmdir "$STAT/web"
  # Not before: the library looks at least once a second.
  tell 'sync 5000'
  [ ! -e "$STAT/web" ] || fail 'it came back without a sample'
  ok 'inc hits 1'
  wait_until 'tell "inc hits 1"; [ -e "$STAT/web/data" ]'
  ok 'sync 5000'
  assert_attribute web hits on 1
  assert_balanced
}

a_feeder_without_the_right_is_told_and_its_samples_count_as_dropped() {
  need_root
  send 'create web/other'
  chmod 666 "$SOCK"
  chmod 711 "$CASE"
  local copy=$CASE/tally-probe
  command -v "$TALLY_PROBE" >/dev/null || skip 'tally-probe is not built'
  cp "$TALLY_PROBE" "$copy"
  # Where that user may not go, a copy of the library is used.
  mkdir "$CASE/lib" && cp "$TALLY_BIN/../lib/libtally.so.0" "$CASE/lib"
  TALLY_SOCKET=$SOCK LD_LIBRARY_PATH=$CASE/lib as_nobody "$copy" >"$CASE/said" <<'EOT'
interface web
statistic web hits
start hits
sync 5000
inc hits 10
flush
counts
EOT
  assert_eq 'ok
ok
ok
EPERM
ok
ok
added=10 held=0 sent=0 confirmed=0 lost=0 dropped=10' "$(cat "$CASE/said")"
}

descriptors_that_the_program_closes_are_never_written_to() {
  web_hits
  ok 'sync 5000' 'inc hits 1' close-fds 'inc hits 2000'
  ok 'sync 5000'
  [ ! -s "$CASE/victim" ] || fail 'something was written into a file of the program'
  # What was sent on the new connection; of the old one all was taken in.
  assert_data web 'hits 2001'
  assert_balanced
}

nothing_leaks_when_daemons_come_and_go() {
  web_hits
  ok 'sync 5000'
  tell fds
  local fds=$SAID threads round
  threads=$(ls "/proc/$PROBE/task" | wc -l)
  for round in 1 2 3 4 5 6; do
    stop_daemon
    ok 'inc hits 10'
    start_daemon
    ok 'sync 10000'
  done
  said "$fds" fds
  assert_eq "$threads" "$(ls "/proc/$PROBE/task" | wc -l)" threads
  assert_balanced
}

# A server that forks its workers before the statistic is switched on.
a_child_whose_statistics_are_off_hears_of_a_daemon_that_is_restarted() {
  start_probe
  ok 'interface web' 'statistic web hits' 'statistic web misses' 'sync 5000'
  _child
  _restart
  # Off: it does not count, but adding makes the child look for the daemon.
  ok 'inc hits 5'
  wait_until '[ -n "$(line web misses 2>/dev/null)" ]'
  assert_data web 'hits 0' 'misses 0'
  assert_eq 0 "$(count_of added)"
  define web 'name=hits on=1'
  wait_until 'ok "inc hits 1" "inc misses 1"; [ "$(data web | sed -n "s/^hits //p")" -ge 1 ]'
  assert_eq 'misses 0' "$(data web | grep misses)"
  assert_balanced
  end_probe
}

what_a_child_creates_is_there_before_it_is_fed() {
  start_probe
  ok 'interface web' 'statistic web hits' 'sync 5000'
  _child
  ok 'interface worker' 'statistic worker later' 'statistic web more'
  wait_until '[ -n "$(line worker later 2>/dev/null)" ] && [ -n "$(line web more)" ]'
  end_probe
}
