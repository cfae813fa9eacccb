# Each bound of docs/files.md and docs/limits.md that an option sets or a shell can
# reach: what is beyond is refused and says so, where it is counted it counts, and nothing else
# changes. (Those of other files: names, error_log, datagrams, lifetime, written lines, entries. Of
# what is kept for root: reserve.sh.)

_set_up() { :; }
_ask() {  # _ask LINE: the errno's name and the reason, or "taken"
  py "$1" <<'EOT'
import errno, sys
from peer import *
peer = Peer()
error, number = peer.ask(sys.argv[1])
print(f"{errno.errorcode[error]} {peer.reason}" if error else "taken")
EOT
}

interfaces_of_a_uid() {
  start_daemon --uid-interfaces 3
  assert_eq taken "$(_ask 'create a')"
  assert_eq taken "$(_ask 'b/x 1')"
  # The daemon's own is one of them.
  assert_eq "ENOSPC the limit of 3 interfaces for uid $(id -u) is reached" "$(_ask 'create c')"
  assert_eq "ENOSPC the limit of 3 interfaces for uid $(id -u) is reached" "$(_ask 'd/x 1')"
  send 'd/x 1' 'b/x 1'
  assert_has "the limit of 3 interfaces for uid $(id -u) is reached" "$(errors)"
  assert_counts b 'x 2'
  assert_eq 'a b tallyfs' "$(ls "$STAT" | paste -sd' ')"
  assert_eq 'rejects 3' "$(data tallyfs | grep '^rejects ')"
  rmdir "$STAT/a"
  assert_eq taken "$(_ask 'create c')"
}

interfaces_of_another_uid_are_its_own() {
  need_root
  start_daemon --uid-interfaces 2
  assert_eq taken "$(_ask 'create a')"
  assert_has ENOSPC "$(_ask 'create b')"
  chmod 755 "$CASE"
  echo 'others/x 1' >"$CASE/others"
  as_nobody "$(command -v socat)" -u "OPEN:$CASE/others" "UNIX-SENDTO:$SOCK"
  assert_counts others 'x 1'
}

statistics_of_a_uid() {
  local own
  start_daemon
  own=$(definition tallyfs | wc -l)
  stop_daemon
  start_daemon --uid-statistics $((own + 2))
  assert_eq taken "$(_ask 'web/a 1')"
  assert_eq taken "$(_ask 'create web/b')"
  assert_eq "ENOSPC the limit of $((own + 2)) statistics for uid $(id -u) is reached" \
    "$(_ask 'web/c 1')"
  assert_eq "ENOSPC the limit of $((own + 2)) statistics for uid $(id -u) is reached" \
    "$(_ask 'create db/c')"
  assert_counts web 'a 1' 'b 0'
  assert_eq taken "$(_ask 'remove web/b')"
  assert_eq taken "$(_ask 'create web/c')"
}

bytes_of_a_uid() {
  start_daemon --uid-memory 1M
  send 'web/a 1'
  assert_fails_with 'No space left on device' define web 'name=a type=raw entries_max=1000000'
  assert_has "the limit of 1048576 bytes of data for uid $(id -u) is reached" "$(errors)"
  assert_has 'name=a type=raw entries_max=1000000' "$(errors)"
  assert_attribute web a type range
  assert_counts web 'a 1'
  define web 'name=a type=raw entries_max=1000'
  assert_match "ENOSPC the limit of 1048576 bytes of data .*" \
    "$(_ask 'create web/b type=list entries_max=1000000')"
}

bytes_of_the_whole_daemon() {
  start_daemon --memory-max 1M
  send 'web/a 1'
  assert_fails_with 'No space left on device' define web 'name=a type=raw entries_max=1000000'
  assert_has 'the limit of 1048576 bytes of data for the whole daemon is reached' "$(errors)"
  assert_counts web 'a 1'
}

open_files_of_a_uid() {
  local fds=() fd i
  start_daemon --uid-open-files 5
  send 'web/a 1'
  for i in {1..5}; do
    exec {fd}<"$STAT/web/data"
    fds+=("$fd")
  done
  assert_fails_with 'Too many open files in system' cat "$STAT/web/data"
  assert_fails_with 'Too many open files in system' put 'on=0' "$STAT/web/definition"
  exec {fds[0]}<&-
  # A release comes after its close().
  wait_until 'data web >/dev/null 2>&1'
  assert_match 'opens_refused [2-9][0-9]*' "$(data tallyfs | grep '^opens_refused ')"
  assert_counts web 'a 1'
  for fd in "${fds[@]:1}"; do assert_eq 'a 1 1 1.000 1' "$(cat <&"$fd")"; exec {fd}<&-; done
}

bytes_in_the_open_files_of_a_uid() {
  start_daemon --uid-open-bytes 1M
  py <<'EOT'
import errno
from peer import *
peer, name = Peer(), os.environ["STAT"] + "/web/data"
peer.socket.send(b"create web/a type=raw entries_max=10000 on=1\n" + b"web/a 123456789\n" * 8000)
while own("samples") < 8000: pass
one = os.stat(name).st_size  # an open would count until the daemon has heard of its end
fds = []
try:
    for i in range(100): fds.append(os.open(name, os.O_RDONLY))
    raise SystemExit("100 are open")
except OSError as error:
    assert error.errno == errno.ENFILE, error
assert (len(fds) + 1) * one > 1 << 20 >= len(fds) * one, (len(fds), one)
for fd in fds: assert len(os.pread(fd, 1 << 20, 0)) == one
for fd in fds: os.close(fd)
# One that is too long by itself: its size is 0, and it says why it does not open.
peer.socket.send(b"web/a 123456789\n" * 2000 + b"define web name=a entries_max=40000\n")
for i in range(5): peer.socket.send(b"web/a 123456789\n" * 8000)
assert peer.ask("") == (0, 0)  # one open takes in only so much
assert own("opens_refused") == 1
assert os.stat(name).st_size == 0
try:
    os.open(name, os.O_RDONLY)
    raise SystemExit("opened")
except OSError as error:
    assert error.errno == errno.ENFILE, error
assert own("opens_refused") == 2
EOT
}

bytes_in_all_open_files() {
  start_daemon --open-bytes-max 1M
  py <<'EOT'
import errno
from peer import *
peer, name = Peer(), os.environ["STAT"] + "/web/data"
peer.socket.send(b"create web/a type=raw entries_max=10000 on=1\n" + b"web/a 123456789\n" * 8000)
while own("samples") < 8000: pass
one, fds = os.stat(name).st_size, []
try:
    for i in range(100): fds.append(os.open(name, os.O_RDONLY))
    raise SystemExit("100 are open")
except OSError as error:
    assert error.errno == errno.ENFILE, error
assert (len(fds) + 1) * one > 1 << 20 >= len(fds) * one, (len(fds), one)
os.close(fds.pop())
while True:  # a release comes after its close()
    try: fds.append(os.open(name, os.O_RDONLY))
    except OSError as error: assert error.errno == errno.ENFILE, error
    else: break
assert own("opens_refused") >= 1
EOT
  assert_has 'was refused: the text would be longer than' "$(cat "$STDERR")"
}

datagrams_that_wait() {
  need_root
  start_daemon --queue-length 20
  SERVER=$SERVER py <<'EOT'
import signal
from peer import *
peer, server = Peer(), int(os.environ["SERVER"])
assert data("tallyfs")
freeze(server)
sent = 0
try:
    peer.socket.setblocking(False)
    while sent < 1000:
        peer.socket.send(b"web/a 1\n")
        sent += 1
except BlockingIOError: pass
finally: os.kill(server, signal.SIGCONT)
assert sent == 21, sent  # the kernel takes one more than its limit
assert counts("web") == "a 21\n", data("web")
EOT
}

an_opens_wait_for_the_socket() {
  start_daemon
  SERVER=$SERVER py <<'EOT'
import signal, time
from peer import *
peer, server = Peer(), int(os.environ["SERVER"])
peer.socket.send(b"web/a 1\n" + b"create web/b type=history entries_max=100 mode=range period=1 on=1\n")
assert data("web").startswith("a 1 ")
freeze(server)
# Commands that take longer than any open waits, as many as the queue holds (but 10 without root).
sent, text = 0, b"define web data=reset\nweb/a 1\n" * 4000
try:
    peer.socket.setblocking(False)
    while sent < 300:
        peer.socket.send(text)
        sent += 1
except BlockingIOError: pass
finally: os.kill(server, signal.SIGCONT)
start = time.monotonic()
data("web")
took = time.monotonic() - start
assert took < time_limit(2), took
deadline = time.monotonic() + 60
while not data("web").startswith("a 1 ") or own("samples") < 4000 * sent + 1:
    assert time.monotonic() < deadline
if sent > 100: assert own("drains_cut") > 0, "no open was cut short"
EOT
}

what_is_full_can_be_seen_by_root() {
  start_daemon --uid-open-files 5
  need_root
  send 'web/a 1'
  local fds=() fd i
  for i in {1..5}; do
    exec {fd}<"$STAT/web/data"
    fds+=("$fd")
  done
  assert_fails_with 'Too many open files in system' cat "$STAT/web/data"
  assert_has 'opens_refused 1' "$(data tallyfs)"
  assert_has "an open by uid 0 was refused: it has 5 files open" "$(cat "$STDERR")"
  for fd in "${fds[@]}"; do exec {fd}<&-; done
}

nothing_at_all_is_no_bound() {
  local option
  mkdir -p "$MNT"
  for option in --uid-open-files --uid-interfaces --uid-statistics; do
    assert_fails_with "$option" "$TALLYFS" -f $option 0 --socket "$SOCK" "$MNT"
  done
}

# Two lists and two of the newest samples, more than 80 MB together. What a save for the keeper
# takes would be measured, too.
_large_interface() {
  py <<'EOT'
import time
from peer import *
peer = Peer()
peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
name = "x" * 100
numbers = [peer.ask(f"create big/{name}{i} type={kind} entries_max=200000 on=1")[1]
           for i, kind in enumerate(["list", "list", "raw", "raw"])]
for number in numbers:
    for start in range(0, 200_000, 20_000): peer.send(samples(number, range(start, start + 20_000)))
deadline = time.monotonic() + time_limit(60)
while own("samples") < 800_000: assert time.monotonic() < deadline
EOT
}
_peak_of() { awk '/^VmHWM:/ { print $2 * 1024 }' "/proc/$SERVER/status"; }
_resident() { awk '/^VmRSS:/ { print $2 * 1024 }' "/proc/$SERVER/status"; }

reading_takes_at_most_twice_the_size_of_the_text() {
  start_daemon --no-keeper
  need_python
  [ "${TALLY_PATIENCE:-1}" = 1 ] || skip "a sanitizer's own memory says nothing"
  _large_interface
  local before bytes peak
  echo 5 >"/proc/$SERVER/clear_refs" || skip 'the peak cannot be reset'
  before=$(_resident)
  bytes=$(cat "$STAT/big/data" | wc -c)
  peak=$(_peak_of)
  echo "text $bytes, peak $((peak - before)) more than before"
  [ "$bytes" -gt 80000000 ] || fail "only $bytes bytes"
  [ $((peak - before)) -lt $((2 * bytes)) ] || fail "$((peak - before)) bytes for a text of $bytes"
}

a_text_too_long_is_refused_before_it_is_made() {
  start_daemon --no-keeper --uid-open-bytes 60M --open-bytes-max 60M
  need_python
  [ "${TALLY_PATIENCE:-1}" = 1 ] || skip "a sanitizer's own memory says nothing"
  _large_interface
  local before
  echo 5 >"/proc/$SERVER/clear_refs" || skip 'the peak cannot be reset'
  before=$(_resident)
  assert_fails_with 'Too many open files in system' cat "$STAT/big/data"
  [ $(($(_peak_of) - before)) -lt 20000000 ] || fail "$(($(_peak_of) - before)) bytes for a refusal"
}
