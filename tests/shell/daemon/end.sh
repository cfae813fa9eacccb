# How the daemon ends, and what it leaves.

_set_up() { start_daemon; send 'web/a 1'; }
_nothing_is_left() {
  assert_eq '' "$(awk -v point="$MNT" '$2 == point' /proc/mounts)" 'mounts'
  [ ! -e "$SOCK" ] || fail 'the socket is left'
}

sigterm_unmounts_and_removes_the_socket() { stop_daemon TERM; _nothing_is_left; }
sigint_unmounts_and_removes_the_socket() { stop_daemon INT; _nothing_is_left; }

sigterm_ends_it_while_the_mount_is_in_use() {
  exec 9<"$STAT/web/data"
  (cd "$STAT/web" && exec sleep 30 9<&-) &
  local user=$!
  wait_until '[ "$(readlink /proc/'$user'/cwd)" = "$STAT/web" ]'
  stop_daemon TERM
  kill $user
  _nothing_is_left
}

sigterm_loses_nothing_that_was_read() {
  send 'web/a 1'
  assert_counts web 'a 2'
  stop_daemon
  start_daemon
  assert_eq tallyfs "$(ls "$STAT")"
}

fusermount3_u_ends_it() { need fusermount3; fusermount3 -u "$MNT"; daemon_ends; _nothing_is_left; }
umount_ends_it() { need_root; umount "$MNT"; daemon_ends; _nothing_is_left; }
umount_lazily_ends_it_when_the_last_user_is_gone() {
  need_root
  exec 9<"$STAT/web/data"
  umount -l "$MNT"
  assert_eq 'a 1 1 1.000 1' "$(cat <&9)"
  exec 9<&-
  daemon_ends
  _nothing_is_left
}

aborting_the_connection_ends_it() {
  need_root
  local control=/sys/fs/fuse/connections
  [ -d "$control" ] || skip 'no fusectl'
  mountpoint -q $control || mount -t fusectl fusectl $control 2>/dev/null || skip 'no fusectl'
  echo 1 >"$control/$(mountpoint -d "$MNT" | cut -d: -f2)/abort"
  daemon_ends
  [ ! -e "$SOCK" ] || fail 'the socket is left'
}

umount_while_busy_is_refused_and_changes_nothing() {
  need_root
  local status=0
  exec 9<"$STAT/web/data"
  umount "$MNT" 2>"$CASE/said" || status=$?
  assert_eq 32 $status 'exit status of umount'
  assert_has busy "$(cat "$CASE/said")"
  send 'web/a 1'
  assert_counts web 'a 2'
  exec 9<&-
}

a_reader_keeps_its_text_when_rmdir_removes_the_interface() { _keeps_its_text 'rmdir "$STAT/web"'; }
a_reader_keeps_its_text_when_remove_removes_the_interface() { _keeps_its_text 'send "remove web"'; }
_keeps_its_text() {
  local directory
  exec 8<"$STAT/web/data" 9>"$STAT/web/definition"
  exec {directory}<"$STAT/web"
  eval "$1"
  assert_eq '' "$(ls "$STAT" | grep -x web || true)"
  assert_fails_with 'No such file or directory' cat "$STAT/web/data"
  assert_fails_with 'No such file or directory' ls "$STAT/web"
  assert_eq 'a 1 1 1.000 1' "$(cat <&8)"
  assert_fails bash -c 'echo on=0 >&9'
  # A new one of that name is another.
  send 'web/a 0 5'
  assert_counts web 'a 5'
  assert_match 'name=a on=1 .*' "$(definition web)"
  exec 8<&- 9>&- {directory}<&-
}

a_process_inside_a_removed_interface_sees_it_empty_or_gone() {
  cd "$STAT/web"
  rmdir "$STAT/web"
  assert_fails cat data
  assert_eq '' "$(ls 2>/dev/null || true)"
  cd "$CASE"
}

after_a_crash_starting_says_what_to_do() {
  kill_daemon
  assert_fails_with 'Transport endpoint is not connected' ls "$MNT"
  assert_fails_with "fusermount3 -u" "$TALLYFS" -f --socket "$SOCK" "$MNT"
  assert_fails_with "$MNT" "$TALLYFS" --socket "$SOCK" "$MNT"
}

after_a_crash_auto_unmount_cleans_up() {
  kill_daemon
  start_daemon -o auto_unmount
  assert_eq 1 "$(grep -c " $MNT fuse" /proc/mounts)"
  send 'web/b 1'
  assert_counts web 'b 1'
}

# 3 a.m.: an earlier look has left the directory's attributes in the kernel, which goes on answering
# with them.
a_dead_mount_is_seen_as_such_though_its_attributes_are_cached() {
  ls -ld "$MNT" "$STAT" >/dev/null
  kill_daemon
  assert_fails_with "fusermount3 -u" "$TALLYFS" -f --socket "$SOCK" "$MNT"
  start_daemon -o auto_unmount
  send 'web/b 1'
  assert_counts web 'b 1'
}

what_it_says_to_do_after_a_crash_helps() {
  kill_daemon
  fusermount3 -u -z "$MNT"
  start_daemon
  send 'web/b 1'
  assert_counts web 'b 1'
}

# A request stands behind what takes longer than a turn of the loop: the answer shows that all
# before it was taken in.
sigterm_counts_what_is_queued() {
  need_python
  DAEMON=$DAEMON SERVER=$SERVER py <<'EOT'
import signal
from peer import *
peer, server = Peer(), int(os.environ["SERVER"])
peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
peer.socket.send(b"".join(b"web/b%d 1\n" % i for i in range(20)))
freeze(server)
# Far from a second's work.
lines = b"define web data=reset\n" * max(1, int(300 / min(SLOWNESS, 3 * PATIENCE)))
for i in range(7): peer.socket.send(lines)
peer.send(request(9, "create web/c"))
os.kill(int(os.environ["DAEMON"]), signal.SIGTERM)  # which continues the server
try:
    (answer,) = peer.answers()
    assert answer[:2] == (9, 0), answer
except socket.timeout: open(os.environ["CASE"] + "/unanswered", "w").close()
EOT
  daemon_ends
  _nothing_is_left
  [ ! -e "$CASE/unanswered" ] || [ "$(_lost)" -gt 0 ] || fail 'what was queued was not taken in'
}
# At its end the daemon takes in what is queued for a second. Of a machine that has no CPU for it
# meanwhile the log says how many datagrams are lost.
_lost() {
  sed -n 's/.* \([0-9]*\) datagrams that were queued are lost: .*/\1/p' "$STDERR" |
    awk '{ lost += $1 } END { print lost + 0 }'
}

sigterm_counts_each_send_that_succeeded() { _counts_each_send stop_daemon; }
umount_counts_each_send_that_succeeded() { need_root; _counts_each_send _unmount; }
_unmount() { umount "$MNT"; daemon_ends; }
# The sender sends as fast as it can until one fails, and waits while the queue is full.
_counts_each_send() {
  need_python
  stop_daemon
  start_daemon --state "$CASE/state"
  py "$SOCK" >"$CASE/sent" <<'EOT' &
import socket, sys
sender, sent = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), 0
sender.connect(sys.argv[1])
try:
    while True:
        sender.send(b"web/n 1")
        sent += 1
except OSError:
    print(sent)
EOT
  local sender=$!
  wait_until 'grep -qs "^n " "$STAT/web/data"'
  "$@"
  wait $sender
  local taken
  taken=$(($(cat "$CASE/sent") - $(_lost)))
  start_daemon --state "$CASE/state"
  assert_counts web "n $taken"
}

# The sender never waits, and sends before, while and after a daemon ends.
what_a_socket_of_systemds_holds_at_the_end_waits_for_the_next_one() {
  stop_daemon
  py "$TALLYFS" "$CASE/passed" <<'EOT'
import select, subprocess, threading, time
from peer import *
tallyfs, path = sys.argv[1:]
passed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
passed.bind(path)
command = 'exec 3<&"$1"; shift; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
def start():
    argv = [tallyfs, "-f", "--state", os.environ["CASE"] + "/state", os.environ["MNT"]]
    daemon = subprocess.Popen(["bash", "-c", command, "bash", str(passed.fileno()), *argv],
                              pass_fds=[passed.fileno()], stdout=subprocess.PIPE)
    open(os.environ["CASE"] + "/pids", "a").write(f"{daemon.pid}\n")
    assert daemon.stdout.readline() == b"READY\n"
    return daemon
def end(daemon):
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(20 * PATIENCE) == 0
sent, ends = 0, threading.Event()
def send():
    global sent
    feeder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    feeder.setblocking(False)
    while not ends.is_set():
        try:
            feeder.sendto(b"web/n 1\n", path)
            sent += 1
        except BlockingIOError: pass
sender = threading.Thread(target=send)
daemon = start()
sender.start()
try:
    for _ in range(3):
        before = sent
        while sent < before + 1000:
            assert sender.is_alive()
            time.sleep(0.001)
        end(daemon)
        assert select.select([passed], [], [], 10 * PATIENCE)[0], "nothing waits"
        daemon = start()
finally:
    ends.set()
    sender.join()
assert counts("web") == f"n {sent}\n", (data("web"), sent)
end(daemon)
EOT
}

sighup_is_no_end_without_a_terminal() {
  kill -HUP "$DAEMON"
  wait_until 'grep -q "SIGHUP: without --rules there is no file to read again" "$STDERR"'
  send 'web/a 1'
  assert_counts web 'a 2'
  kill -HUP "$DAEMON"
  wait_until '[ "$(grep -c SIGHUP: "$STDERR")" -eq 2 ]'
  stop_daemon
}

sighup_ends_it_in_the_foreground_of_a_terminal() {
  need script
  mkdir -p "$CASE/other"
  # A session with a terminal of its own; its shell waits for the daemon.
  printf '"%s" -f --socket "%s" "%s" & echo $! >"%s"; wait\n' \
    "$TALLYFS" "$CASE/run/other" "$CASE/other" "$CASE/pid" >"$CASE/session"
  script -qec "sh $CASE/session" /dev/null >"$CASE/said" </dev/null &
  echo $! >>"$CASE/pids"
  wait_until 'grep -q READY "$CASE/said" && [ -s "$CASE/pid" ]'
  kill -HUP "$(cat "$CASE/pid")"
  wait_until '[ ! -e "$CASE/run/other" ]'
}

an_unmount_here_with_a_copy_elsewhere_is_told() {
  need_root
  need unshare
  unshare -m --propagation private sleep 1000 &
  local holder=$!
  echo $holder >>"$CASE/pids"
  # It is `sleep` once it has its own mounts.
  wait_until '[ "$(cat /proc/'$holder'/comm)" = sleep ]'
  grep -q " $MNT " "/proc/$holder/mountinfo"
  umount "$MNT"
  wait_until 'grep -q "is unmounted here, but a mount namespace has a copy" "$STDERR"'
  send 'web/a 1'
  kill $holder
  daemon_ends
  _nothing_is_left
}
