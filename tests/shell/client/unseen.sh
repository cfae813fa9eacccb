# Feeders outside of the daemon's PID namespace, as of a daemon in a container: the kernel shows
# their process id as 0, and the daemon knows them by their channels (core/wire/FORMAT.md).
. ./client/_probe.sh

_set_up() {
  need_root
  need unshare nsenter
  unshare --pid --fork true 2>/dev/null || skip 'there are no namespaces here'
  PROGRAM=$(command -v "$TALLYFS")
  # A shell is the first process there, which takes in those that are orphaned. A signal is for the
  # keeper below it.
  cat >"$CASE/apart" <<APART
#!/bin/bash
_child_of() { local child; read -r child _ <"/proc/\$1/task/\$1/children" || true; echo "\$child"; }
unshare --pid --fork -- sh -c '"\$@"; exit \$?' sh "$PROGRAM" "\$@" &
trap 'kill -TERM "\$(_child_of "\$(_child_of \$!)")"' TERM
while kill -0 \$! 2>/dev/null; do wait \$!; ended=\$?; done
exit \$ended
APART
  chmod 755 "$CASE/apart"
  TALLYFS=$CASE/apart start_daemon
  KEEPER=$(_child_of "$(_child_of "$(_child_of "$DAEMON")")") SERVER=$(server_of "$KEEPER")
}
_child_of() { local child; read -r child _ <"/proc/$1/task/$1/children" || true; echo "$child"; }
_reload() {
  nsenter -t "$SERVER" -p -- unshare --mount -- sh -c 'mount -t proc proc /proc; exec "$@"' sh \
    "$PROGRAM" --reload "$MNT"
  SERVER=$(server_of "$KEEPER")
}
_serves_instead_of() { SERVER=$(server_of "$KEEPER"); [ -n "$SERVER" ] && [ "$SERVER" != "$1" ]; }
_has_a_channel() { wait_until '[ "$(own channels)" = 1 ]'; }
_start_unseen() {
  start_probe
  ok 'interface web feeder' 'statistic web a' 'start a' 'inc a 100' 'sync 5000'
}

it_is_answered_and_counts_in_cells_until_its_end() {
  _start_unseen
  assert_counts web 'a 100'
  wait_until 'in_cells a'
  assert_eq '1 1' "$(own channels) $(own lanes)"
  end_probe
  wait_until '[ "$(own lanes)" = 0 ]'
  wait_until '! [ -e "$STAT/web" ]'
}

a_kill_of_it_loses_nothing_and_removes_what_goes_with_it() {
  _start_unseen
  ok 'interface db' 'statistic db b' 'start b' 'sync 5000'
  wait_until 'in_cells b'
  ok 'inc b 1000'
  local before
  before=$(counts db)
  kill -KILL "$PROBE"
  wait_until '! [ -e "$STAT/web" ]'
  wait_until '[ "$(own lanes)" = 0 ]'
  assert_eq "$before" "$(counts db)"
}

people_see_it_as_process_0() {
  start_probe
  TALLY_SOCKET=$SOCK assert_fails_with 'entries_max' "$TALLY_SEND" 'create web/x type=list'
  assert_has 'socket pid 0 uid 0' "$(errors)"
}

each_one_goes_for_itself() {
  _start_unseen
  wait_until 'in_cells a'
  TALLY_SOCKET=$SOCK "$TALLY_SEND" 'create db lifetime=feeder' 'create db/x on=1' 'db/x 1'
  wait_until '! [ -e "$STAT/db" ]'
  [ -e "$STAT/web" ] || fail 'what goes with the other one is gone'
  [ "$(own lanes)" = 1 ] || fail 'the lane of the other one is gone'
}

it_goes_on_through_a_reload() {
  local i
  _start_unseen
  wait_until 'in_cells a'
  for i in 1 2 3; do
    _reload
    _has_a_channel
    ok 'inc a 100' "statistic web s$i" "start s$i" "inc s$i 1" 'sync 10000'
    assert_eq "s$i 1" "$(counts web | grep "^s$i ")"
    assert_eq 1 "$(own lanes)" 'its lane stays'
  done
  assert_eq '0 0' "$(count_of lost) $(count_of dropped)"
  end_probe
  wait_until '! [ -e "$STAT/web" ]'
  wait_until '[ "$(own lanes)" = 0 ]'
}

an_end_during_a_reload_is_noticed() {
  _start_unseen
  freeze "$PROBE"
  _reload
  [ -e "$STAT/web" ] || fail 'it has not ended'
  kill -KILL "$PROBE"
  wait_until '! [ -e "$STAT/web" ]'
}

it_registers_again_after_a_kill_of_the_server() {
  local before=$SERVER
  _start_unseen
  kill -KILL "$SERVER"
  wait_until "_serves_instead_of $before"
  _has_a_channel
  ok 'sync 10000' 'statistic web b' 'start b' 'inc b 100' 'sync 10000'
  assert_eq 'b 100' "$(counts web | grep '^b ')"
  end_probe
  wait_until '! [ -e "$STAT/web" ]'
}

a_feeder_without_a_channel_is_answered_but_not_watched() {
  py <<'PY'
from peer import *
peer = Peer()
assert peer.ask("create web") == (0, 0)
assert peer.ask("create db lifetime=feeder")[0] != 0
PY
}
