# Samples that a program on libtally puts into rings, in memory that it shares with the daemon.
. ./client/_probe.sh
. ./client/_lane.sh

# How many samples its statistics have had.
_samples_of() {
  grep -oE "\"interface\":\"$1\",[^}]*" "$MNT/statistics.json" | grep -oE '"samples":[0-9]+' |
    cut -d: -f2
}
# A list and a raw of the interface web, that take rings.
_lists() {
  start_probe
  ok 'interface web' 'statistic web l' 'define l list' 'start l' 'statistic web r' 'define r raw' \
    'start r' 'sync 5000'
  _into_ring l r
}

each_type_counts_by_ring_as_it_would_over_the_socket() {
  start_probe
  ok 'interface web'
  local each
  for each in list raw history last; do
    ok "statistic web $each" "define $each $each" "start $each"
  done
  ok 'sync 5000'
  _into_ring list raw history last
  local before sent
  before=$(own samples) sent=$(own ring_samples)
  for each in list raw history last; do
    ok "add $each 5 3 4" "add $each 700 1 1" "at $each 9 1" "add $each 5 2 2"
  done
  assert_eq 'list 0x5 16
list 0x9 1
list 0x2bc 1' "$(data web | grep ^list)"
  assert_eq '5 3
5 3
5 3
5 3
700 1
9 1
5 2
5 2' "$(data web | awk '/^raw/ { print $(NF - 1), $NF }')"
  assert_eq 5 "$(data web | awk '/^last/ { print $NF }')"
  assert_eq "$before" "$(own samples)" 'samples over the socket'
  assert_eq $((sent + 32)) "$(own ring_samples)" 'samples from rings'
  assert_eq 1 "$(own rings)" rings
  assert_balanced
  assert_eq 0 "$(own lane_bad)"
}

_monotonic_us() { "$PYTHON" -c 'import time; print(time.monotonic_ns() // 1000)'; }

# The server takes it out of the ring much later.
a_record_has_the_time_of_its_call() {
  need_python
  start_probe
  ok 'interface web' 'statistic web r' 'define r raw' 'start r' 'statistic web h' \
    'define h history' 'start h' 'sync 5000'
  define web 'name=h entries_max=1000 period=100000'
  _into_ring r h
  local server before after at
  server=$(server_of "$DAEMON")
  PYTHONPATH=$here "$PYTHON" -c "from peer import *; freeze($server)"
  before=$(_monotonic_us)
  ok 'add r 7 1 1' 'add h 7 1 1'
  after=$(_monotonic_us)
  wait_until "[ \$(_monotonic_us) -gt $((after + 300000)) ]"
  kill -CONT "$server"
  at=$(data web | awk '/^r/ { gsub(/[^0-9]/, "", $2); print $2 }')
  [ "$at" -ge $((before - 1000)) ] && [ "$at" -le $((after + 1000)) ] ||
    fail "raw: $at is not from $before to $after"
  # The end of its period, of which all have room that a busy machine may need.
  at=$(data web | awk '/^h/ && $3 != 0 { gsub(/[^0-9]/, "", $2); print $2 }')
  [ "$at" -ge $((before - 1000)) ] && [ "$at" -le $((after + 101000)) ] ||
    fail "history: $at is not from $before to $after, and a period"
}

a_view_takes_its_source_to_a_ring() {
  web_hits
  ok 'sync 5000'
  _into_cells hits
  ok 'inc hits 100'
  define web 'name=v of=hits type=raw entries_max=1000'
  _into_ring hits
  local shown
  shown=$(data web | grep -c '^v')
  ok 'inc hits 50'
  assert_eq $((shown + 50)) "$(data web | grep -c '^v')"
  define web 'name=v of='
  wait_until '_in_cells hits'
}

what_a_killed_feeder_left_in_its_ring_is_kept() {
  local round before
  for round in 1 2 3; do
    _lists
    before=$(data web | grep -c '^r') || true
    ok 'add r 7 3 500'
    kill -KILL "$PROBE"
    wait "$PROBE" 2>/dev/null || true
    assert_eq $((before + 500)) "$(uncut data web | grep -c '^r')"
    wait_until '[ "$(own lanes)" = 0 ]'
    assert_eq $((before + 500)) "$(data web | grep -c '^r')"
    define web 'name=r data=reset'
  done
}

samples_of_handlers_go_into_rings() {
  start_probe
  ok 'settings 10000 60000 65536' 'interface web' 'statistic web l' 'define l last' 'start l' \
    'sync 5000'
  wait_until '_goes_by_ring l'
  local added before dropped of_handlers=0
  before=$(_samples_of web)
  tell "signals l $(fewer 200000)"
  added=$SAID
  ok 'sync 5000'
  # While a call waits for room, handlers that interrupt it have few places, and drop the rest.
  dropped=$(count_of dropped)
  assert_eq "$added" $(($(_samples_of web) - before + dropped)) 'counted and dropped'
  # No call waits of those that have room.
  _adds_in_handlers() {
    tell 'signals l 2000'
    of_handlers=$((of_handlers + SAID - 2000))
    ok 'sync 5000'
    [ $of_handlers -ge 20 ]
  }
  wait_until _adds_in_handlers
  assert_eq "$dropped" "$(count_of dropped)" "dropped of $of_handlers that have room"
  assert_balanced
}

a_forked_child_has_a_ring_of_its_own() {
  start_probe
  tell may-fork
  [ "$SAID" = yes ] || skip "ThreadSanitizer cannot follow a thread that a forked child starts"
  ok 'interface web' 'statistic web r' 'define r raw' 'start r' 'sync 5000'
  _into_ring r
  ok 'add r 1 1 100' become-child
  wait_until '_goes_by_ring r'
  assert_eq 2 "$(own lanes)" lanes
  define web 'name=r data=reset'
  ok 'add r 2 1 300'
  assert_eq 300 "$(uncut data web | grep -c '^r')"
  end_probe
  wait_until '[ "$(own lanes)" = 0 ]'
  assert_eq 300 "$(data web | grep -c '^r')"
  assert_eq 0 "$(own lane_bad)"
}

another_daemon_gets_what_the_last_one_had_not_taken() {
  _lists
  ok 'add r 7 3 10' 'sync 5000'
  stop_daemon
  ok 'add r 8 1 100'
  start_daemon
  wait_until 'ok "sync 5000"; [ "$(data web 2>/dev/null | grep -c "^r.* 8 1$")" -ge 100 ]'
  assert_eq 100 "$(data web | grep -c '^r.* 8 1$')"
  assert_balanced
}

samples_in_rings_make_no_system_call() {
  need strace
  start_probe
  ok 'settings 10000 60000 65536' 'interface web' 'statistic web l' 'define l list' 'start l' \
    'sync 5000'
  _into_ring l
  local calls
  calls=$(fewer 1000000)
  _traced "add l 7 1 $calls"
  # Doorbells, which may wake libtally's own thread, and waiting for room.
  local known='read\(0|write\(1|restart_syscall|---|send(msg|to)\(|getsockopt\(|clock_nanosleep\('
  known+='|futex\(.*FUTEX_WAKE'
  assert_eq '' "$(grep -vE "^($known)" "$CASE/calls" || true)" 'system calls'
  local bells
  bells=$(grep -cE '^(send|futex)' "$CASE/calls") || true
  [ "$bells" -le $((calls / 100)) ] || fail "$bells datagrams for $calls samples"
  assert_eq "l 0x7 $calls" "$(uncut data web)" 'data of web'
  assert_eq 0 "$(count_of dropped)" dropped
}

what_a_killed_server_had_not_taken_goes_to_the_next() {
  _lists
  local server i
  for i in 1 2 3; do
    server=$(server_of "$DAEMON")
    # So that it takes nothing more.
    freeze "$server"
    ok "add r $((10 + i)) 1 100"
    kill -KILL "$server"
    wait_until 'ok "sync 5000"; [ "$(data web 2>/dev/null | grep -c "^r.* 1$((i)) 1$")" -ge 100 ]'
    assert_eq 100 "$(data web | grep -c "^r.* 1$i 1$")"
    assert_balanced
    wait_until '_goes_by_ring r'
  done
  assert_eq 0 "$(count_of dropped)" dropped
}

definitions_change_while_threads_put_samples_into_rings() {
  start_probe
  ok 'settings 10000 60000 65536' 'interface web' 'statistic web l' 'define l list' 'start l' \
    'sync 5000'
  wait_until '_goes_by_ring l'
  local before calls
  before=$(_samples_of web) calls=$(fewer 200000)
  echo "threads 4 l $calls" >&7
  for _ in 1 2 3 4 5 6 7 8; do
    define web 'name=l type=raw entries_max=10'
    define web 'name=l type=last'
    define web 'name=l type=history entries_max=4 period=1000 mode=increments'
    define web 'name=l type=list entries_max=100'
  done
  IFS= read -r -t 120 SAID <&8
  assert_eq ok "$SAID"
  ok 'sync 5000'
  assert_eq $((4 * calls)) $(($(_samples_of web) - before)) 'samples under all definitions'
  assert_eq '0 0 0' "$(count_of dropped) $(own lane_dropped) $(own lane_bad)"
  assert_balanced
}
