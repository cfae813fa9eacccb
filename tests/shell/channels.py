"""Channels for answers (core/wire/FORMAT.md), and what is none, for tests."""
import array
import ctypes
import contextlib
import fcntl
import multiprocessing
import os
import select
import socket
import struct
import subprocess
import threading
import time

from peer import PATIENCE, Peer, header, request

SIOCOUTQ = 0x5411


def pair(kind=socket.SOCK_SEQPACKET):
    return [each.detach() for each in socket.socketpair(socket.AF_UNIX, kind)]


def fewer(count):
    return int(count / PATIENCE)


def wait_until(condition):
    deadline = time.monotonic() + 30 * PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "in vain waited"
        time.sleep(0.01)


def hung_up(fd):
    """Waits for the end of the other end."""
    poll = select.poll()
    poll.register(fd, select.POLLRDHUP)
    return bool(poll.poll(int(30_000 * PATIENCE)))


listeners = []


@contextlib.contextmanager
def lingering():
    """A connection whose close waits for 5 s, as its peer reads nothing."""
    with socket.socket() as made:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listeners.append(listener)
        made.connect(listener.getsockname())
        made.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                made.send(bytes(65536))
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 5))
        yield made


class ChannelPeer(Peer):
    """A feeder that sends a channel with its first request. deaf: it reads nothing, and keeps the
    daemon's end, too, to see what is unread."""

    def __init__(self, deaf=False):
        super().__init__()
        self.channel = self.theirs = None
        self.deaf = deaf
        self.offer()

    def offer(self):
        if self.channel:
            self.channel.close()
        self.channel, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        socket.send_fds(self.socket, [header() + request(1000, "")], [self.theirs.fileno()])
        if not self.deaf:
            self.theirs.close()
            self.answered()

    def answered(self):
        """Takes one datagram of answers; says where it came."""
        way = self.answered_within(10 * PATIENCE)
        assert way, "no answer"
        return way

    def answered_within(self, seconds):
        """As answered(); None where none came."""
        poll = select.poll()
        ways = {self.channel.fileno(): (self.channel, "channel"),
                self.socket.fileno(): (self.socket, "address")}
        for fd in ways:
            poll.register(fd, select.POLLIN)
        while True:
            ready = poll.poll(int(1000 * seconds))
            for fd, _ in ready:
                if ways[fd][0].recv(65536):
                    return ways[fd][1]
                poll.unregister(fd)  # its end
            if not ready:
                return None

    def asked(self, text):
        self.sequence += 1
        self.send(request(self.sequence, text))
        return self.answered()

    def retry(self, text):
        self.offer()
        return self.asked(text)

    def ask_until_answered(self):
        """The daemon drops answers of a uid that has its share unread, and looks only now and then
        what is read or gone (feeders/intake/unread_responses.h)."""

        def is_answered():
            self.sequence += 1
            self.send(request(self.sequence, ""))
            return self.answered_within(0.2)

        wait_until(is_answered)

    def send_bytes(self, datagram, times=1):
        for _ in range(times):
            self.socket.send(datagram)

    def unread(self):
        size = array.array("i", [0])
        fcntl.ioctl(self.theirs, SIOCOUTQ, size)
        return size[0]

    def close(self):
        for each in (self.socket, self.channel, self.theirs):
            each.close()


class PeerProcess:
    """A ChannelPeer in a process of its own, as a process has one channel."""

    def __init__(self, **options):
        self.ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=self._serve, args=(theirs, options), daemon=True)
        self.process.start()
        theirs.close()
        self.ours.recv()

    @staticmethod
    def _serve(theirs, options):
        peer = ChannelPeer(**options)
        name = "begin"
        theirs.send(None)
        while name != "close":
            name, arguments = theirs.recv()
            theirs.send(getattr(peer, name)(*arguments))

    def call(self, name, *arguments):
        self.ours.send((name, arguments))
        return self.ours.recv()

    def asked(self, text):
        return self.call("asked", text)

    def retry(self, text):
        return self.call("retry", text)

    def close(self):
        self.call("close")
        self.ours.close()
        self.process.join()


class SlowFile:
    """A file of a file system (FUSE) that does not answer a close before end(). Needs root."""

    INIT, GETATTR, OPEN, FLUSH, RELEASE = 26, 3, 14, 25, 18
    ATTRIBUTES = (struct.pack("<QII", 3600, 0, 0)
                  + struct.pack("<QQQQQQ10I", 1, *[0] * 8, 0o100644, 1, *[0] * 5))
    ANSWERS = {INIT: struct.pack("<IIIIHHIIHH8I", 7, 31, 0, 0, 12, 9, 4096, 1, 1, 0, *[0] * 8),
               GETATTR: ATTRIBUTES, OPEN: bytes(16), RELEASE: b""}

    def __init__(self, path):
        self.path, self.held, self.ends = path, [], False
        open(path, "w").close()
        self.device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.device},rootmode=100644,user_id=0,group_id=0,allow_other"
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"slow", path.encode(), b"fuse", 0, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        threading.Thread(target=self.serve, daemon=True).start()
        self.fd = os.open(path, os.O_RDONLY)

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 18)
            except OSError:
                return
            _, opcode, unique = struct.unpack_from("<IIQ", request)
            if opcode == self.FLUSH and not self.ends:
                self.held.append(unique)
            elif opcode in (*self.ANSWERS, self.FLUSH):
                self.answer(unique, self.ANSWERS.get(opcode, b""))
            elif opcode not in (2, 36):  # FORGET, INTERRUPT
                self.answer(unique, error=-38)

    def answer(self, unique, body=b"", error=0):
        os.write(self.device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)

    def end(self):
        self.ends = True
        for unique in self.held:
            self.answer(unique)
        os.close(self.fd)
        subprocess.run(["umount", "-l", self.path], check=True)
