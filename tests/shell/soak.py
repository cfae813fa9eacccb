"""A soak: feeders, users and readers at a bounded rate, for a time.

Feeders send samples as bytes and as text, and events. One of them is killed now and then, and its
successor goes on. Each keeps what it sends in memory that outlives it, so that sums are known
exactly. Users redefine and reset what is not summed up here; they make and remove interfaces and
views. Readers read every kind of file. Nothing of that may cost memory or descriptors in the end.
"""
import mmap
import os
import random
import signal
import time

from hostile import SERVER, SEED, Waits, descriptors, resident_mib
from peer import PATIENCE, WITH_Y, Peer, data, own, samples, time_limit

SECONDS = float(os.environ.get("TALLY_SOAK_SECONDS", 15))
SETTLED = min(300, SECONDS / 3)  # from then on memory and descriptors do not grow
RESIDENT_GROWTH_MIB = 8
FEEDERS = 4
PAUSE = 0.01  # between two datagrams of a feeder
LOOKS_PER_KILL = 10
ALL = "all"  # the statistic that no user touches
TYPES = ["type=value mode=increments", "type=value mode=products", "type=range", "type=last",
         "type=array range_min=0 range_max=4096 base_interval=1 scale=log2",
         "type=array range_min=0 range_max=4096 base_interval=64 scale=lin",
         "type=list entries_max=64", "type=raw entries_max=256",
         "type=quantiles precision=5 quantiles=50,99,99.9",
         "type=history mode=increments entries_max=60 period=10000",
         "type=history mode=quantiles entries_max=30 period=50000 precision=3 quantiles=50,99"]
rng = random.Random(SEED)


class Account:
    """What one feeder, and those before it, have sent: survives their kills."""

    FIELDS = ["begun", "sent", "events_begun", "events_sent"]

    def __init__(self):
        self._memory = mmap.mmap(-1, 4096)
        self._numbers = memoryview(self._memory).cast("Q")

    def __getitem__(self, name):
        return self._numbers[self.FIELDS.index(name)]

    def __setitem__(self, name, value):
        self._numbers[self.FIELDS.index(name)] = value


class Child:
    """A process that runs until it is killed. One that ends by itself has failed."""

    def __init__(self, run):
        self.pid = os.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            try:
                run()
            except BaseException:
                import traceback
                traceback.print_exc()
            finally:
                os._exit(1)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        assert os.WIFSIGNALED(status), "a process of the soak ended by itself"

    def is_there(self):
        return os.waitpid(self.pid, os.WNOHANG) == (0, 0)


def interface(feeder):
    return f"feeder_{feeder}"


def value_of(feeder):
    lines = (line.split() for line in data(interface(feeder)).splitlines())
    return int(next(words[1] for words in lines if words[0] == ALL))


def feed(feeder, account):
    peer, draws = Peer(), random.Random()
    peer.socket.settimeout(None)
    number = peer.make(f"{interface(feeder)}/{ALL} type=value mode=increments on=1")
    other = peer.make(f"{interface(feeder)}/other on=1")
    while os.getppid() != 1:
        ys = [(1, draws.getrandbits(10)) for _ in range(50)]
        account["begun"] = account["sent"] + sum(y for _, y in ys)
        xs = [draws.getrandbits(12) for _ in range(50)]
        peer.send(samples(number, ys, WITH_Y), samples(other, xs))
        account["sent"] = account["begun"]
        account["events_begun"] = account["events_sent"] + 1
        text = (f"{interface(feeder)}/text {draws.getrandbits(12)}\n"
                f"event soak/request feeder={feeder} bytes={draws.getrandbits(16)}\n")
        peer.socket.send(text.encode())
        account["events_sent"] = account["events_begun"]
        time.sleep(PAUSE)


def use():
    """Users: every line that is refused would be one that this program wrote wrongly."""
    peer, draws, made = Peer(), random.Random(), 0
    stat = os.environ["STAT"]

    def write(path, text):
        with open(f"{stat}/{path}", "w") as file: file.write(text + "\n")

    while os.getppid() != 1:
        definition = f"{interface(draws.randrange(FEEDERS))}/definition"
        act = draws.randrange(6)
        if act == 0: write(definition, f"name=other {draws.choice(TYPES)}")
        elif act == 1: write(definition, f"name=other data=reset on={draws.randrange(2)}")
        elif act == 2: write(definition, f"name=text data=reset {draws.choice(TYPES)} on=1")
        elif act == 3:
            made += 1
            peer.socket.send(b"".join(b"junk_%d/s%d %d\n" % (made % 50, i, i) for i in range(20)))
        elif act == 4:
            try: os.rmdir(f"{stat}/junk_{draws.randrange(50)}")
            except FileNotFoundError: pass
        else:
            peer.ask(f"create {interface(0)}/view of=other {draws.choice(TYPES)}")
            peer.ask(f"remove {interface(0)}/view")
        time.sleep(PAUSE)


def read():
    mount, stat, draws = os.environ["MNT"], os.environ["STAT"], random.Random()
    others = [f"{mount}/{name}" for name in (
        "statistics.json", "metrics/tallyfs.prom", "metrics/tallyfs.om", "metrics/tallyfs.pb",
        "tracing/error_log", "tracing/trace", "tracing/events/soak/request/hist")]
    while os.getppid() != 1:
        directory = f"{stat}/{draws.choice(os.listdir(stat))}"
        for path in [f"{directory}/data", f"{directory}/data.json", f"{directory}/definition",
                     draws.choice(others)]:
            try:
                with open(path, "rb") as file: file.read()
            except FileNotFoundError:  # it was removed meanwhile
                assert path not in others, path
        time.sleep(PAUSE / 4)


class Feeder:
    """One that is killed and replaced, and what came of its samples."""

    def __init__(self, feeder):
        self.feeder, self.account = feeder, Account()
        self.child = Child(lambda: feed(feeder, self.account))

    def end(self):
        """Killed within a send, it has sent its last datagram or not; the data tell which."""
        self.child.kill()
        for begun, sent, found in [("begun", "sent", value_of),
                                   ("events_begun", "events_sent", events_of)]:
            if self.account[begun] != self.account[sent] == found(self.feeder): continue
            self.account[sent] = self.account[begun]

    def has_begun(self):
        """Whether there is all that it makes, so that users find it."""
        path = f"{os.environ['STAT']}/{interface(self.feeder)}/definition"
        if not os.path.exists(path): return False
        with open(path) as file: return file.read().count("\n") == 3

    def replace(self):
        self.end()
        self.child = Child(lambda: feed(self.feeder, self.account))

    def check(self):
        """When it has ended: exactly what it sent is there."""
        found = value_of(self.feeder), events_of(self.feeder)
        sent = self.account["sent"], self.account["events_sent"]
        assert found == sent, (self.feeder, found, sent)
        return found


def events_of(feeder):
    with open(f"{os.environ['MNT']}/tracing/events/soak/request/hist") as file:
        for line in file:
            words = line.replace(",", " ").split()
            if words[:3] == ["{", "feeder:", str(feeder)]:
                return int(words[words.index("hitcount:") + 1])
    return 0


def trace_events():
    peer = Peer()
    peer.socket.send(b"event define soak/request u32 feeder; u32 bytes\n")
    events = f"{os.environ['MNT']}/tracing/events/soak/request"
    deadline = time.monotonic() + time_limit(10)
    while not os.path.exists(events): assert time.monotonic() < deadline
    with open(f"{events}/trigger", "w") as file: file.write("hist:keys=feeder:vals=bytes\n")


class Growth:
    """Of memory and descriptors, from SETTLED on. A descriptor more is there for a moment where one
    process ends as another begins: one that is lost shows in the fewest, at the end."""

    def __init__(self):
        self.start = time.monotonic()
        self.resident, self.resident_later = 0, 0
        self.descriptors, self.descriptors_at_end = 0, None

    def look(self):
        passed, resident, open_now = time.monotonic() - self.start, resident_mib(), descriptors()
        if passed < SETTLED:
            self.resident = max(self.resident, resident)
            self.descriptors = max(self.descriptors, open_now)
            return
        self.resident_later = max(self.resident_later, resident)
        if passed >= SECONDS - SETTLED:
            self.descriptors_at_end = min(self.descriptors_at_end or open_now, open_now)

    def check(self):
        print(f"resident at most {self.resident:.1f} MiB in the first {SETTLED:.0f} s, "
              f"{self.resident_later:.1f} MiB later; descriptors at most {self.descriptors}, "
              f"at least {self.descriptors_at_end} at the end")
        assert PATIENCE > 1 or self.resident_later < self.resident + RESIDENT_GROWTH_MIB
        assert self.descriptors_at_end <= self.descriptors


def soak():
    trace_events()
    feeders = [Feeder(feeder) for feeder in range(FEEDERS)]
    deadline = time.monotonic() + time_limit(10)
    while not all(each.has_begun() for each in feeders): assert time.monotonic() < deadline
    others, growth, waits, looks = [Child(use), Child(read)], Growth(), Waits(), 0
    try:
        while time.monotonic() - growth.start < SECONDS:
            time.sleep(0.2)
            growth.look()
            waits.read("tallyfs")
            assert all(each.is_there() for each in others), "a process of the soak ended by itself"
            looks += 1
            if looks % LOOKS_PER_KILL == 0: rng.choice(feeders).replace()
    finally:
        for each in others: each.kill()
        for each in feeders: each.end()
    sums = [each.check() for each in feeders]
    print(f"{own('samples')} samples, {own('commands')} commands, "
          f"{sum(events for _, events in sums)} events, {looks // LOOKS_PER_KILL} feeders killed, "
          f"in {SECONDS:.0f} s")
    for lost in ["rejects", "dropped", "truncated", "events_lost"]: assert own(lost) == 0, lost
    assert looks >= LOOKS_PER_KILL
    growth.check()
    waits.assert_short(0.1, 1)
