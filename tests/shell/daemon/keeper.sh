# A server that crashes or is killed is replaced, and the mount stays.

_set_up() { need pgrep; }
. ./daemon/_keeper.sh
_nothing_is_left() {
  assert_eq '' "$(awk -v point="$MNT" '$2 == point' /proc/mounts)" 'mounts'
  [ ! -e "$SOCK" ] || fail 'the socket is left'
  [ ! -e "$SOCK.lock" ] || fail 'its lock is left'
}

a_killed_server_is_replaced() {
  start_daemon
  send 'web/a 1'
  assert_counts web 'a 1'
  _replace_server
  assert_eq 1 "$(_takeovers)"
  wait_until '[ "$(own takeover_us)" ]'
  [ "$(own takeover_us)" -gt 0 ]
  wait_until 'grep -q "the server before ended by signal 9 (Killed)" "$STDERR"'
  send 'web/b 1'
  assert_has 'b 1' "$(counts web)"
  stop_daemon
  _nothing_is_left
}

# The program on disk stops the server before it answers, so that the signal to hand over waits. It
# returns when every thread stands still: a thread that runs takes SIGUSR2 before SIGSTOP.
a_reload_whose_server_is_killed_fails() {
  _need_resend
  local said
  mkdir "$CASE/bin"
  cp "$(command -v "$TALLYFS")" "$CASE/bin/tallyfs"
  cp "$CASE/bin/tallyfs" "$CASE/bin/real"
  TALLYFS=$CASE/bin/tallyfs start_daemon --state "$CASE/state"
  cat >"$CASE/script" <<EOT
#!/bin/sh
kill -STOP $SERVER
while grep -sqE '^State:[[:space:]]+[^TZ]' /proc/$SERVER/task/*/status; do :; done
exec "$CASE/bin/real" "\$@"
EOT
  chmod 755 "$CASE/script"
  mv "$CASE/script" "$CASE/bin/tallyfs"
  "$CASE/bin/real" --reload "$MNT" 2>"$CASE/said" &
  local reload=$!
  wait_until 'grep -q "^ShdPnd:.*[89a-f]..$" "/proc/$SERVER/status"'  # SIGUSR2
  kill -KILL "$SERVER"
  if wait $reload; then fail 'it ended with 0'; fi
  said=$(cat "$CASE/said")
  assert_has 'the server ended unexpectedly meanwhile' "$said"
  wait_until 'SERVER=$(server_of "$DAEMON"); [ "$SERVER" ]'
}

a_crashed_server_is_replaced() {
  start_daemon
  # An ABRT that a sanitizer does not catch: it is the default, as of a broken invariant.
  _replace_server ABRT
  send 'web/a 1'
  assert_counts web 'a 1'
  wait_until 'grep -q "the server before ended by signal 6" "$STDERR"'
}

paths_that_the_kernel_knows_work_at_once() {
  start_daemon
  local i
  for i in 1 2 3; do
    send 'web/a 1'
    ls -lR "$MNT" >/dev/null
    data web >/dev/null
    _is_kept
    _replace_server
    send 'web/b 1'
    assert_counts web 'a 1' 'b 1'
    assert_eq "tallyfs web" "$(ls "$STAT" | paste -sd' ')"
    rmdir "$STAT/web"
  done
}

# A text is that of the open(2), byte for byte, and a line goes on that was begun.
open_files_go_on_in_the_next_server() {
  start_daemon
  send 'web/a 1' 'web/b 1'
  assert_counts web 'a 1' 'b 1'
  py "$SERVER" <<'EOT'
import os, signal, sys
stat, server = os.environ["STAT"], int(sys.argv[1])
data = os.open(f"{stat}/web/data", os.O_RDONLY)
unread = os.open(f"{stat}/web/definition", os.O_RDONLY)
definition = os.open(f"{stat}/web/definition", os.O_WRONLY | os.O_APPEND)
before = open(f"{stat}/web/data").read()
assert os.read(data, 3).decode() == before[:3]
os.write(definition, b"name=a units=apples/sam")
os.kill(server, signal.SIGKILL)
os.write(definition, b"ples\nname=b units=pears/samples\n")
assert os.read(data, 4096).decode() == before[3:]
assert os.fstat(data).st_size == len(before), os.fstat(data)
assert "units=pears" in open(f"{stat}/web/definition").read()
assert "units=apples" in open(f"{stat}/web/definition").read()
assert os.read(unread, 4096)
for fd in data, unread, definition: os.close(fd)
EOT
  wait_until 'SERVER=$(server_of "$DAEMON"); [ "$SERVER" ]'
  assert_eq 0 "$(grep -c 'is stale' "$STDERR" || true)"
}

# They close in the next server, and count as open there until then.
open_files_survive_kill_after_kill() {
  start_daemon
  send 'web/a 1'
  assert_counts web 'a 1'
  exec 8<"$STAT/web/data"
  local i
  for i in 1 2 3 4; do
    _replace_server
    cat "$STAT/web/definition" >/dev/null
  done
  assert_has 'a 1' "$(cat <&8)"
  exec 8<&-
  _replace_server
  assert_eq 1 "$(own open_files)"  # that of the look itself
}

open_files_of_more_than_a_mebibyte_are_stale() {
  start_daemon
  seq -f 'create big/s%g on=1 units=a_long_unit_for_a_long_line_of_text/samples_of_it' 9000 |
    "$TALLY_SEND" --socket "$SOCK"
  wait_until '[ "$(stat -c %s "$STAT/big/definition")" -gt 1048576 ]'
  exec 8<"$STAT/big/definition"
  _replace_server
  assert_fails_with 'Stale file handle' cat <&8
  exec 8<&-
}

a_read_that_the_killed_server_had_not_answered_is_answered() {
  _need_resend
  start_daemon
  local reader i
  for i in 1 2 3; do
    freeze "$SERVER"
    cat "$MNT/statistics.json" >"$CASE/read" &
    reader=$!
    wait_until 'grep -qE "fuse|request_wait" "/proc/'$reader'/wchan"'
    _replace_server
    wait $reader
    assert_has '"pid"' "$(cat "$CASE/read")"
  done
}

a_poller_goes_on() {
  start_daemon
  send 'event define web/request pid_t pid'
  wait_until '[ -d "$MNT/tracing/events/web/request" ]'
  echo 'hist:keys=pid' >"$MNT/tracing/events/web/request/trigger"
  send 'event web/request pid=7' 'event web/request pid=7'
  wait_until 'grep -q "Hits: 2" "$MNT/tracing/events/web/request/hist"'
  _is_kept
  py <<'EOT' &
import os, select, socket
from peer import PATIENCE
fd = os.open(os.environ["MNT"] + "/tracing/events/web/request/hist", os.O_RDONLY)
assert b"Hits: 2\n" in os.read(fd, 65536)
poll = select.poll()
poll.register(fd, select.POLLPRI)
with open(os.environ["CASE"] + "/polls", "w") as file: print(os.getpid(), file=file)
assert poll.poll() == [(fd, select.POLLPRI)], "a new server"
assert b"Hits: 2\n" in os.pread(fd, 65536, 0)
feed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
feed.connect(os.environ["SOCK"])
feed.send(b"event web/request pid=7")
assert poll.poll(10_000 * PATIENCE) == [(fd, select.POLLPRI)]
assert b"Hits: 3\n" in os.pread(fd, 65536, 0)
EOT
  local poller=$!
  wait_until '[ -s "$CASE/polls" ] && grep -q poll "/proc/$(cat "$CASE/polls")/wchan"'
  _replace_server
  wait $poller || fail 'the poller does not go on'
}

with_state_what_was_saved_is_there() {
  start_daemon --state "$CASE/state" --state-period 1
  send 'create web/us on=1 type=range' 'web/us 5' 'web/us 7'
  assert_data web 'us 2 5 6.000 7'
  wait_until 'grep -qas web "$CASE"/state/state.[0-9]*'
  _replace_server
  assert_has 'us 2 5 6.000 7' "$(data web)"
  send 'web/us 9'
  assert_has 'us 3 5 7.000 9' "$(data web)"
  stop_daemon
  start_daemon --state "$CASE/state"
  assert_has 'us 3 5 7.000 9' "$(data web)"
}

# Each counts the period from the newest file, not from its own start.
servers_that_die_before_a_period_is_over_leave_files() {
  start_daemon --state "$CASE/state" --state-period 3600
  send 'web/a 1'
  assert_counts web 'a 1'
  stop_daemon
  start_daemon --state "$CASE/state" --state-period 3600
  touch -d '2 hours ago' "$CASE/state/state.1"
  _replace_server
  send 'web/a 1'
  _is_kept
  wait_until '[ -e "$CASE/state/state.2" ]'
  _replace_server
  assert_counts web 'a 2'
}

an_unmount_from_outside_ends_it() {
  need_root
  start_daemon
  umount "$MNT"
  daemon_ends
  _nothing_is_left
}

sigterm_ends_it_while_the_mount_is_in_use() {
  start_daemon
  send 'web/a 1'
  exec 9<"$STAT/web/data"
  stop_daemon
  exec 9<&-
  _nothing_is_left
  ! kill -0 "$SERVER" 2>/dev/null || fail 'the server is left'
}

sigterm_ends_it_while_the_server_is_stopped() {
  start_daemon
  freeze "$SERVER"
  stop_daemon TERM
  _nothing_is_left
}

sigterm_to_the_server_ends_all() {
  start_daemon
  kill -TERM "$SERVER"
  daemon_ends
  _nothing_is_left
}

sighup_reaches_the_server() {
  echo 'web/* type=range on=1' >"$CASE/rules"
  start_daemon --rules "$CASE/rules"
  echo 'web/* type=list on=1' >"$CASE/rules"
  kill -HUP "$DAEMON"
  send 'web/a 1'
  wait_until 'grep -qc "rules" "$STDERR" && [ "$(grep -c "$CASE/rules" "$STDERR")" -ge 2 ]'
}

a_start_that_fails_says_why_and_leaves_nothing() {
  mkdir -p "$MNT"
  assert_fails_with 'there is no directory nowhere' \
    "$TALLYFS" -f --socket "$SOCK" --subtree nowhere "$MNT"
  _nothing_is_left
  assert_fails_with 'there is no directory nowhere' \
    "$TALLYFS" --socket "$SOCK" --subtree nowhere "$MNT"
  _nothing_is_left
}

in_the_background_too() {
  mkdir -p "$MNT"
  within 20 "$TALLYFS" --socket "$SOCK" "$MNT" | cat
  DAEMON=$(pgrep -f -x -- "$TALLYFS --socket $SOCK $MNT" | head -1)
  echo "$DAEMON" >>"$CASE/pids"
  SERVER=$(server_of "$DAEMON")
  _replace_server
  send 'web/a 1'
  assert_counts web 'a 1'
  kill -TERM "$DAEMON"
  wait_until '[ ! -e "$SOCK.lock" ]'
  _nothing_is_left
}

a_killed_keeper_takes_its_server_along() {
  start_daemon
  kill_daemon
  wait_until '! kill -0 "$SERVER" 2>/dev/null'
  start_daemon -o auto_unmount
  send 'web/a 1'
  assert_counts web 'a 1'
}

servers_that_crash_again_and_again_end_it() {
  start_daemon
  local i status=0
  for i in 1 2 3 4 5 6; do
    wait_until '[ "$(server_of "$DAEMON")" != "" ] || ! kill -0 "$DAEMON" 2>/dev/null'
    SERVER=$(server_of "$DAEMON") || break
    [ "$i" -eq 6 ] || { _replace_server ABRT && continue; }
    kill -ABRT "$SERVER"
  done
  _wait_for "$DAEMON" || status=$?
  assert_eq 1 $status 'exit status'
  assert_has 'the end: each server crashes' "$(cat "$STDERR")"
  _nothing_is_left
}

the_server_is_another_user() {
  need_root
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 start_daemon --run-as nobody
  _replace_server
  assert_eq 65534 "$(stat -c %u "/proc/$SERVER")"
  assert_eq 65534 "$(awk '$1 == "Uid:" { print $2 }' "/proc/$SERVER/status")"
  assert_eq 0000000000000000 "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$DAEMON/status")"
  send 'web/a 1'
  assert_counts web 'a 1'
  stop_daemon
  wait_until '[ ! -e "$SOCK" ]'
  _nothing_is_left
}

# TALLY_KILLS says how many; each is 5 to 60 ms after the last, under readers, writers and feeders.
the_mount_answers_after_each_of_many_kills() {
  need_python
  start_daemon --state "$CASE/state"
  "$PYTHON" "$here/kills.py" "$MNT" "$SOCK" "$DAEMON" "${TALLY_KILLS:-$(fewer 25 10)}" \
    $(command -v "${TALLY_BIN:+$TALLY_BIN/}tally-probe")
}

# Its feeder ends, and the next one offers the events to the next server.
events_of_the_kernel_go_on() {
  need_root
  local event=$MNT/tracing/events/task/task_newtask
  start_daemon -o tracefs --state "$CASE/state" --state-period 1
  [ -d "$event" ] || skip 'no kernel events here'
  cp "$(command -v bash)" "$CASE/forker"
  echo 'hist:keys=common_comm if comm == "forker"' >"$event/trigger"
  wait_until 'grep -qas forker "$CASE"/state/state.[0-9]*'
  _replace_server
  # Once by each feeder.
  wait_until '[ "$(grep -c "the kernel has .* events" "$STDERR")" -ge 2 ]'
  # It is told what to record.
  wait_until '"$CASE/forker" -c "(:)" && grep -q "Hits: [1-9]" "$event/hist"'
}

# NotifyAccess=main: only what the main process says counts.
systemd_hears_the_keeper() {
  _start_service
  _replace_server
  _end_service
  assert_eq "$DAEMON READY=1"$'\n'"$DAEMON STOPPING=1" "$(grep = "$CASE/said")"
  assert_eq "$DAEMON" "$(cut -d' ' -f1 "$CASE/said" | sort -u)" 'the senders'
}

# As a service of which systemd keeps descriptors: $SERVICE is systemd.
_start_service() {
  need_python
  mkdir -p "$MNT"
  "$PYTHON" "$here/fake_systemd.py" "$CASE/said" "$TALLYFS" -f --socket "$SOCK" "$@" "$MNT" \
    >/dev/null 2>"$CASE/stderr" &
  SERVICE=$! STDERR=$CASE/stderr
  echo "$SERVICE" >>"$CASE/pids"
  _await_ready 1
}
_await_ready() {  # _await_ready N: until it has said READY so often
  wait_until '[ "$(grep -cs READY=1 "$CASE/said")" = '"$1"' ]'
  DAEMON=$(grep READY=1 "$CASE/said" | tail -1 | cut -d' ' -f1)
  echo "$DAEMON" >>"$CASE/pids"
  SERVER=$(server_of "$DAEMON")
}
_end_service() {
  kill -TERM "$SERVICE"
  _wait_for "$SERVICE"
}
_mount() { awk -v point="$MNT" '$5 == point { print $1, $3 }' /proc/self/mountinfo; }

a_keeper_that_is_killed_under_systemd_has_a_successor_with_its_mount() {
  local i before socket
  _start_service --state "$CASE/state" --state-period 1
  before=$(_mount) socket=$(stat -c %i "$SOCK")
  send 'web/a 1'
  assert_counts web 'a 1'
  wait_until 'grep -qas web "$CASE"/state/state.[0-9]*'
  for i in 2 3 4; do
    kill -KILL "$DAEMON"
    # It could still take the sample, and lose it.
    wait_until '! kill -0 '"$SERVER"' 2>/dev/null'
    # Waits in the socket and in the mount until the next one is there.
    send 'early/n 1'
    cat "$STAT/web/data" >"$CASE/read" || fail 'the mount is dead'
    _await_ready $i
    assert_eq 'a 1 1 1.000 1' "$(cat "$CASE/read")" 'what was saved'
    assert_eq "$before" "$(_mount)" 'the mount'
    assert_eq "$socket" "$(stat -c %i "$SOCK")" 'the socket'
    assert_eq $((i - 1)) "$(_takeovers)"
  done
  assert_has 'n' "$(cat "$STAT/early/data")"
  wait_until 'grep -q "the server before ended by signal 9 (Killed)" "$STDERR"'
  _replace_server
  _end_service
  _nothing_is_left
  assert_eq 10 "$(grep -c "^$DAEMON remove stored-" "$CASE/said")" 'names that systemd forgets'
}

a_reload_leaves_what_systemd_keeps_as_it_is() {
  local before
  _start_service
  before=$(_mount)
  "$TALLYFS" --reload "$MNT"
  SERVER=$(server_of "$DAEMON")
  kill -KILL "$DAEMON"
  # It could still take the open, and the next one would not know the file.
  wait_until '! kill -0 '"$SERVER"' 2>/dev/null'
  cat "$STAT/tallyfs/data" >/dev/null
  _await_ready 2
  assert_eq "$before" "$(_mount)" 'the mount'
  send 'web/a 1'
  assert_counts web 'a 1'
  _end_service
  _nothing_is_left
}

# As when the mount was removed while nothing served it.
what_systemd_keeps_of_a_mount_that_is_gone_is_dropped() {
  need_root
  _start_service
  freeze "$DAEMON"
  freeze "$SERVER"
  umount -l "$MNT"
  kill -KILL "$DAEMON"
  _await_ready 2
  send 'web/a 1'
  assert_counts web 'a 1'
  assert_has 'all begins anew' "$(cat "$STDERR")"
  _end_service
  _nothing_is_left
}

without_a_keeper_it_is_one_process() {
  local each
  for each in --no-keeper '-o no_keeper'; do
    start_daemon $each
    assert_eq tallyfs "$(cat "/proc/$DAEMON/comm")"
    assert_eq '' "$(cat "/proc/$DAEMON/task/$DAEMON/children")"
    assert_eq "$DAEMON" "$SERVER"
    send 'web/a 1'
    assert_counts web 'a 1'
    kill_daemon
    assert_fails_with 'Transport endpoint is not connected' ls "$MNT"
    umount -l "$MNT" 2>/dev/null || fusermount3 -u -z "$MNT"
  done
}
