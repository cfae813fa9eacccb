# Whatever feeders send, the daemon stays within its bounds and answers everybody else.
# TALLY_SEED=N repeats a case; TALLY_HOSTILE_SECONDS says how long those go on that draw (10).
_alone=timed

_set_up() { start_daemon --memory-max 24M --uid-memory 16M; }

datagrams_of_all_kinds_cost_neither_memory_nor_descriptors() {
  SERVER=$SERVER py <<'EOT'
from channels import hung_up
from hostile import *
from peer import *
rng = random.Random(SEED)
peer, unbound, polite = Peer(), Peer(bound=False), Peer()
peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 600_000)
number = polite.make("web/hits on=1")
# Of a process that has something with lifetime=feeder the daemon holds one descriptor, and no more.
polite.make("kept lifetime=feeder")
peer.epoch = polite.epoch
# What a good feeder sends, to be spoilt. (Not `tallyfs` alone, which its owner may redefine: it is
# read below.)
WORDS = ["create", "define", "remove", "attach", "switches", "a/b", "db", "db/hits", "tallyfs/samples", "on=1", "data=reset",
         "type=list", "type=array", "entries_max=1048576", "base_interval=1", "scale=log2", "lifetime=feeder", "0x7",
         "-9223372036854775808", "18446744073709551616", "/", "=", "|", "\0", "\xff", "\n", "\n", "\n"]
out, into = os.pipe()


def text():
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 60))).encode("latin1")


def binary():
    parts = [samples(rng.choice([rng.getrandbits(64), rng.randrange(40)]), range(rng.randrange(20))),
             request(rng.randrange(4), text()),
             dropped(rng.getrandbits(64)),
             message(rng.randrange(8), rng.randbytes(rng.randrange(64)), rng.getrandbits(16))]
    epoch = rng.choice([peer.epoch, 0, rng.getrandbits(64)])
    return header(epoch, rng.choice([1, 1, 1, 2])) + b"".join(rng.sample(parts, rng.randrange(1, 5)))


def forged():
    """A length that is not so, of a message or of the text in it."""
    length = rng.choice([0, 7, 8, 1 << 16, (1 << 31) - 8, (1 << 32) - 8, (1 << 32) - 1])
    return header(peer.epoch) + rng.choice([message(rng.randrange(1, 5), bytes(24), length=length),
                                            message(REQUEST, struct.pack("<II", 1, length) + b"db/hits ")])


def spoilt(datagram):
    spoilt = bytearray(datagram)
    for _ in range(rng.randrange(1, 8)):
        spoilt[rng.randrange(len(spoilt))] = rng.getrandbits(8)
    return bytes(spoilt)


def long():
    """One byte too long, or as long as may be."""
    part = rng.choice([b"x", b"\n", b"db/h 1\n", b"\xfe"])
    return (part * (262_145 // len(part) + 1))[:262_144 + rng.randrange(2)]


KINDS = [lambda: rng.randbytes(rng.randrange(4096)), text, binary, forged, lambda: spoilt(binary()),
         lambda: binary()[:rng.randrange(1, 60)], long]
data("web")
peer.socket.send(bytes(262_145))  # one at least is too long, however few are sent
socket.send_fds(peer.socket, [b"\n"], [into])  # the process that closes descriptors has a pipe
data("web")
before, start, deadline, sent, waits = descriptors(), resident_mib(), time.monotonic() + SECONDS / 2, 0, Waits()
while time.monotonic() < deadline or sent < 50:
    datagram = rng.choice(KINDS)()
    if struct.pack("<Q", number) in datagram: continue  # the polite one's samples are counted below
    to = rng.choice([peer, unbound]).socket
    try:
        if rng.randrange(4): to.send(datagram)
        else: socket.send_fds(to, [datagram], [into] * rng.randrange(1, 254))
    except OSError: pass  # the kernel refused it: longer than its buffers, or descriptors are not wanted
    sent += 1
    if sent % 50 == 0:
        polite.send(samples(number, [1]))
        wanted, cut = f"hits {sent // 50}\n", own("drains_cut")
        if waits.read("web") != wanted:  # only if it waited for as long as an open waits; then it is there soon
            assert own("drains_cut") > cut, data("web")
            while data("web") != wanted:
                assert time.monotonic() < deadline + time_limit(10), (wanted, data("web"))
print(f"{sent} datagrams, {own('rejects')} rejects, {own('truncated')} truncated")
assert own("rejects") > 0 and own("truncated") > 0
end = time.monotonic() + time_limit(30)
while descriptors() > before: assert time.monotonic() < end, (before, descriptors())
assert_resident_below(start + 24 + 8)  # the ceiling, the receiver's buffers and what malloc keeps
waits.assert_short(0.1, 1)
os.close(into)
assert hung_up(out), "a process still holds a descriptor"
EOT
  [ "$(errors | grep -c '^\[')" -le 8 ] || fail 'more than 8 entries' "$(errors)"
}

a_hundred_thousand_names_stop_at_the_bounds() {
  stop_daemon
  start_daemon
  SERVER=$SERVER py <<'EOT'
from hostile import *
from peer import *
peer, start, root = Peer(), resident_mib(), os.environ["STAT"]
made = lambda: len(os.listdir(root)) - 1
for i in range(0, 100_000, 2000):
    peer.socket.send(b"".join(b"interface_number_%d/a 1\n" % n for n in range(i, i + 2000)))
while own("rejects") + made() < 100_000: pass
print(f"{made()} interfaces made, {own('rejects')} refused")
assert made() == 65_535 and own("rejects") == 100_000 - 65_535  # the daemon's own is one of the 65,536
assert_resident_below(start + 256)
waits = Waits()
for i in range(200): assert waits.read(f"interface_number_{i * 300}") == "a 1 1 1.000 1\n"
waits.assert_short(0.1, 1)
log = lambda: open(os.environ["MNT"] + "/tracing/error_log").read()
assert "the limit of 65536 interfaces for uid" in log(), log()
# As many statistics, all of one interface.
refused = own("rejects")
for i in range(0, 300_000, 2000):
    peer.socket.send(b"".join(b"interface_number_0/s%d 1\n" % n for n in range(i, i + 2000)))
statistics = lambda: data("interface_number_0").count("\n") - 1
while own("rejects") - refused + statistics() < 300_000: pass
print(f"{statistics()} statistics made, {own('rejects') - refused} refused")
assert own("rejects") > refused and ("262144 statistics for uid" in log() or "bytes of data for uid" in log()), log()
# Readers that are served at a time each hold a text of some MiB beside the bound on data.
assert_resident_below(start + 256 + 64)
EOT
}

four_that_flood_leave_a_polite_one_and_readers_alone() {
  SERVER=$SERVER py <<'EOT'
import signal
from hostile import *
from peer import *
DONE = os.environ["CASE"] + "/done"
start, polite, children = resident_mib(), Peer(), []
number = polite.make("polite/hits on=1")
FLOODS = [lambda peer, mine: header(peer.epoch) + samples(mine, range(1000)),
          lambda peer, mine: b"flood/a 1\nflood/b 2 3\ndefine flood name=a data=reset\n" * 100,
          lambda peer, mine: random.Random(SEED).randbytes(8192) + b"\n|\n" * 500,
          lambda peer, mine: header(peer.epoch) + b"".join(request(i + 1, "flood/c 1") for i in range(100))]


def child(run):
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            run()
            status = 0
        finally:
            print(end="", flush=True)
            os._exit(status)
    children.append(pid)
    return pid


def flood(make):
    peer = Peer()
    datagram = make(peer, peer.make("flood/hits on=1"))
    peer.socket.settimeout(None)
    while os.getppid() != 1: peer.socket.send(datagram)


def read():
    waits = Waits()
    while not os.path.exists(DONE): waits.read("flood")
    # Each look at a file waits up to 20 ms for the socket to be drained, and an open looks several
    # times.
    waits.assert_short(0.3, 2)


try:
    for make in FLOODS: child(lambda: flood(make))
    # Until all of them are at it.
    while not os.path.exists(os.environ["STAT"] + "/flood/data"): pass
    while "\nc " not in data("flood") or own("rejects") < 1000 or own("samples") < 100_000: pass
    before, reader = descriptors(), child(read)
    taken = refused = 0
    total = int(300 * SECONDS)
    polite.socket.settimeout(1)
    begun = time.monotonic()
    for i in range(total):
        try:
            polite.send(samples(number, [1]))
            taken += 1
        except (socket.timeout, BlockingIOError):
            refused += 1
        time.sleep(max(0, begun + (i + 1) / 1000 - time.monotonic()))
    took = time.monotonic() - begun
    open(DONE, "w").close()
    assert os.waitpid(reader, 0)[1] == 0, "the reader"
    children.remove(reader)
    # An open may be cut short under a flood; what was sent is there soon.
    deadline = time.monotonic() + time_limit(10)
    while data("polite") != f"hits {taken}\n": assert time.monotonic() < deadline, (taken, refused, data("polite"))
    print(f"polite: {taken} taken, {refused} refused, in {took:.1f} s for {total / 1000:.1f}; {own('samples')} samples of all")
    assert descriptors() == before, (before, descriptors())
    # The ceiling, and what may wait of senders that are beyond their share (limits.md).
    assert_resident_below(start + 24 + 64)
finally:
    for pid in children: os.kill(pid, signal.SIGKILL)
    for pid in children: os.waitpid(pid, 0)
assert data("polite") == f"hits {taken}\n"
EOT
}

costly_commands_delay_only_their_sender() {
  stop_daemon
  start_daemon
  SERVER=$SERVER py <<'EOT'
import signal
from hostile import *
from peer import *
STATISTICS, LINES = int(260_000 / PATIENCE), 15_000
peer, polite = Peer(), Peer()
number = polite.make("polite/hits on=1")
peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
for i in range(0, STATISTICS, 2000):
    peer.socket.send(b"".join(b"create large/s%d\n" % n for n in range(i, i + 2000)))
peer.socket.settimeout(60 * PATIENCE)
assert peer.ask("attach large/s%d" % (STATISTICS - 1))[0] == 0
pid = os.fork()
if pid == 0:  # another process, since it is that what waits
    try:
        hostile = Peer()
        hostile.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
        hostile.socket.settimeout(None)
        flip = b"".join(b"define large on=%d\n" % (n % 2) for n in range(LINES))
        hostile.socket.send(flip[:flip.rindex(b"\n", 0, min(len(flip), 200_000)) + 1])
        while True: signal.pause()
    finally: os._exit(1)
try:
    while own("put_off") == 0: polite.ask("")
    commands, longest, waits = own("commands"), 0, []
    deadline = time.monotonic() + SECONDS / 2
    while time.monotonic() < deadline:
        begun = time.monotonic()
        polite.send(samples(number, [1]))
        assert polite.ask("attach polite/hits") == (0, number)
        waits.append(time.monotonic() - begun)
    waits.sort()
    print(f"{len(waits)} asked: median {waits[len(waits) // 2] * 1e3:.2f} ms, longest {waits[-1] * 1e3:.2f} ms; "
          f"{own('commands') - commands - len(waits)} commands of the other's meanwhile")
    assert waits[len(waits) // 2] < time_limit(0.5) and waits[-1] < time_limit(5), waits[-5:]
    assert data("polite") == f"hits {len(waits)}\n"
    assert own("commands") > commands + len(waits), "what was put off must go on"
    assert own("rejects") == 0
finally:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
EOT
}

feeders_of_users_that_read_no_answers_leave_others_theirs() {
  need_root
  chmod 755 "$CASE" "$CASE/run"
  SERVER=$SERVER py <<'EOT'
import signal
from hostile import *
from peer import *
GREEDY, POLITE = (65534, 65533, 65532), 1
pids = []
for uid in GREEDY:
    pids.append(os.fork())
    if pids[-1] == 0:
        try:
            os.setgid(65534)
            os.setuid(uid)
            deaf = [Peer() for _ in range(150)]
            for peer in deaf:
                for _ in range(4):
                    peer.send(*[request(i + 1, "create web/size type=list") for i in range(100)])
            Peer().send(request(1, f"deaf{uid}/done 1"))
            signal.pause()
        finally: os._exit(1)
try:
    deadline = time.monotonic() + time_limit(60)
    for uid in GREEDY:
        while not os.path.exists(f"{os.environ['STAT']}/deaf{uid}"):
            assert time.monotonic() < deadline
    print(f"{own('answers_over_share')} over the share, {own('answers_dropped')} dropped")
    assert own("answers_over_share") > 0
    child = os.fork()
    if child == 0:
        try:
            os.setgid(POLITE)
            os.setuid(POLITE)
            polite = Peer()
            for i in range(1000): assert polite.ask(f"attach deaf{GREEDY[0]}/nothing")[0] != 0
            os._exit(0)
        except BaseException as error: print(f"answer {i + 1}: {error!r}", flush=True)
        finally: os._exit(1)
    assert os.waitpid(child, 0)[1] == 0, ("another user's feeder was not answered",
                                          own("answers_dropped"), own("datagrams"))
    assert Peer().ask("")[0] == 0, "root's was not"
finally:
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
EOT
}

a_flood_of_samples_delays_a_thousand_readers_by_a_moment_and_loses_none() {
  need_root
  chmod 755 "$CASE" "$CASE/run"
  SERVER=$SERVER py "$(fewer 1000 300)" <<'EOT'
import mmap, signal, struct, subprocess, sys
from hostile import *
from peer import *
INTERFACES, LINE = int(sys.argv[1]), b"flood/a 1\n"
peer = Peer()
for i in range(0, INTERFACES, 100):
    peer.socket.send(b"".join(b"i%d/a 1\n" % n for n in range(i, i + 100)))
names = [f"{os.environ['STAT']}/i{i}/data" for i in range(INTERFACES)]


def read_all():
    start = time.monotonic()
    for name in names:
        with open(name, "rb") as file: assert file.read() == b"a 1 1 1.000 1\n", name
    return time.monotonic() - start


# What people do: one cat after the other. Beside it of a file without tallyfs, since the flood takes
# a CPU, for which a thousand processes wait as well.
LOOP = 'for each; do cat "$each"; done'
plain = os.environ["CASE"] + "/plain"
with open(plain, "w") as file: file.write("a 1 1 1.000 1\n")
def cat_all(files):
    start = time.monotonic()
    said = subprocess.check_output(["sh", "-c", LOOP, "sh", *files])
    took = time.monotonic() - start
    assert said == b"a 1 1 1.000 1\n" * INTERFACES
    return took


def take_times():
    """Of reads, of cats, and of cats of the plain file; the best of some."""
    rounds = 3 if SECONDS > 10 else 1
    reads = min(read_all() for _ in range(3))
    cats = [(cat_all(names), cat_all([plain] * INTERFACES)) for _ in range(rounds)]
    return [reads, *map(min, zip(*cats))]


quiet = take_times()
sent = mmap.mmap(-1, 16)  # datagrams, and a word to stop
text = LINE * (200_000 // len(LINE))
pid = os.fork()
if pid == 0:
    try:
        os.setgid(65534)
        os.setuid(65534)
        flood = Peer()
        flood.socket.settimeout(None)
        flood.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
        count = 0
        while sent[8] == 0:
            flood.socket.send(text)
            count += 1
            sent[:8] = struct.pack("<Q", count)
    finally: os._exit(0)
try:
    while struct.unpack("<Q", sent[:8])[0] < 10: assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    flooded = take_times()
    for what, without, beside in zip(("reads", "cats", "cats of a plain file"), quiet, flooded):
        print(f"measured: {INTERFACES} {what}: {without * 1e3:.0f} ms, beside a flood "
              f"{beside * 1e3:.0f} ms, {(beside - without) * 1e3:+.0f} ms")
    # What is behind a flood is counted soon, while that goes on.
    peer.socket.send(b"polite/a 1\n")
    deadline = time.monotonic() + time_limit(2)
    while not os.path.exists(os.environ["STAT"] + "/polite"): assert time.monotonic() < deadline
    assert counts("polite") == "a 1\n", data("polite")
finally: sent[8] = 1
os.waitpid(pid, 0)
# Waiting for the flood's datagrams would take 20 ms for each of them. A CPU less takes its time, as
# the cats of a plain file show.
bound = time_limit(0.01 * INTERFACES)
assert flooded[0] - quiet[0] < bound, (quiet, flooded)
of_tallyfs = [times[1] - times[2] for times in (quiet, flooded)]
assert of_tallyfs[1] - of_tallyfs[0] < bound, (quiet, flooded)
assert own("put_off") > 0 and own("drains_cut") > 0
# Beside a sanitizer the daemon is so slow that more waits than may: the rest is dropped.
dropped = own("put_off_dropped")
assert dropped == 0 or PATIENCE > 1, dropped
wanted = (struct.unpack("<Q", sent[:8])[0] - dropped) * (len(text) // len(LINE))
deadline = time.monotonic() + time_limit(20)
while counts("flood") != f"a {wanted}\n":
    assert time.monotonic() < deadline, (data("flood"), wanted)
    assert own("put_off_dropped") == dropped
assert own("rejects") == dropped
EOT
}
