# The binary form of core/wire/FORMAT.md, spoken by peer.py.

the_golden_bytes_of_the_format_are_understood() {
  local format=$here/../../core/wire/FORMAT.md
  [ -r "$format" ] || skip 'no FORMAT.md here'
  py "$format" <<'EOT'
from peer import *
import re, sys
golden = {name: bytes.fromhex(block) for name, block in re.findall(r"```golden (\S+)\n(.*?)```", open(sys.argv[1]).read(), re.S)}
example, answer = golden["samples-and-request"], golden["answer"]
number, epoch = 7, 0x1122334455667788
# What peer.py writes are these bytes.
assert header(epoch) + samples(number, [(5, 2), (-1, 2)], WITH_Y) + request(1, "attach web/hits") == example
assert header(epoch) + samples(0x100000005, [(-9, 3, 1000000001)], WITH_Y | WITH_TIME) + \
    samples(0x100000005, [(1, 1000000001), (2, 1000000002)], WITH_TIME) + samples(7, [1, 2]) + dropped(12) == golden["all-records"]
# The daemon's epoch and number are put in where the example has others.
peer = Peer()
real = peer.make("web/hits on=1 type=raw entries_max=5")
peer.socket.send(example.replace(struct.pack("<Q", epoch), struct.pack("<Q", peer.epoch), 1)
                        .replace(struct.pack("<Q", number), struct.pack("<Q", real), 1))
got = peer.socket.recv(4096)
assert got == answer.replace(struct.pack("<Q", epoch), struct.pack("<Q", peer.epoch)).replace(struct.pack("<Q", number), struct.pack("<Q", real)), got
assert [l.split()[2:] for l in data("web").splitlines()] == [["0", "5", "2"], ["1", "-1", "2"]], data("web")
EOT
}

samples_have_all_combinations_of_fields() {
  py <<'EOT'
from peer import *
import time
peer = Peer()
number = peer.make("web/r on=1 type=raw entries_max=100")
t = time.monotonic_ns() - 5 * 10**9
peer.send(samples(number, [1, -2]), samples(number, [(3, 30), (4, 2**64 - 1)], WITH_Y),
          samples(number, [(5, t)], WITH_TIME), samples(number, [(-2**63, 60, t), (2**63 - 1, 0, t)], WITH_Y | WITH_TIME))
rows = [l.split()[1:] for l in data("web").splitlines()]
assert [r[1:] for r in rows] == [["0", "1", "1"], ["1", "-2", "1"], ["2", "3", "30"], ["3", "4", str(2**64 - 1)],
    ["4", "5", "1"], ["5", str(-2**63), "60"], ["6", str(2**63 - 1), "0"]], rows
stamp = f"[{t // 10**9}.{t // 1000 % 10**6:06}]"
assert [r[0] for r in rows[4:]] == [stamp] * 3, rows
EOT
}

create_and_attach_give_the_same_number_to_all_feeders() {
  py <<'EOT'
from peer import *
a, b = Peer(), Peer()
number = a.make("web/hits on=1")
assert b.make("web/hits") == number and b.ask("attach web/hits") == (0, number)
assert a.epoch == b.epoch
assert a.make("web/others") != number
assert a.ask("create db") == (0, 0)
assert a.ask("define web on=0") == (0, 0)
EOT
}

a_request_is_answered_with_an_errno() {
  py <<'EOT'
from peer import *
from errno import *
peer = Peer()
peer.make("web/hits")
for text, wanted in (("attach web/none", ENOENT), ("attach none/none", ENOENT), ("define none on=1", ENOENT),
                     ("define web name=none on=1", ENOENT), ("remove none", ENOENT), ("remove web/none", ENOENT),
                     ("define web on=2", EINVAL), ("create web/x type=list", EINVAL), ("create web/x type=foo", EINVAL),
                     ("nonsense", EINVAL), ("web/hits many", EINVAL), ("web/hits 1|c", EINVAL)):
    assert peer.ask(text) == (wanted, 0), (text, peer.ask(text))
assert peer.ask("web/hits 1")[0] == 0
assert peer.ask("remove web")[0] == 0
assert peer.ask("attach web/hits")[0] == ENOENT
EOT
}

a_sender_without_the_right_is_answered_eperm() {
  send 'web/a 1'
  need_python
  cat >"$CASE/ask.py" <<'EOT'
import errno, sys
sys.path.insert(0, sys.argv[1])
from peer import *
peer = Peer()
for text in ("define web on=0", "remove web", "remove web/a", "create web/b"):
    assert peer.ask(text) == (errno.EPERM, 0), text
EOT
  cp peer.py "$CASE"
  chmod 644 "$CASE"/*.py
  as_nobody "$PYTHON" "$CASE/ask.py" "$CASE"
}

more_than_the_ledger_holds_is_answered_enospc() {
  stop_daemon
  start_daemon --memory-max 1M
  py <<'EOT'
from peer import *
from errno import *
peer = Peer()
assert peer.ask("create web/x type=raw entries_max=1000000") == (ENOSPC, 0)
assert "web" not in os.listdir(os.environ["STAT"])
peer.make("web/x type=raw entries_max=100")
assert peer.ask("define web name=x entries_max=1000000") == (ENOSPC, 0)
EOT
}

several_requests_of_one_datagram_are_answered_in_order() {
  py <<'EOT'
from peer import *
peer = Peer()
peer.send(*(request(i, f"create web/statistic_{i}" if i % 3 else "nonsense") for i in range(1, 1001)))
answers = []
while len(answers) < 1000: answers += peer.answers()
assert [a[0] for a in answers] == list(range(1, 1001))
assert all((a[1] != 0) == (a[0] % 3 == 0) for a in answers)
EOT
}

samples_before_a_request_of_their_datagram_count_before_it() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits on=1")
peer.send(samples(number, [1, 1]), request(9, "define web on=0"), samples(number, [1]))
peer.answers()
assert data("web") == "hits 2\n"
EOT
}

another_epoch_or_number_is_answered_estale_once_per_datagram() {
  py <<'EOT'
from peer import *
from errno import *
peer = Peer()
number = peer.make("web/hits on=1")
ours = peer.epoch
for epoch, num in ((ours + 1, number), (0, number), (ours, number + 1), (ours, 0), (ours, number + (1 << 32)), (ours, 2**64 - 1)):
    peer.send(samples(num, [1]), samples(num, [1]), epoch=epoch)
    assert peer.answers() == [(0, ESTALE, 0)], (epoch, num)
    assert peer.silent(), "answered twice"
    assert peer.epoch == ours
assert data("web") == "hits 0\n" and own("rejects") == 12, own("rejects")
EOT
}

the_number_of_a_removed_statistic_is_never_used_again() {
  py <<'EOT'
from peer import *
from errno import *
peer = Peer()
old = peer.make("web/hits on=1")
seen = {old}
for i in range(50):
    assert peer.ask("remove web/hits")[0] == 0
    peer.send(samples(old, [1]))
    assert peer.answers() == [(0, ESTALE, 0)]
    new = peer.make("web/hits on=1")
    assert new not in seen
    seen.add(new)
    assert data("web") == "hits 0\n"
assert peer.ask("remove web")[0] == 0
assert peer.make("web/hits on=1") not in seen
EOT
}

a_restarted_daemon_has_another_epoch() {
  py <<<'from peer import *; peer = Peer(); peer.make("web/a"); open(os.environ["CASE"] + "/epoch", "w").write(str(peer.epoch))'
  stop_daemon
  start_daemon
  py <<'EOT'
from peer import *
from errno import *
peer = Peer()
old = int(open(os.environ["CASE"] + "/epoch").read())
number = peer.make("web/a on=1")
assert peer.epoch != old
peer.send(samples(number, [1]), epoch=old)
assert peer.answers() == [(0, ESTALE, 0)] and data("web") == "a 0\n"
EOT
}

samples_are_not_answered_and_unbound_senders_never() {
  py <<'EOT'
from peer import *
bound, unbound = Peer(), Peer(bound=False)
number = bound.make("web/hits on=1")
bound.send(samples(number, [1]))
unbound.send(samples(number, [1]), request(5, "create web/more"), request(6, "nonsense"), epoch=bound.epoch)
unbound.send(samples(number + 1, [1]), epoch=bound.epoch)
assert bound.silent() and unbound.silent()
assert data("web") == "hits 2\nmore 0\n"
EOT
}

a_bad_length_refuses_its_message_and_all_that_follow() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits on=1")
good = samples(number, [1])
rejects = 0
for bad in (message(SAMPLES, struct.pack("<Qq", number, 1), length=length) for length in (20, 12, 1, 4096, 0xfffffff8, 0xffffffff)):
    before = int(data("web").split()[1])
    peer.send(good, bad, good)
    assert data("web") == f"hits {before + 1}\n", (bad, before, data("web"))
    assert own("rejects") == rejects + 1, bad
    rejects += 1
for cut in range(1, len(good)):
    before = int(data("web").split()[1])
    peer.send(good, good[:cut])
    assert data("web") == f"hits {before + 1}\n", cut
    assert own("rejects") == rejects + 1, cut
    rejects += 1
assert peer.silent()
EOT
}

what_does_not_fit_its_kind_refuses_that_message_only() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits on=1")
good = samples(number, [1])
bads = [message(9, bytes(8)), message(0, b""), message(SAMPLES, struct.pack("<Qq", number, 1), flags=4), message(SAMPLES, struct.pack("<Qq", number, 1), flags=0x8000),
        message(SAMPLES, b""), message(SAMPLES, struct.pack("<Qq", number, 1), flags=WITH_Y), message(SAMPLES, struct.pack("<Qqqq", number, 1, 1, 1), flags=WITH_Y),
        message(REQUEST, b""), message(REQUEST, struct.pack("<II", 1, 100) + b"create x"), message(REQUEST, struct.pack("<II", 1, 0xffffffff) + b"create x"),
        message(REQUEST, struct.pack("<II", 0, 8) + b"create x"), message(REQUEST, struct.pack("<II", 1, 8) + b"create x", flags=1),
        message(3, struct.pack("<IIQ", 1, 0, 1))]
for i, bad in enumerate(bads):
    peer.send(bad, good, bad, good)
    assert data("web") == f"hits {2 * (i + 1)}\n", (bad, data("web"))
assert own("rejects") == 2 * len(bads), (own("rejects"), 2 * len(bads))
assert os.listdir(os.environ["STAT"]) == ["tallyfs", "web"], os.listdir(os.environ["STAT"])
EOT
}

no_records_are_no_samples() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits on=1")
peer.send(samples(number, []), samples(number, [1]))
assert data("web") == "hits 1\n"
EOT
}

another_version_refuses_the_whole_datagram() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits on=1")
for version in (0, 2, 0xffff):
    peer.send(samples(number, [1]), request(3, "create web/more"), version=version)
assert data("web") == "hits 0\n" and own("rejects") == 3 and peer.silent()
EOT
}

half_a_header_is_refused() {
  py <<'EOT'
from peer import *
peer = Peer()
whole = header(1) + request(1, "create web/a")
for size in range(1, 16): peer.socket.send(whole[:size])
peer.socket.send(b"\xfeABC" + whole[4:])
assert own("rejects") == 16 and os.listdir(os.environ["STAT"]) == ["tallyfs"]
EOT
}

requests_hold_one_line() {
  py <<'EOT'
from peer import *
from errno import *
peer = Peer()
error, number = peer.ask("create web/a\ncreate web/b")
names = os.listdir(os.environ["STAT"] + "/web") if "web" in os.listdir(os.environ["STAT"]) else []
assert not names or "name=b" not in open(os.environ["STAT"] + "/web/definition").read(), "two commands in one request"
EOT
}
