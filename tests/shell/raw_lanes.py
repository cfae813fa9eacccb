"""Lane files (core/lane/FORMAT.md) as a feeder that means harm fills them, and what others wait
for meanwhile."""
import ctypes
import faulthandler
import fcntl
import mmap
import os
import signal
import socket
import struct
import time

from peer import PATIENCE, Peer, data, header, message, time_limit

BINDING = 13
ENTRIES, ENTRIES_AT, HEAP_AT = 1024, 4096, 69_632
CELL_BYTES = 192
MIB = 1 << 20
F_ADD_SEALS, F_SEAL_FUTURE_WRITE = 1033, 16


class Lane:
    """The index of all threads begins at HEAP_AT, and the cells behind it."""

    def __init__(self, peer, mib=4, seals=True):
        self.peer, self.bytes = peer, mib * MIB
        error, self.number = peer.ask(f"lane {self.bytes}")
        assert error == 0, (peer.reason, error)
        self.fd = peer.attached.pop()
        self.memory = mmap.mmap(self.fd, self.bytes)
        if seals: self.seal()
        self.words = memoryview(self.memory).cast("Q")

    def seal(self):
        """Before anything is bound."""
        fcntl.fcntl(self.fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE)

    def changed(self):
        self.words[2] += 1

    def fill(self, numbers, era, ids, entries, indexes=1):
        """Cells of increments, one for each id and index, which the entries name in turn; each has
        one sample of 1. numbers: of one statistic, or of one for each id."""
        if isinstance(numbers, int): numbers = [numbers] * ids
        index_bytes = 4 * ids
        cells_at = (HEAP_AT + index_bytes * indexes + 63) // 64 * 64
        places = [cells_at + CELL_BYTES * i for i in range(ids * indexes)]
        assert places[-1] + CELL_BYTES <= self.bytes
        self.memory[HEAP_AT:HEAP_AT + index_bytes * indexes] = struct.pack(
            f"<{len(places)}I", *places)
        cell = struct.Struct("<QIIII40xQQQQ32x64x")
        self.memory[cells_at:cells_at + CELL_BYTES * len(places)] = b"".join(
            cell.pack(numbers[i], era, 1, i, 0, 1, 1, 0, 1) for i in range(ids)) * indexes
        self.memory[ENTRIES_AT:ENTRIES_AT + 64 * entries] = b"".join(
            struct.pack("<IIQ48x", 1, 0, ids << 32 | HEAP_AT + index_bytes * (i % indexes))
            for i in range(entries))
        self.changed()
        self.totals_at = (cells_at + 64) // 8 + 3  # of the first cell

    def bind(self, *numbers, at_once=500):
        """An id for each, from 0 on."""
        for first in range(0, len(numbers), at_once):
            some = numbers[first:first + at_once]
            self.peer.send(*[
                message(BINDING, struct.pack("<IIQQ", i + 1, first + i, self.number, each))
                for i, each in enumerate(some)])
            answered = 0
            while answered < len(some):
                for _, error, _ in self.peer.answers():
                    assert error == 0, (self.peer.reason, error)
                    answered += 1

    def add(self, count, id=0):
        """To the cell of an id in the first index, as its only thread does."""
        at = self.totals_at + CELL_BYTES // 8 * id
        self.words[at] += count
        self.words[at - 2] += count


def lanes():
    """How many there are."""
    shown = [line for line in data("tallyfs").splitlines() if line.startswith("lanes ")]
    return int(shown[0].split()[-1]) if shown else 0


def await_lanes(count):
    """Until those of processes that have ended are gone."""
    deadline = time.monotonic() + time_limit(10)
    while lanes() != count: assert time.monotonic() < deadline, f"there are {lanes()} lanes"


class Shapes:
    def __init__(self, peer):
        error, size = peer.ask("shapes")
        assert error == 0, error
        self.page = mmap.mmap(peer.attached.pop(), size, mmap.MAP_SHARED, mmap.PROT_READ)

    def era(self, number):
        return struct.unpack_from("<I", self.page, 64 * (number & 0xFFFFFFFF))[0]


class Children:
    """Processes of another user, which end with the block."""

    def __init__(self, uid=65534):
        self.uid, self.pids = uid, []

    def __enter__(self):
        return self

    def start(self, run):
        """It ends, or says with a byte that it is ready."""
        out, into = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                faulthandler.unregister(signal.SIGTERM)
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)
                if self.uid:
                    os.setgid(65534)
                    os.setuid(self.uid)
                    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
                run(lambda: os.write(into, b"r"))
                os._exit(0)
            except BaseException as error:
                print("a child:", repr(error), flush=True)
                os._exit(1)
        os.close(into)
        self.pids.append(pid)
        assert os.read(out, 1) == b"r", "a child has failed"
        os.close(out)
        return pid

    def __exit__(self, *_):
        for pid in self.pids: os.kill(pid, signal.SIGKILL)
        for pid in self.pids: os.waitpid(pid, 0)


def as_root_of_many_uids(run, first=100_000, count=65_536):
    """run, as the root of a user namespace with these uids, as subuid(5) gives them to a user. Of a
    Children(0)."""
    def inside(ready):
        unshared, mapped = os.pipe(), os.pipe()
        me = os.getpid()
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            os.close(unshared[1])
            if os.read(unshared[0], 1):
                for kind in "gid", "uid":
                    with open(f"/proc/{me}/{kind}_map", "w") as file:
                        file.write(f"0 {first} {count}\n")
                os.write(mapped[1], b"m")
            os._exit(0)
        os.setgid(65534)
        os.setuid(65534)
        libc = ctypes.CDLL(None, use_errno=True)
        CLONE_NEWUSER = 0x10000000
        assert libc.unshare(CLONE_NEWUSER) == 0, os.strerror(ctypes.get_errno())
        os.write(unshared[1], b"u")
        os.close(mapped[1])
        assert os.read(mapped[0], 1) == b"m", "no uids"
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        libc.prctl(1, signal.SIGKILL)
        run(ready)
    return inside


def send_as(sock, uid, *parts):
    """Of such a root: as another uid of the namespace."""
    sock.sendmsg(parts, [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS,
                          struct.pack("iii", os.getpid(), uid, 0))])


class PeerOfUid(Peer):
    """Sends as this uid of the namespace."""
    uid = 0

    def send(self, *messages):
        send_as(self.socket, self.uid, header(self.epoch), *messages)


def crowd(ready):
    """Lanes with as many places as there may be, of few cells, or of as many."""
    peer, ids = Peer(), 128
    number = peer.make("hostile/a on=1")
    era = Shapes(peer).era(number)
    lanes = [Lane(peer) for _ in range(8)]
    for i, lane in enumerate(lanes):
        lane.fill(number, era, ids, 160, 160 if i % 2 else 1)
        lane.bind(*[number] * ids)
    ready()
    signal.pause()


def end_again_and_again(ready):
    """Processes with 2,000 ids of the same statistic."""
    number = Peer().ask("attach hostile/a")[1]
    ready()
    while True:
        pid = os.fork()
        if pid == 0:
            Lane(Peer()).bind(*[number] * 2000)
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(0.05)


def busy(ready):
    ready()
    while True: pass


def slowness():
    """How many times longer than on an idle CPU something takes now that needs 2 ms of it."""
    begun, cpu = time.monotonic(), time.thread_time()
    while time.thread_time() - cpu < 0.002: pass
    return (time.monotonic() - begun) / 0.002


class Calm:
    """Another's interface: how long its opens and requests take."""

    def __init__(self, peer):
        self.peer = peer
        self.number = peer.make("calm/a on=1")

    def once(self):
        times, begun = [], time.monotonic()
        def note():
            nonlocal begun
            now = time.monotonic()
            times.append(now - begun)
            begun = now
        data("calm")
        note()
        assert self.peer.ask("attach calm/a") == (0, self.number)
        note()
        with open(os.environ["MNT"] + "/statistics.json") as file: file.read()
        note()
        with open(os.environ["MNT"] + "/metrics/tallyfs.prom") as file: file.read()
        note()
        return times

    def at_most(self, seconds, share):
        """Of opens, of requests, of statistics.json, of metrics, and of slowness(): what so many of
        them take at most, but for the longest: the 99th percentile of 100 would be the one moment
        that the machine had no time. A slow one has longer for 150 rounds."""
        begun = time.monotonic()

        def goes_on(rounds):
            passed = time.monotonic() - begun
            return passed < seconds or (rounds < 150 and passed < 3 * seconds)
        return self.at_most_while(goes_on, share)

    def at_most_while(self, goes_on, share):
        """goes_on(rounds so far)"""
        rounds = [[*self.once(), slowness()]]
        while goes_on(len(rounds)): rounds.append([*self.once(), slowness()])
        columns = [sorted(column) for column in zip(*rounds)]
        index = max(0, min(len(rounds) - 2, int(len(rounds) * share)))
        return [column[index] for column in columns]


class Narrow(Calm):
    """Its opens and requests alone: files of all take as long as there is much to show."""

    def once(self):
        begun = time.monotonic()
        data("calm")
        opened = time.monotonic()
        assert self.peer.ask("attach calm/a") == (0, self.number)
        return [opened - begun, time.monotonic() - opened]


def ask_for_sizes(interface):
    """A process that asks for the size of its file data all the time."""
    def run(ready):
        ready()
        while True: os.stat(f"{os.environ['STAT']}/{interface}/data")
    return run


def busy_loops(count):
    def start(children):
        for _ in range(count): children.start(busy)
    return start


def assert_others_wait_no_longer(calm, seconds, attack, control, share=.99, later=.1,
                                 goes_on=None):
    """Than beside the control, but for so many seconds of an idle CPU. attack(children) starts the
    attackers, control(children) as many processes that mean no harm. goes_on() says whether the
    attack does; without it, it is so many seconds long. A sanitizer slows the daemon alone, so that
    beside one all must be answered, but not soon: there is no control."""
    def at_most_beside(start, seconds, goes_on=None):
        with Children() as children:
            start(children)
            if goes_on: return calm.at_most_while(lambda _: goes_on(), share)
            return calm.at_most(seconds, share)

    if PATIENCE > 1:
        at_most_beside(attack, seconds, goes_on)
        print("TIMES ARE NOT JUDGED beside a sanitizer", flush=True)
        return
    *quiet, slow = at_most_beside(control, seconds / 2)
    *attacked, _ = at_most_beside(attack, seconds, goes_on)
    # The machine may have begun other work since then.
    later *= max(1, slow, at_most_beside(control, seconds / 2)[-1])
    what = ["data", "a request", "statistics.json", "metrics"][:len(quiet)]
    for name, times in ("control", quiet), ("attack", attacked):
        print(f"measured: ms of {', '.join(what)} beside {name}:",
              *(f"{each * 1e3:.1f}" for each in times), flush=True)
    print(f"measured: {later * 1e3:.0f} ms more are allowed", flush=True)
    for before, after in zip(quiet, attacked):
        assert after <= before + later, (quiet, attacked)
