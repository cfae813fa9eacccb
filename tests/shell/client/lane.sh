# Samples that a program on libtally counts in cells, in memory that it shares with the daemon.
. ./client/_probe.sh
. ./client/_lane.sh

each_type_is_counted_in_cells_as_it_would_be_by_the_daemon() {
  start_probe
  ok 'interface web' 'statistic web a' 'start a' 'statistic web b' 'define b products' 'start b' \
    'statistic web c' 'define c range' 'start c' 'statistic web d' 'define d array' 'start d' \
    'sync 5000'
  _into_cells a b c d
  local before
  before=$(own samples)
  for each in a b c d; do
    ok "add $each 5 3 4" "add $each 700 1 1" "add $each 70000 1 2"
  done
  assert_eq "$before" "$(own samples)" 'samples that the daemon took in'
  assert_eq 1 "$(own lanes)" lanes
  local cells
  cells=$(data web; definition web | sed 's/ data=.*//')
  assert_has 'a 15' "$cells"
  # The same once more over the socket or by rings: a view needs each sample.
  before=$(($(own samples) + $(own ring_samples)))
  for each in a b c d; do define web "name=$each data=reset"; done
  for each in a b c d; do define web "name=v$each of=$each"; done
  for each in a b c d; do
    ok "add $each 5 3 4" "add $each 700 1 1" "add $each 70000 1 2"
  done
  ok 'sync 5000'
  assert_eq $((before + 28)) $(($(own samples) + $(own ring_samples))) 'samples, each by itself'
  assert_eq "$cells" "$(data web | grep -v '^v'; definition web | grep -v '^name=v' |
    sed 's/ data=.*//')"
  assert_balanced
  assert_eq 0 "$(own lane_bad)"
}

samples_of_many_statistics_are_added_in_one_call() {
  start_probe
  local i names=()
  for i in {10..29}; do names+=("c$i"); done
  ok 'interface web'
  for i in "${names[@]}"; do ok "statistic web $i" "start $i"; done
  ok 'statistic web off' 'statistic web range' 'define range range' 'start range' \
    'statistic web last' 'define last last' 'start last' 'sync 5000'
  _into_cells "${names[@]}" range
  ok 'each 300' 'sync 5000'
  assert_eq "20 300" "$(data web | awk '/^c/ { ++n[$2] } END { for (i in n) print n[i], i }')"
  assert_has 'range 300 7 7.000 7' "$(data web)"
  assert_has 'off 0' "$(data web)"
  [[ $(data web | grep ^last) == *' 7' ]] || fail "the newest is none: $(data web | grep ^last)"
  assert_balanced
}

what_cells_hold_changes_serial_samples_and_mtime() {
  web_hits
  ok 'sync 5000'
  _into_cells hits
  local samples serial
  _number() { grep -oE "\"$1\":[0-9]+" "$2" | head -n 1 | cut -d: -f2; }
  samples=$(_number samples "$STAT/web/data.json")
  serial=$(_number serial "$STAT/web/data.json")
  ok 'inc hits 100'
  assert_data web 'hits 100'
  assert_eq $((samples + 100)) "$(_number samples "$STAT/web/data.json")" samples
  [ "$(_number serial "$STAT/web/data.json")" -gt "$serial" ] || fail "serial is still $serial"
  assert_has "\"interface\":\"web\",\"statistics\":1,\"on\":1,\"samples\":$((samples + 100))," \
    "$(cat "$MNT/statistics.json")"
  assert_eq "$(_number serial "$STAT/web/data.json")" "$(_number serial "$STAT/web/data.json")" \
    'serial without samples'
}

what_a_killed_feeder_counted_is_kept() {
  local round total=0
  for round in 1 2 3 4 5; do
    start_probe
    ok 'interface web' 'statistic web hits' 'start hits' 'sync 5000'
    wait_until '_in_cells hits'
    ok 'inc hits 12345'
    total=$(data web | sed 's/hits //')
    ok 'inc hits 54321'
    kill -KILL "$PROBE"
    wait "$PROBE" 2>/dev/null || true
    assert_data web "hits $((total + 54321))"
    wait_until '[ "$(own lanes)" = 0 ]'
    assert_data web "hits $((total + 54321))"
  done
}

numbers_of_lanes_are_up_to_date_without_a_datagram() {
  web_hits
  ok 'sync 5000'
  _into_cells hits
  ok 'inc hits 1000'
  # Not even a ping comes from now on.
  freeze "$PROBE"
  local datagrams merged
  datagrams=$(own datagrams) merged=$(own cells_merged)
  assert_data web 'hits 1000'
  [ "$(own cells_merged)" -gt "$merged" ] || fail "cells_merged is still $merged"
  assert_eq 1 "$(own lanes)" lanes
  kill -KILL "$PROBE"
  wait "$PROBE" 2>/dev/null || true
  wait_until '[ "$(own lanes)" = 0 ]'
  assert_data web 'hits 1000'
  assert_eq "$datagrams" "$(own datagrams)" datagrams
}

a_definition_begins_anew_while_threads_count() {
  web_hits
  ok 'sync 5000'
  _into_cells hits
  local i
  echo "threads 8 hits $(fewer 3000000)" >&7
  for i in 1 2 3 4 5 6 7 8 9 10; do
    define web 'name=hits type=range'
    data web >/dev/null
    define web 'name=hits type=value mode=increments'
  done
  IFS= read -r -t 120 SAID <&8
  assert_eq ok "$SAID"
  define web 'name=hits data=reset'
  ok 'inc hits 7' 'sync 5000'
  assert_data web 'hits 7'
  assert_balanced
  assert_eq 0 "$(own lane_bad)"
}

each_definition_has_what_was_added_behind_it_and_nothing_of_before() {
  local program=${TALLY_BIN:+$TALLY_BIN/}tally-lane-eras
  command -v "$program" >/dev/null || skip 'tally-lane-eras is not built'
  # Eight threads fill rings faster than the daemon of a sanitizer empties them.
  [ "${TALLY_PATIENCE:-1}" = 1 ] || skip 'needs a daemon as fast as the feeder'
  assert_eq ok "$(TALLY_SOCKET=$SOCK "$program" 1000 "$STAT")"
  [ "$(own ring_samples)" -gt 1000 ] || fail "only $(own ring_samples) samples went by ring"
  assert_eq '0 0' "$(own lane_bad) $(own lane_dropped)"
}

what_is_out_of_range_is_counted_by_cells_after_a_change_that_keeps_the_data() {
  web_hits
  ok 'sync 5000'
  _into_cells hits
  ok 'add hits 5 1 10'
  define web 'name=hits range_min=0 range_max=9'
  assert_data web 'hits 10'
  wait_until '_in_cells hits'
  define web 'name=hits range_max=8'
  local before
  before=$(data web | sed 's/hits //')
  ok 'add hits 9 1 4' 'add hits 8 1 2' 'sync 5000'
  assert_data web "hits $((before + 2))"
  assert_attribute web hits hits_out_of_range 4
}

a_daemon_that_ends_saves_what_cells_hold() {
  stop_daemon
  mkdir -m 700 "$CASE/kept"
  start_daemon --state "$CASE/kept"
  web_hits
  ok 'sync 5000'
  _into_cells hits
  ok 'inc hits 1000'
  stop_daemon
  start_daemon --state "$CASE/kept"
  ok 'inc hits 10' 'sync 5000'
  assert_data web 'hits 1010'
}

ten_million_calls_make_no_system_call() {
  need strace
  web_hits
  ok 'sync 5000'
  _into_cells hits
  local samples calls
  samples=$(own samples)
  calls=$(fewer 10000000)
  _traced "inc hits $calls"
  assert_has 'write(1, "ok' "$(cat "$CASE/calls")"
  assert_eq '' "$(grep -vE '^(read\(0|write\(1|restart_syscall|---)' "$CASE/calls" || true)" 'system calls'
  assert_data web "hits $calls"
  assert_eq "$samples" "$(own samples)" 'samples over the socket'
}

samples_of_handlers_are_counted_in_cells() {
  web_hits
  ok 'sync 5000'
  _into_cells hits
  local added
  tell "signals hits $(fewer 2000000)"
  added=$SAID
  ok 'sync 5000'
  assert_data web "hits $added"
  assert_balanced
  assert_eq 0 "$(count_of dropped)" dropped
}

a_forked_child_counts_in_a_lane_of_its_own() {
  start_probe
  tell may-fork
  [ "$SAID" = yes ] || skip "ThreadSanitizer cannot follow a thread that a forked child starts"
  ok 'interface web' 'statistic web hits' 'start hits' 'sync 5000'
  _into_cells hits
  ok 'inc hits 100' become-child
  wait_until '_in_cells hits'
  assert_eq 2 "$(own lanes)" lanes
  local before
  before=$(data web | sed 's/hits //')
  [ "$before" -gt 100 ] || fail "what the parent counted is gone: $before"
  ok 'inc hits 1000'
  assert_data web "hits $((before + 1000))"
  end_probe
  wait_until '[ "$(own lanes)" = 0 ]'
  assert_data web "hits $((before + 1000))"
  assert_eq 0 "$(own lane_bad)"
}

a_range_of_one_x_has_that_average_at_any_moment() {
  start_probe
  ok 'interface web' 'statistic web hits' 'define hits range' 'start hits' 'sync 5000'
  _into_cells hits
  local i read calls
  calls=$(fewer 2000000)
  ok 'add hits 7 3 1'
  echo "add hits 7 3 $calls" >&7
  for ((i = 0; i < 60; ++i)); do
    read=$(data web)
    [[ $read =~ ^hits\ [0-9]+\ 7\ 7\.000\ 7$ ]] || fail "torn: $read"
  done
  IFS= read -r -t $((60 * ${TALLY_PATIENCE:-1})) SAID <&8
  assert_eq ok "$SAID"
  assert_data web "hits $((3 * calls + 3)) 7 7.000 7"
}

a_batch_is_counted_in_cells() {
  start_probe
  ok 'interface web' 'statistic web hits' 'statistic web sizes' 'define sizes range'
  ok 'start hits' 'start sizes' 'sync 5000'
  _into_cells hits
  _into_cells sizes
  local samples
  samples=$(own samples)
  ok 'batch hits 1 2 100000' 'batch sizes 7 3 100000' 'batch sizes 9 1 1'
  assert_data web 'hits 200000' 'sizes 300001 7 7.000 9'
  assert_eq "$samples" "$(own samples)" 'samples over the socket'
}

what_cells_hold_survives_a_reload() {
  web_hits
  ok 'sync 5000'
  _into_cells hits
  ok 'inc hits 1000'
  "$TALLYFS" --reload "$MNT"
  ok 'inc hits 10'
  assert_data web 'hits 1010'
  local samples
  samples=$(own samples)
  ok 'inc hits 100' 'sync 5000'
  assert_data web 'hits 1110'
  assert_eq "$samples" "$(own samples)" 'samples over the socket'
}

# _doctor_names_the_probe LEVEL REASON; its exit status says that it has found a fault.
_doctor_names_the_probe() {
  local said
  said=$("$TALLYCTL" doctor --mount "$MNT" 2>&1) || true
  [[ $said =~ $1\ +lanes\ [^$'\n']*pid\ $PROBE\ [^$'\n']*\ samples,\ $2 ]]
}
# What it sends meanwhile is seen by doctor.
_doctor_names_the_probe_that_feeds() { # LEVEL REASON
  local feeding
  while echo 'inc hits 1' >&7; do sleep 0.02; done 2>/dev/null &
  feeding=$!
  echo $feeding >>"$CASE/pids"
  wait_until "_doctor_names_the_probe $1 '$2'" 30
  kill $feeding
}
a_feeder_without_a_lane_is_named_by_doctor() {
  local TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl
  command -v "$TALLYCTL" >/dev/null || skip 'tallyctl is not built'
  stop_daemon
  start_daemon --uid-memory 1048576
  web_hits
  ok 'sync 5000'
  _doctor_names_the_probe_that_feeds WARN 'the limit of'
}

a_program_that_wants_no_lane_sends_and_is_named_by_doctor() {
  local samples TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl
  start_probe
  ok 'settings 1000 0 65536 1' 'interface web' 'statistic web hits' 'start hits' 'sync 5000'
  samples=$(own samples)
  ok 'inc hits 100' 'sync 5000'
  assert_data web 'hits 100'
  assert_eq $((samples + 100)) "$(own samples)" 'samples over the socket'
  assert_eq '' "$(own lanes)" lanes
  command -v "$TALLYCTL" >/dev/null || skip 'tallyctl is not built'
  _doctor_names_the_probe_that_feeds ok 'no refusal in error_log'
}
