"""The binary form of core/wire/FORMAT.md, written down a second time, for tests."""
import faulthandler
import mmap
import os
import signal
import socket
import struct
import sys

# A case that takes too long is ended by this signal: it says where it waited.
faulthandler.register(signal.SIGTERM, chain=True)

MAGIC = b"\xfeTLY"
SAMPLES, REQUEST, ANSWER, DROPPED, BLOB, TEMPLATE, KERNEL_EVENTS, LATENCIES = 1, 2, 3, 4, 5, 6, 7, 8
WITH_Y, WITH_TIME = 1, 2
# How many times slower a sanitizer makes the daemon.
PATIENCE = float(os.environ.get("TALLY_PATIENCE", 1))
# How many times longer than on an idle CPU a thing may take (lib.sh).
SLOWNESS = float(os.environ.get("TALLY_SLOWNESS", PATIENCE))


def time_limit(seconds):
    """For what takes at most `seconds` beside an idle CPU: more with a sanitizer or under load."""
    return seconds * SLOWNESS


def freeze(pid):
    """Stops a process. It returns when every thread stands still: kill(2) returns before."""
    os.kill(pid, signal.SIGSTOP)
    tasks = f"/proc/{pid}/task"
    def state(task):
        return open(f"{tasks}/{task}/stat").read().rsplit(")")[1].split()[0]
    while any(state(task) != "T" for task in os.listdir(tasks)): pass


def header(epoch=0, version=1, zero=0):
    return MAGIC + struct.pack("<HHQ", version, zero, epoch)


def message(kind, body, flags=0, length=None):
    return struct.pack("<HHI", kind, flags, len(body) if length is None else length) + body


def samples(number, xs, flags=0):
    """xs: numbers, or tuples of as many fields as the flags say."""
    fields = [tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in xs]
    code = "<q" + ("Q" if flags & WITH_Y else "") + ("q" if flags & WITH_TIME else "")
    return message(SAMPLES, struct.pack("<Q", number) + b"".join(struct.pack(code, *f) for f in fields), flags)


def request(sequence, text):
    text = text.encode() if isinstance(text, str) else text
    padded = text + bytes(-len(text) % 8)
    return message(REQUEST, struct.pack("<II", sequence, len(text)) + padded)


def dropped(count):
    return message(DROPPED, struct.pack("<Q", count))


def blob(number, data):
    return message(BLOB, struct.pack("<Q", number) + data + bytes(-len(data) % 8))


def template(sequence, name, voi_names, data):
    texts = [name.encode(), data] + [each.encode() for each in voi_names]
    body = struct.pack("<II", sequence, len(voi_names)) + b"".join(struct.pack("<I", len(t)) + t for t in texts)
    return message(TEMPLATE, body + bytes(-len(body) % 8))


def u32_sum(name, voi, total=0):
    """(hash, blob) of a template NAME with a VOI 0, VOI, u32, of which the sum is kept."""
    def blob_with(hash, number):
        return (struct.pack("<BBHHHIHHqq", 1, 1, 0, 60, 60, hash, 40, 56, 0, 0) + struct.pack("<hBbHH", 0, 2, 1, 40, 0)
                + struct.pack("<bBHHBB", -1, 0, 0, 0, 0, 0) + struct.pack("<bBHHBBI", 1, 2, 56, 4, 0, int(number != 0), number))
    hash = 0
    for byte in name.encode() + voi.encode() + blob_with(0, 0):
        hash = (hash * 33 + byte) % 2**32
    return hash, blob_with(hash, total)


def task(pid, priority, name):
    return struct.pack("<ii16s", pid, priority, name.encode())


def latencies(name, *records):
    """records: (latency in ns, CPU, task)"""
    padded = name.encode() + bytes(-len(name) % 8)
    body = b"".join(struct.pack("<qqII", ns, 0, cpu, 0) + whose for ns, cpu, whose in records)
    return message(LATENCIES, struct.pack("<II", 0, len(name)) + padded + body)


def kernel_events(*records):
    return message(KERNEL_EVENTS, b"".join(records))


class Peer:
    def __init__(self, path=None, bound=True):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(10 * PATIENCE)
        if bound:
            self.socket.bind("")
        self.socket.connect(path or os.environ["SOCK"])
        self.epoch = 0
        self.sequence = 0
        self.was_there = None  # of the last answer: what was to be created was there already
        self.error_at = self.reason = None  # of the last refusal
        self.text = None  # of the last answer that had one
        self.attached = []  # descriptors that came with answers

    def send(self, *messages, epoch=None, version=1):
        self.socket.send(header(self.epoch if epoch is None else epoch, version) + b"".join(messages))

    def answers(self):
        """One datagram of answers: [(sequence, errno, number)]."""
        data, fds, _, _ = socket.recv_fds(self.socket, 262144, 4)
        self.attached += fds
        assert data[:4] == MAGIC and data[4:8] == b"\1\0\0\0", data
        self.epoch = struct.unpack_from("<Q", data, 8)[0]
        assert self.epoch != 0
        found, at = [], 16
        while at < len(data):
            kind, flags, length = struct.unpack_from("<HHI", data, at)
            assert kind == ANSWER and flags in (0, 1, 2, 3), (kind, flags)
            answer = struct.unpack_from("<IIQ", data, at + 8)
            found.append(answer)
            self.was_there = flags & 1 == 1
            if answer[1]:
                self.error_at, size = struct.unpack_from("<II", data, at + 24)
                self.reason = data[at + 32:at + 32 + size].decode()
                assert length == 24 + (size + 7) // 8 * 8, (length, size)
            elif flags & 2:
                (size,) = struct.unpack_from("<I", data, at + 24)
                self.text = data[at + 28:at + 28 + size].decode()
                assert length == 16 + (4 + size + 7) // 8 * 8, (length, size)
            else:
                assert length == 16, length
            at += 8 + length
        return found

    def silent(self, seconds=0.05):
        self.socket.settimeout(seconds)
        try:
            return not self.socket.recv(65536)
        except socket.timeout:
            return True
        finally:
            self.socket.settimeout(10 * PATIENCE)

    def ask(self, text):
        """Sends a request and returns (errno, number)."""
        self.sequence += 1
        self.send(request(self.sequence, text))
        (answer,) = self.answers()
        assert answer[0] == self.sequence, answer
        return answer[1:]

    def make(self, text):
        """create ..., which must succeed; returns the number."""
        error, number = self.ask("create " + text)
        assert error == 0, os.strerror(error)
        return number


    def tell(self, name, voi_names, data):
        """Tells of a template; returns the errno."""
        self.sequence += 1
        self.send(template(self.sequence, name, voi_names, data))
        (answer,) = self.answers()
        return answer[1]

    def publish(self, number, data):
        self.send(blob(number, data))


class Switches:
    """The page that a daemon hands out."""

    def __init__(self, peer):
        error, self.bytes = peer.ask("switches")
        assert error == 0, os.strerror(error)
        (self.fd,) = peer.attached
        peer.attached = []
        self.page = mmap.mmap(self.fd, self.bytes, mmap.MAP_SHARED, mmap.PROT_READ)

    def __getitem__(self, number):
        """(bit 0: on, is the number still its own)"""
        on, generation = struct.unpack_from("<II", self.page, 8 * (number & 0xFFFFFFFF))
        assert on == 0 or on & 1
        return on & 1, generation == number >> 32


def data(interface):
    with open(f"{os.environ['STAT']}/{interface}/data") as file:
        return file.read()


def counts(interface):
    """Of each line the statistic and how much it has counted, whatever else is shown."""
    return "".join(" ".join(line.split()[:2]) + "\n" for line in data(interface).splitlines())


def own(statistic):
    """A number of the daemon's own."""
    return int(next(l for l in data("tallyfs").splitlines() if l.startswith(statistic + " ")).split()[1])
