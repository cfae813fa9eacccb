# Feeders under reloads of the daemon: they notice nothing, register nothing, and lose nothing.
. ./client/_probe.sh

_reload() { "$TALLYFS" --reload "$MNT"; SERVER=$(server_of "$DAEMON"); }
_epoch() { grep -oE '"epoch":"?[0-9a-fx]+' "$MNT/statistics.json" | head -n 1; }
_in_cells() {
  local before
  before=$(own samples)
  ok "inc $1 1" 'sync 5000'
  [ "$(own samples)" = "$before" ]
}
# Until its samples go into cells.
_into_cells() { wait_until "_in_cells $1"; }

epoch_numbers_and_cells_stay_and_nothing_is_registered_anew() {
  local epoch commands i
  start_probe
  ok 'interface web' 'statistic web a' 'start a' 'statistic web l' 'define l list' 'start l' \
    'sync 5000'
  _into_cells a
  ok 'reset a' 'sync 5000'
  _into_cells a
  define web 'name=a data=reset'
  ok 'inc a 100' 'inc l 3' 'sync 5000'
  epoch=$(_epoch)
  commands=$(own commands)
  for i in 1 2 3; do
    _reload
    assert_eq "$epoch" "$(_epoch)" epoch
    assert_has "a $((100 * i))" "$(data web)"
    ok 'inc a 100' 'inc l 3' 'sync 5000'
  done
  assert_eq "$commands" "$(own commands)" 'commands that feeders sent'
  assert_eq 1 "$(own lanes)" lanes
  assert_data web 'a 400' 'l 0x0 4' 'l 0x1 4' 'l 0x2 4'
  assert_eq '0 0' "$(count_of lost) $(count_of dropped)"
  assert_balanced
  # What is switched is still seen at once.
  define web 'name=a on=0'
  said 0 'on a'
  ok 'inc a 5' 'sync 5000'
  define web 'name=a on=1'
  ok 'inc a 5' 'sync 5000'
  assert_has 'a 405' "$(data web)"
  # And the end of the feeder is heard of by the server that it never saw.
  end_probe
  assert_has 'a 405' "$(data web)"
  wait_until '[ "$(own lanes)" = 0 ]'
}

a_feeder_that_ends_during_a_reload_has_ended() {
  local i before
  for i in 1 2 3; do
    start_probe
    ok 'interface web feeder' 'statistic web a' 'start a' 'inc a 10' 'sync 5000'
    [ -e "$STAT/web" ] || fail 'there is no interface'
    _into_cells a
    before=$SERVER
    kill -USR2 "$DAEMON"
    kill -KILL "$PROBE"
    wait_until "serves_instead_of $before"
    wait_until '! [ -e "$STAT/web" ]'
    rm "$CASE/tell" "$CASE/hear"
  done
  wait_until '[ "$(own lanes)" = 0 ]'
}

an_interface_with_the_lifetime_of_a_feeder_stays_as_long() {
  start_probe
  ok 'interface web feeder' 'statistic web a' 'start a' 'inc a 10' 'sync 5000'
  _reload
  assert_data web 'a 10'
  ok 'inc a 10' 'sync 5000'
  assert_data web 'a 20'
  end_probe
  wait_until '! [ -e "$STAT/web" ]'
}

the_daemons_own_numbers_go_on() {
  send 'web/a 1' 'web/a 1' 'nonsense'
  assert_counts web 'a 2'
  local datagrams rejects
  datagrams=$(own datagrams)
  rejects=$(own rejects)
  [ "$rejects" -ge 1 ] || fail "$rejects rejects"
  _reload
  assert_eq "$datagrams $rejects" "$(own datagrams) $(own rejects)"
  send 'web/a 1'
  assert_counts web 'a 3'
  assert_eq $((datagrams + 1)) "$(own datagrams)"
  assert_eq 0 "$(own takeovers)"
}

a_program_that_refuses_leaves_all_as_it_was() {
  local epoch
  mkdir "$CASE/bin"
  cp "$(command -v "$TALLYFS")" "$CASE/bin/tallyfs"
  stop_daemon
  TALLYFS=$CASE/bin/tallyfs start_daemon
  web_hits
  ok 'inc hits 100' 'sync 5000'
  epoch=$(_epoch)
  printf '#!/bin/sh\nexit 3\n' >"$CASE/broken"
  chmod 755 "$CASE/broken"
  mv "$CASE/broken" "$CASE/bin/tallyfs"
  kill -USR2 "$DAEMON"
  wait_until 'grep -q "the program on disk refuses: it ended with status 3" "$STDERR"'
  assert_eq "$epoch" "$(_epoch)" epoch
  ok 'inc hits 100' 'sync 5000'
  assert_data web 'hits 200'
  assert_eq '0 0' "$(count_of lost) $(count_of dropped)"
}

# Under feeders in C and, where the package is built, in Python, tally-send, and a writer of rules.
# TALLY_RELOADS says how many;
# with it the open files, pollers and writers of reloads.py are there, too, with as many reloads.
every_sample_counts_once_under_load() {
  need_python
  command -v "$TALLY_PROBE" >/dev/null || skip "tally-probe is not built"
  local users='' status=0 package
  package=$(dirname "$(command -v "$TALLYFS")")/../python
  if ! PYTHONPATH=$package "$PYTHON" -c 'import tally' 2>/dev/null; then
    echo "# WITHOUT A FEEDER IN PYTHON: $PYTHON has no package tally"
    package=''
  fi
  if [ "${TALLY_RELOADS:-}" ]; then
    (
      wait_until '[ -d "$STAT/c" ] && [ -d "$STAT/lines" ]'
      exec "$PYTHON" "$here/reloads.py" "$MNT" "$SOCK" "$TALLYFS" "$TALLY_RELOADS"
    ) &
    users=$!
  fi
  "$PYTHON" "$here/reloads_fed.py" "$MNT" "$SOCK" "$(command -v "$TALLYFS")" \
    "$(command -v "$TALLY_PROBE")" "$(command -v "$TALLY_SEND")" \
    "$package" "${TALLY_RELOADS:-$(fewer 10 3)}" ${users:+no-rules} ||
    status=$?
  [ ! "$users" ] || wait "$users" || status=$?
  [ "$status" -eq 0 ]
}

_by_ring() {
  local before
  before=$(own ring_samples)
  ok "add $1 1 1 1" 'sync 5000'
  [ "$(own ring_samples)" -gt "$before" ]
}
samples_in_rings_are_taken_once_by_one_of_the_servers() {
  local i total
  start_probe
  ok 'settings 10000 60000 65536' 'interface web' 'statistic web l' 'define l list' 'start l' \
    'sync 5000'
  wait_until '_by_ring l'
  define web 'name=l data=reset'
  total=0
  for i in 1 2 3; do
    # The probe adds while the servers change.
    echo "add l 7 1 $(fewer 300000)" >&7
    _reload
    IFS= read -r -t $((60 * ${TALLY_PATIENCE:-1})) SAID <&8
    assert_eq ok "$SAID"
    total=$((total + $(fewer 300000)))
    # An open has its share of time for rings, and may show less when the CPUs are busy.
    wait_until '[ "$(data web)" = "l 0x7 $total" ]'
  done
  assert_eq '0 0' "$(count_of lost) $(count_of dropped)"
  assert_eq "0 0 1" "$(own lane_bad) $(own lane_dropped) $(own rings)"
  assert_balanced
  # What is left is taken by a server that the feeder never saw.
  ok 'add l 7 1 1000'
  kill -KILL "$PROBE"
  wait "$PROBE" 2>/dev/null || true
  wait_until '[ "$(data web)" = "l 0x7 $((total + 1000))" ]'
}
