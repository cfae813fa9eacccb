# Whatever a user sends, as however many uids, others wait for their opens, requests and samples at
# most 0.2 s more than beside as many busy loops. Opens and requests wait some 50 ms more.
_alone=timed

_set_up() { start_daemon_for_all_users; }
# What is left of a flood is before it in the queue.
_still_right() {
  send 'after/a 1' 'after/a 2'
  wait_until '[ "$(counts after 2>/dev/null)" = "a 2" ]'
}

# More than may wait of one sender fills the queue: each datagram takes 20 ms and more.
more_than_can_wait_is_dropped_and_delays_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, root, SOCKETS = Calm(Peer()), Peer(), 256
BODY = b"a\n" * 100_000
root.make("root/a on=1")


def flood(ready):
    sockets = [Peer(bound=False).socket for _ in range(SOCKETS)]
    for each in sockets:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MIB)
        each.settimeout(None)
    ready()
    while True:
        for each in sockets: each.send(BODY)


def attack(children):
    children.start(flood)
    deadline = time.monotonic() + time_limit(60)
    while own("put_off") == 0: assert time.monotonic() < deadline
    # Root's samples are shown soon, too.
    for sent in 1, 2, 3:
        begun = time.monotonic()
        root.socket.send(b"root/a 1\n")
        while data("root") != f"a {sent}\n": assert time.monotonic() < begun + time_limit(2)


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(1), later=.2)
assert own("rejects") >= own("put_off_dropped") > 0
EOP
  assert_has 'datagrams were dropped, the last of uid 65534' "$(cat "$CASE"/stderr.*)"
  _still_right
}

# One process sends each datagram as another uid of its namespace, none of which sends much.
uids_of_a_user_namespace_count_as_one_sender() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, SOCKETS, UIDS = Calm(Peer()), 256, 60_000
BODY = b"a\n" * 50_000


def flood(ready):
    sockets = [Peer(bound=False).socket for _ in range(SOCKETS)]
    for each in sockets:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MIB)
        each.settimeout(None)
    ready()
    sent = 0
    while True:
        for each in sockets:
            send_as(each, 1 + sent % UIDS, BODY)
            sent += 1


def attack(children):
    children.uid = 0
    children.start(as_root_of_many_uids(flood))
    deadline = time.monotonic() + time_limit(60)
    while own("put_off") == 0: assert time.monotonic() < deadline


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(1), later=.2)
EOP
  _still_right
}
