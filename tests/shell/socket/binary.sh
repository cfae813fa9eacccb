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

# A clock that has run for ten days more, where that can be had: before a day is over, a day ago is
# before all times.
_ten_days_later() {
  local later='unshare --time --monotonic 864000' each is_later
  is_later=$($later "$PYTHON" -c 'import time; print(time.monotonic() > 864000)' 2>&1) || return 0
  [ "$is_later" = True ] || return 0
  stop_daemon
  for each in "$TALLYFS" "$PYTHON"; do
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$later" "$(command -v "$each")" \
      >"$CASE/later.${each##*/}"
    chmod 755 "$CASE/later.${each##*/}"
  done
  TALLYFS=$CASE/later.${TALLYFS##*/} PYTHON=$CASE/later.${PYTHON##*/}
  start_daemon
}

times_far_away_count_as_a_day_ago_or_now() {
  need_python
  _ten_days_later
  py <<'EOT'
from peer import *
import re, time
peer = Peer()
raw = peer.make("web/raw on=1 type=raw entries_max=100")
last = peer.make("web/last on=1 type=last")
history = peer.make("web/history on=1 type=history mode=increments entries_max=5 period=3600000000")
before = time.monotonic()
said = [-2**63, -1, 0, 1, 2**63 - 1, 2**62]
for number in (raw, last, history):
    peer.send(samples(number, [(1, t) for t in said], WITH_TIME),
              samples(number, [(1, 1, t) for t in said], WITH_Y | WITH_TIME))
text = data("web")
after = time.monotonic()
rows = [float(t) for t in re.findall(r"^raw \[([0-9.]+)\]", text, re.M)]
assert len(rows) == 12, text
def is_near(t, low, high): return max(0, low) - 1e-5 <= t <= max(0, high)
day = 86400
for i, t in enumerate(rows):
    days = day if i % 6 < 4 else 0
    assert is_near(t, before - days, after - days), (i, t, before)
shown = float(re.search(r"^last \[([0-9.]+)\]", text, re.M)[1])
assert is_near(shown, before, after), text
assert own("rejects") == 0
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

each_sample_of_a_refused_message_counts() {
  py <<'EOT'
from peer import *
peer = Peer()
number, gone = peer.make("web/hits on=1"), peer.make("web/gone on=1")
assert peer.ask("remove web/gone")[0] == 0
a_thousand = [1] * 1000
here, nowhere = (5, 0, task(1, 120, "a")), (5, 2**31, task(1, 120, "a"))
bad_head = struct.pack("<II", 0, 1), struct.pack("<II", 1, 1)
full = samples(number, [(1, 2, 3)] * 1000, WITH_Y | WITH_TIME)
cut = message(SAMPLES, struct.pack("<2002q", number, *[1] * 2001), WITH_Y)
unknown = message(SAMPLES, struct.pack("<2001q", number, *[1] * 2000), 4)
refused = {
    "another epoch": (1000, samples(number, a_thousand), peer.epoch + 1),
    "no epoch": (1000, samples(number, a_thousand), 0),
    "another epoch, with Y and time": (1000, full, peer.epoch + 1),
    "no number": (1000, samples(0, a_thousand), None),
    "a number of none": (1000, samples(2**64 - 1, a_thousand), None),
    "the number of one that is gone": (1000, samples(gone, a_thousand), None),
    "a record cut in half": (1000, cut, None),
    "a flag that is unknown": (1000, unknown, None),
    "a CPU that there is not": (1000, latencies("mine", *[nowhere] * 1000), None),
    "such a CPU for some": (400, latencies("mine", *([here] * 600 + [nowhere] * 400)), None),
    "a name of the kernel's": (1000, latencies("wakeup", *[here] * 1000), None),
    "no name": (1000, latencies("a/b", *[here] * 1000), None),
    "a malformed message of latencies": (1, latencies("x", here).replace(*bad_head), None),
}
for what, (count, bad, epoch) in refused.items():
    before = own("rejects")
    peer.send(bad, epoch=epoch)
    assert own("rejects") - before == count, (what, own("rejects") - before)
assert data("web") == "hits 0\n", data("web")
before = own("rejects")
peer.socket.send(b"web/a=b 1\n" * 1000)
Peer().ask("")  # an open may be cut between two lines
assert own("rejects") - before == 1000, own("rejects") - before
peer.send(samples(number, a_thousand))
assert data("web") == "hits 1000\n" and own("rejects") - before == 1000
EOT
}

each_kernel_event_of_a_stranger_counts() {
  chmod 755 "$CASE" "$CASE/run"
  need_root
  py <<'EOT'
from peer import *
os.setgid(65534)
os.setuid(65534)
peer = Peer()
peer.ask("")
peer.send(kernel_events(*[bytes(88)] * 1000))
peer.ask("")
EOT
  assert_eq 'rejects 1000' "$(data tallyfs | grep '^rejects ')"
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
        message(REQUEST, struct.pack("<II", 0, 8) + b"create x"), message(REQUEST, struct.pack("<II", 1, 8) + b"create x", flags=2),
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
