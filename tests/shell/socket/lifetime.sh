# Interfaces that go with the process that made them.

# _feeder NAME LINE...: a process that sends the lines as requests, one after the other, says so by
# NAME.ready and stays until it is killed.
_feeder() {
  local name=$1
  shift
  cat >"$CASE/$name.py" <<'EOT'
import signal
from peer import *
import sys
peer = Peer()
for line in sys.argv[2:]:
    error, _ = peer.ask(line)
    print(line, os.strerror(error) if error else "was there" if peer.was_there else "ok", flush=True)
open(sys.argv[1], "w")
signal.pause()
EOT
  need_python
  PYTHONPATH=$here "$PYTHON" "$CASE/$name.py" "$CASE/$name.ready" "$@" >"$CASE/$name.said" &
  FEEDER=$!
  echo $FEEDER >>"$CASE/pids"
  wait_until '[ -e "$CASE/'"$name"'.ready" ]'
}

an_interface_goes_when_its_feeder_is_killed() {
  _feeder one 'create web lifetime=feeder' 'create web/hits on=1'
  assert_data web 'hits 0'
  kill -KILL $FEEDER
  wait_until '! [ -e "$STAT/web" ]'
}

an_interface_made_without_stays() {
  send 'create web' 'create web/hits'
  _feeder one 'create web lifetime=feeder' 'create other lifetime=feeder' 'create other/a'
  assert_has 'create web lifetime=feeder was there' "$(cat "$CASE/one.said")"
  kill -KILL $FEEDER
  wait_until '! [ -e "$STAT/other" ]'
  assert_data web 'hits 0'
}

it_lives_as_long_as_the_last_of_its_feeders() {
  _feeder one 'create web lifetime=feeder' 'create web/hits on=1' 'create first lifetime=feeder'
  local first=$FEEDER
  _feeder two 'create web lifetime=feeder' 'create web/hits' 'create second lifetime=feeder'
  assert_has 'create web/hits was there' "$(cat "$CASE/two.said")"
  kill -KILL "$first"
  wait_until '! [ -e "$STAT/first" ]'
  send 'web/hits 1'
  assert_data web 'hits 1'
  kill -TERM "$FEEDER"
  wait_until '! [ -e "$STAT/web" ] && ! [ -e "$STAT/second" ]'
}

a_reader_goes_on_reading() {
  _feeder one 'create web lifetime=feeder' 'create web/hits on=1'
  exec 3<"$STAT/web/data"
  kill -KILL $FEEDER
  wait_until '! [ -e "$STAT/web" ]'
  assert_eq 'hits 0' "$(cat <&3)"
}

one_that_was_removed_and_made_again_is_another() {
  _feeder one 'create web lifetime=feeder' 'create web/hits on=1' 'create marker lifetime=feeder'
  rmdir "$STAT/web"
  send 'create web' 'web/hits 1'
  kill -KILL $FEEDER
  wait_until '! [ -e "$STAT/marker" ]'
  assert_counts web 'hits 1'
}

a_sender_that_is_gone_leaves_nothing() {
  send 'create web lifetime=feeder'
  # socat had ended before the daemon looked, or has by now.
  wait_until '! [ -e "$STAT/web" ]'
}

nothing_else_can_be_said_of_an_interface() {
  py <<'EOT'
from peer import *
peer = Peer()
for line, at in (("create web lifetime=forever", 11), ("create web on=1", 11), ("create web lifetime=feeder on=1", 27)):
    error, _ = peer.ask(line)
    assert (error, peer.error_at) == (22, at), (line, error, peer.error_at, peer.reason)
assert not os.path.exists(os.environ["STAT"] + "/web")
EOT
}

another_user_cannot_hold_it() {
  _feeder one 'create web lifetime=feeder'
  chmod 666 "$SOCK"
  printf 'from peer import *\nassert Peer().ask("create web lifetime=feeder")[0] == 1\n' \
    >"$CASE/ask.py"
  cp "$here/peer.py" "$CASE"
  as_nobody env SOCK="$SOCK" "$PYTHON" "$CASE/ask.py"
}
