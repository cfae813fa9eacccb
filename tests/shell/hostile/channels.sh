# Senders that attach to requests what is no channel, too many channels, or channels that they do
# not read.
_set_up() {
  start_daemon_for_all_users
  data tallyfs >"$CASE/written"
  BEFORE=$(_descriptors)
}
_descriptors() { find "/proc/$SERVER/fd" -type l | wc -l; }

_as_nobody_py() {
  need_python
  as_nobody env PYTHONPATH="$here" CASE="$CASE" SOCK="$SOCK" STAT="$STAT" "$PYTHON" -
}
# Nothing that was sent stays open; the list of sockets of the kernel and a pipe may.
_nothing_is_left() {
  wait_until '[ "$(_descriptors)" -le $((BEFORE + 3)) ]'
  # The loop hears of the end of a channel after its process has gone.
  wait_until '[[ $(own channels) =~ ^0?$ ]]'
}
_root_is_answered() {
  py <<'EOT'
from channels import *
assert ChannelPeer().asked("create db") == "channel"
EOT
}

what_is_no_channel_is_closed_and_counted() {
  py <<'EOT'
from peer import *
from channels import *
peer = Peer()
def refused(fds, datagram=header() + request(1, "")):
    socket.send_fds(peer.socket, [datagram], fds)
for make in (os.pipe, lambda: pair(socket.SOCK_DGRAM), lambda: pair(socket.SOCK_STREAM)):
    for end in make():
        refused([end])
        os.close(end)
for fd in (os.open("/dev/null", os.O_RDWR), os.open("/", os.O_PATH), socket.socket().detach(),
           os.open(f"{os.environ['STAT']}/tallyfs/data", os.O_RDONLY)):
    refused([fd])
    os.close(fd)
ours, theirs = pair()
refused([theirs, theirs])       # one too many
refused([theirs], b"web/n 1\n")  # that asks for nothing
refused([theirs], header() + dropped(0))
os.close(theirs)
assert hung_up(ours), "a process still holds it"
assert own("fds_refused") == 13, own("fds_refused")
assert peer.socket.recv(65536), "at the address"
EOT
  _nothing_is_left
}

# Of each kind of a close that waits for a reader.
a_close_that_waits_delays_nobody() {
  _as_nobody_py <<'EOT'
from peer import *
from channels import *
peer, polite = Peer(), Peer()
for _ in range(20):
    with lingering() as each:
        socket.send_fds(peer.socket, [header() + request(1, "")], [each.fileno()])
        socket.send_fds(peer.socket, [header() + request(1, "")], [each.fileno()] * 2)
begun = time.monotonic()
assert polite.ask("create web") == (0, 0)
assert time.monotonic() - begun < time_limit(4), "it waited for one of them"
EOT
}

# Which no signal ends. The server can be replaced all the same, and the daemon ends.
a_file_system_that_does_not_answer_delays_nobody() {
  local holder
  PYTHONPATH=$here "$PYTHON" - >"$CASE/holder" 2>&1 <<'EOT' &
from peer import *
from channels import *
slow = SlowFile(f"{os.environ['CASE']}/slow")
try:
    peer = Peer()
    for _ in range(3): socket.send_fds(peer.socket, [header() + request(1, "")], [slow.fd])
    for _ in range(3): peer.answers()
    wait_until(lambda: slow.held)
    assert ChannelPeer().asked("create web") == "channel"
    assert own("fds_refused") == 3
    # So many wait to be closed. Beyond, the kernel drops what comes, and its sender is answered.
    for _ in range(300):
        socket.send_fds(peer.socket, [header() + request(1, "")], [slow.fd])
        peer.answers()
    assert own("fds_refused") == 303
    open(f"{os.environ['CASE']}/holds", "w").close()
    wait_until(lambda: os.path.exists(f"{os.environ['CASE']}/over"))
finally:
    slow.end()
EOT
  holder=$!
  wait_until '[ -e "$CASE/holds" ] || ! kill -0 '$holder' 2>/dev/null' 60
  [ -e "$CASE/holds" ] || fail "$(cat "$CASE/holder")"
  within 30 "$TALLYFS" --reload "$MNT" || fail 'it is not replaced'
  TALLY_SOCKET=$SOCK "$TALLY_SEND" 'web/hits 1'
  stop_daemon
  touch "$CASE/over"
  wait $holder || fail "$(cat "$CASE/holder")"
}

no_uid_has_more_channels_than_it_may() {
  _as_nobody_py <<'EOT'
from peer import *
from channels import *
peers = [PeerProcess() for _ in range(70)]
ways = [peer.asked("create web") for peer in peers]
assert ways == ["channel"] * 64 + ["address"] * 6, ways
# Another one of the same socket takes its place.
assert peers[0].retry("create web") == "channel"
for peer in peers[:10]: peer.close()
late = PeerProcess()
wait_until(lambda: late.retry("create web") == "channel")
EOT
  [ "$(own fds_refused)" -ge 6 ] || fail 'they do not count'
  _root_is_answered
  _nothing_is_left
}

a_process_has_one_channel() {
  py <<'EOT'
from peer import *
from channels import *
first, second = ChannelPeer(), ChannelPeer()
assert [each.asked("create web") for each in (first, second)] == ["channel", "address"]
assert own("fds_refused") == 1
# Another one of the same socket takes its place, and one of another socket after its end.
assert first.retry("create web") == "channel"
assert second.retry("create web") == "address"
first.close()
assert second.retry("create web") == "channel"
EOT
}

a_process_with_two_uids_is_answered_over_its_channel() {
  py <<'EOT'
from peer import *
from channels import *
os.setresuid(65534, 0, 0)
assert ChannelPeer().asked("") == "channel"
os.setresuid(0, 65534, 0)
assert ChannelPeer().asked("") == "channel"
EOT
}

a_channel_that_is_not_read_delays_nobody_and_has_its_bounds() {
  _as_nobody_py <<'EOT'
from peer import *
from channels import *
polite = PeerProcess()
deaf = [PeerProcess(deaf=True) for _ in range(60)]
requests = header() + b"".join(request(1, "create web/x type=list") for _ in range(100))
for peer in deaf: peer.call("send_bytes", requests, 20)
unread = sum(peer.call("unread") for peer in deaf)
assert 0 < unread < 4 << 20, "it may have a part of 4 MiB"
for peer in deaf: peer.close()
polite.call("ask_until_answered")
wait_until(lambda: polite.retry("create web") == "channel")
EOT
  [ $(($(own answers_dropped) + $(own answers_over_share))) -gt 0 ] || fail 'all were answered'
  _root_is_answered
  _nothing_is_left
}

# As fast as it can, channels and others.
a_flood_of_descriptors_leaves_none() {
  _as_nobody_py <<'EOT'
from peer import *
from channels import *
peer = Peer(bound=False)
datagram = header() + request(1, "")
out, into = os.pipe()
ours, theirs = pair()
for _ in range(fewer(3000)):
    for fds in ([theirs], [into], [into] * 100):
        socket.send_fds(peer.socket, [datagram], fds)
for fd in (into, theirs, ours): os.close(fd)
peer.socket.close()
assert os.read(out, 1) == b"", "a process still holds it"
EOT
  _nothing_is_left
}

# Channels, files of the mount itself, and channels that are not read, without a pause. Meanwhile
# others are served, and the server is replaced; at last the daemon ends. While too many descriptors
# wait to be closed, the kernel drops those of others, too, which then send another channel.
_flood() {
  _as_nobody_py 3<"$STAT/tallyfs/data" <<'EOT' &
from peer import *
from channels import *
datagram = header() + b"".join(request(1, "create web/x type=list") for _ in range(20))
file = 3
case = os.environ["CASE"]
def is_over():
    """Or the case has failed."""
    return not os.path.exists(case) or os.path.exists(f"{case}/over")
for _ in range(8):
    if os.fork() != 0: continue
    deaf = ChannelPeer(deaf=True)
    while not is_over():
        with contextlib.suppress(OSError):
            for _ in range(20): deaf.socket.send(datagram, socket.MSG_DONTWAIT)
        time.sleep(0.001)
    os._exit(0)
floods = [Peer(bound=False) for _ in range(8)]
while not is_over():
    # The queue is full, too many are on their way, or the daemon has ended.
    with contextlib.suppress(OSError):
        for peer in floods:
            made = pair()
            try:
                for fds in (made[1:], [file], [file] * 100):
                    socket.send_fds(peer.socket, [datagram], fds, socket.MSG_DONTWAIT)
            finally:
                for fd in made: os.close(fd)
EOT
  FLOOD=$!
  wait_until '[ "$(own fds_refused)" -gt 100 ]'
}
_others_are_served() {
  py <<'EOT'
from peer import *
from channels import *
peer = ChannelPeer()
wait_until(lambda: peer.retry("create db/first") == "channel")
begun = time.monotonic()
for i in range(100):
    assert peer.asked(f"create db/s{i}") == "channel"
    assert data("db")
assert time.monotonic() - begun < time_limit(10), time.monotonic() - begun
EOT
}

a_flood_holds_up_neither_others_nor_a_reload_nor_the_end() {
  # It takes the next use of a number for a race with what had it before.
  [ "${TALLY_PATIENCE:-1}" -lt 20 ] || skip 'ThreadSanitizer does not see who closes descriptors'
  local i most=0 now
  _flood
  for i in 1 2 3; do
    _others_are_served
    now=$(_descriptors)
    [ "$now" -le "$most" ] || most=$now
    within 30 "$TALLYFS" --reload "$MNT" || fail 'it is not replaced'
    SERVER=$(server_of "$DAEMON")
    TALLY_SOCKET=$SOCK "$TALLY_SEND" 'db/hits 1'
  done
  # 64 channels, 256 that wait to be closed, and a batch.
  [ "$most" -le $((BEFORE + 64 + 256 + 32 + 10)) ] ||
    fail "it has $most descriptors, $BEFORE before"
  stop_daemon
  touch "$CASE/over"
  wait $FLOOD
}
