# Feeders whose server is killed again and again: the next one goes on with their lanes, pages and
# numbers. They register nothing, and what they count in cells is counted once.
_set_up() { need pgrep; }
. ./daemon/_keeper.sh
. ./client/_probe.sh
. ./client/_lane.sh

_epoch() { grep -oE '"epoch":"?[0-9a-fx]+' "$MNT/statistics.json" | head -n 1; }

cells_numbers_and_epoch_outlive_a_kill() {
  local epoch i
  start_daemon
  start_probe
  ok 'interface web' 'statistic web a' 'start a' 'sync 5000'
  _into_cells a
  ok 'inc a 100' 'sync 5000'
  epoch=$(_epoch)
  _is_kept
  for i in 1 2 3 4 5; do
    _replace_server
    assert_eq "$epoch" "$(_epoch)" epoch
    assert_data web "a $((100 * i))"
    ok 'inc a 100'
  done
  assert_data web 'a 600'
  assert_eq 1 "$(own lanes)" lanes
  assert_eq 0 "$(own lane_bad)"
  ok 'sync 5000'
  assert_eq '0 0' "$(count_of lost) $(count_of dropped)"
  end_probe
  wait_until '[ "$(own lanes)" = 0 ]'
  assert_data web 'a 600'
}

# Each kill comes right behind the read that took them, and before a save.
what_came_out_of_rings_is_counted_once() {
  local i
  start_daemon
  start_probe
  ok 'interface web' 'statistic web l' 'define l list' 'start l' 'sync 5000'
  _into_ring l
  for i in 1 2 3 4 5 6 7 8; do
    ok 'add l 7 1 100' 'add l 8 1 50'
    [ $((i % 2)) = 0 ] || assert_data web "l 0x7 $((i * 100))" "l 0x8 $((i * 50))"
    _replace_server
  done
  assert_data web 'l 0x7 800' 'l 0x8 400'
  assert_eq 0 "$(own lane_bad)"
  ok 'sync 5000'
  assert_eq '0 0' "$(count_of lost) $(count_of dropped)"
}

# The save of all that would have it is long, as a large interface has changed: most kills come
# before.
what_was_registered_just_before_a_kill_goes_on() {
  local i
  start_daemon
  seq -f 'create big/s%.0f on=1' 10000 | "$TALLY_SEND" --socket "$SOCK" --timeout-ms 60000
  start_probe
  ok 'interface web' 'statistic web a' 'start a' 'sync 5000'
  for i in 1 2 3; do
    _is_kept
    send 'big/s1 1'
    ok "interface new$i" "statistic new$i s$i" "start s$i" 'sync 5000'
    _replace_server
    assert_eq 1 "$(attribute "new$i" "s$i" on)" "new$i"
    wait_until "_counts new$i s$i"
    ok 'inc a 1' 'sync 5000'
  done
  assert_eq 0 "$(own lane_bad)"
}
# _counts INTERFACE STATISTIC: what the probe adds is there.
_counts() {
  local before after
  before=$(data "$1" 2>/dev/null | awk '{ print $2 }')
  ok "inc $2 1" 'sync 5000'
  after=$(data "$1" 2>/dev/null | awk '{ print $2 }')
  [ "${after:-0}" -gt "${before:-0}" ]
}

an_interface_with_the_lifetime_of_a_feeder_stays_as_long() {
  start_daemon
  start_probe
  ok 'interface web feeder' 'statistic web a' 'start a' 'sync 5000'
  _into_cells a
  _replace_server
  ok 'inc a 10'
  assert_data web 'a 10'
  _replace_server
  end_probe
  wait_until '! [ -e "$STAT/web" ]'
  wait_until '[ "$(own lanes)" = 0 ]'
}

# Before the server, beside it, and behind it.
a_feeder_that_ends_while_there_is_no_server_has_ended() {
  local i before
  start_daemon
  for i in 1 2 3; do
    start_probe
    ok 'interface gone feeder' 'statistic gone g' 'start g' "interface stays$i" \
      "statistic stays$i a" 'start a' 'sync 5000'
    _into_cells_of "stays$i" a
    ok 'inc a 10'
    before=$SERVER
    [ "$i" != 1 ] || kill -KILL "$PROBE"
    kill -KILL "$SERVER"
    [ "$i" = 1 ] || kill -KILL "$PROBE"
    wait_until 'SERVER=$(server_of "$DAEMON"); [ "${SERVER:-'"$before"'}" != '"$before"' ]'
    # A server that never had a lane does not say so.
    wait_until '! [ -e "$STAT/gone" ] && [[ $(own lanes) =~ ^0?$ ]]'
    assert_data "stays$i" 'a 10'
    _replace_server
    assert_data "stays$i" 'a 10'
    rm "$CASE/tell" "$CASE/hear"
  done
}
_into_cells_of() {
  wait_until "_in_cells $2"
  define "$1" "name=$2 data=reset"
}

# The samples that a server had not taken out of the ring are there for the next one, and only those
# that it took since its last save are lost.
a_ring_goes_on_where_the_last_server_was() {
  local i
  start_daemon
  start_probe
  ok 'interface web' 'statistic web l' 'define l list' 'start l' 'sync 5000'
  wait_until '_goes_by_ring l'
  for i in 1 2 3; do
    define web 'name=l data=reset'
    freeze "$SERVER"
    ok 'inc l 5' 'inc l 5' 'inc l 7'
    _replace_server
    wait_until _has_17
  done
  assert_eq '0 0 0' "$(own lane_bad) $(own lane_dropped) $(count_of dropped)"
}
_has_17() { [ "$(data web | awk '{ all += $3 } END { print all }')" = 17 ]; }
_goes_by_ring() {
  local before
  before=$(own ring_samples)
  ok "inc $1 1" 'sync 5000'
  [ "$(own ring_samples)" -gt "$before" ]
}

# In between, feeders end, and statistics are reset and defined anew. As root, one is another user.
cells_are_counted_once_under_many_kills() {
  need_python
  command -v "$TALLY_PROBE" >/dev/null || skip 'tally-probe is not built'
  start_daemon
  local probes=("$(command -v "$TALLY_PROBE")")
  [ "$(id -u)" != 0 ] || probes+=("$(_nobodys_probe)")
  "$PYTHON" "$here/kills_fed.py" "$MNT" "$SOCK" "$DAEMON" "${TALLY_KILLS:-$(fewer 100 20)}" \
    "${probes[@]}"
}
# Where that user may not go, a copy of the library is used.
_nobodys_probe() {
  chmod 711 "$CASE"
  chmod 666 "$SOCK"
  mkdir "$CASE/lib"
  cp "$TALLY_PROBE" "$CASE/tally-probe"
  cp "$TALLY_BIN/../lib/libtally.so.0" "$CASE/lib"
  {
    echo '#!/bin/sh'
    echo "export LD_LIBRARY_PATH=$CASE/lib"
    echo "exec setpriv --reuid=nobody --regid=nogroup --clear-groups '$CASE/tally-probe'"
  } >"$CASE/nobodys-probe"
  chmod 755 "$CASE/nobodys-probe"
  echo "$CASE/nobodys-probe"
}

# The file of --state is written again and again meanwhile, by another thread.
cells_are_counted_once_beside_the_saves_of_state() {
  need_python
  command -v "$TALLY_PROBE" >/dev/null || skip 'tally-probe is not built'
  local before
  start_daemon --state "$CASE/state" --state-period 1
  "$PYTHON" "$here/kills_fed.py" "$MNT" "$SOCK" "$DAEMON" 60 "$(command -v "$TALLY_PROBE")"
  before=$(data f0)
  stop_daemon
  start_daemon --state "$CASE/state"
  assert_eq "$before" "$(data f0)"
}

# Some feeders get no lane, and send. Those in cells lose nothing.
a_low_limit_of_files_leaves_no_feeder_uncounted() {
  need_python
  command -v "$TALLY_PROBE" >/dev/null || skip 'tally-probe is not built'
  printf '#!/bin/sh\nulimit -n 96\nexec "%s" "$@"\n' "$(command -v "$TALLYFS")" >"$CASE/limited"
  chmod 755 "$CASE/limited"
  TALLYFS=$CASE/limited start_daemon
  "$PYTHON" "$here/kills_of_many.py" "$MNT" "$SOCK" "$DAEMON" "$(command -v "$TALLY_PROBE")"
}
