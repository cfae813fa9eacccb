#!/usr/bin/env python3
"""Reloads a daemon again and again, under programs that hold files, wait, write and feed.

    reloads.py MOUNTPOINT SOCKET TALLYFS COUNT

Before each reload 64 files are open and half read, lines are half written, and a listing is half
done; behind it each is finished, and must be what it would have been. All the while there are 16
pollers, 8 writers of lines of which each counts once, readers of trace_pipe, shells whose working
directory is in the mount, and a feeder. Prints how long an open and a read of a file took at most
during each reload. Ends with 1 if anything failed, or if a count is not exact.

Longer than most: its users, what they find at the end, and the reloads belong together.
"""
import collections
import ctypes
import multiprocessing
import os
import re
import select
import socket
import subprocess
import sys
import threading
import time
import traceback

MOUNT, SOCKET, TALLYFS, COUNT = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
STAT, TRACING = MOUNT + "/statistics", MOUNT + "/tracing"
PRINT = TRACING + "/events/ftrace/print"
HANDLES, POLLERS, WRITERS, SHELLS = 64, 16, 8, 2
PIPED = ("piped1", "piped2")
PAUSE_S = 0.02  # of each of them, so that a slow machine has time for the reloads
LIBC = ctypes.CDLL(None, use_errno=True)
GETDENTS = {"x86_64": 217, "aarch64": 61}[os.uname().machine]

end, quiet = threading.Event(), threading.Event()  # the second: nothing is written any more
faults, counts, counting = [], collections.Counter(), threading.Lock()


def fault(text):
    with counting:
        faults.append(text)
    end.set()


def count(what, number=1):
    with counting:
        counts[what] += number


def running(work, *args):
    """A thread of it; an exception is a fault."""
    def run():
        try:
            work(*args)
        except Exception:
            fault(f"{work.__name__}{args}: {traceback.format_exc()}")
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def read_whole(path):
    with open(path, "rb", buffering=0) as file:
        parts = []
        while part := file.read(1 << 16):
            parts.append(part)
        return b"".join(parts)


def write(path, text, flags=os.O_APPEND):
    fd = os.open(path, os.O_WRONLY | flags)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def hits(text):
    """Of the histogram's totals."""
    return int(text.split(b"Hits: ")[1].split()[0])


# ---- what goes on all the time


def writer(number):
    """Each write into trace_marker is one record, and one hit of a histogram."""
    fd = os.open(TRACING + "/trace_marker", os.O_WRONLY)
    while not end.is_set():
        os.write(fd, b"by writer %d\n" % number)
        count("written")
        time.sleep(PAUSE_S)
    os.close(fd)


def poller(path):
    """Waits for news and reads what there is; at the end it has seen the last."""
    fd = os.open(path, os.O_RDONLY)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    seen = 0
    while True:
        was_quiet = quiet.is_set()
        for _, events in poll.poll(100):
            if events != select.POLLIN:
                return fault(f"poll showed {events:#x} of {path}")
        text = os.pread(fd, 1 << 16, 0)
        if b"Hits: " in text:
            seen = hits(text)
        time.sleep(PAUSE_S)
        if was_quiet:
            break
    os.close(fd)
    if path.endswith("hist") and seen != counts["written"]:
        fault(f"a poller of {path} saw {seen} hits of {counts['written']}")


def piped_writer(instance):
    """Numbered lines, of which the reader below gets each once."""
    fd = os.open(f"{TRACING}/instances/{instance}/trace_marker", os.O_WRONLY)
    number = 0
    while not end.is_set():
        os.write(fd, b"number %d\n" % number)
        number += 1
        time.sleep(PAUSE_S)
    os.write(fd, b"the end\n")
    os.close(fd)


def piped_reader(instance):
    """Waits in read(2) most of the time."""
    fd = os.open(f"{TRACING}/instances/{instance}/trace_pipe", os.O_RDONLY)
    text = b""
    while b": the end\n" not in text:
        text += os.read(fd, 1 << 16)
    os.close(fd)
    numbers = [int(each) for each in re.findall(rb": number (\d+)\n", text)]
    if numbers != list(range(len(numbers))) or text.count(b"\n") != len(numbers) + 1:
        fault(f"a reader of trace_pipe got {numbers}")
    count("piped", len(numbers))


def start_shell():
    """There before a line is half written, as the Reloader is."""
    script = 'while read -r name; do cat "$name" >/dev/null && echo fine || echo broken; done'
    return subprocess.Popen(["sh", "-c", script], cwd=STAT + "/long", stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def shell(number, process):
    """Reads files by names that begin at its working directory."""
    with process:
        while not end.is_set():
            for name in (b"data\n", b"../tallyfs/definition\n"):
                process.stdin.write(name)
                process.stdin.flush()
                said = process.stdout.readline()
                if said != b"fine\n":
                    return fault(f"shell {number}: {said!r}")
                count("read by shells")
                time.sleep(PAUSE_S)
        process.stdin.close()


def feeder():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as feed:
        while not end.is_set():
            feed.sendto(b"fed/n 1\n" * 10, SOCKET)
            count("samples", 10)
            time.sleep(PAUSE_S)


class Reloader:
    """Runs `tallyfs --reload`; there before files are open, as each close(2) of one ends its last
    line, also that of a child."""

    def __init__(self):
        script = 'while read -r _; do "$0" --reload "$1" && echo reloaded || echo failed; done'
        self.process = subprocess.Popen(["sh", "-c", script, TALLYFS, MOUNT],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def reload(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != b"reloaded\n":
            fault("a reload failed")

    def finish(self):
        self.process.stdin.close()
        self.process.wait()


class Opens:
    """How long an open and a read take, one after the other; in a process of its own."""

    def __init__(self):
        self.slowest = multiprocessing.Value("d", 0.0)  # its lock is that of `ended`, too
        self.ended = multiprocessing.Value("Q", 0, lock=False)
        self.process = multiprocessing.Process(target=self.run, daemon=True)
        self.process.start()

    def run(self):
        while True:
            began = time.monotonic()
            read_whole(STAT + "/long/definition")
            took = time.monotonic() - began
            with self.slowest.get_lock():
                self.slowest.value = max(self.slowest.value, took)
                self.ended.value += 1
            time.sleep(0.001)

    def take(self):
        """The longest since the last call, that which is under way now included."""
        with self.slowest.get_lock():
            under_way = self.ended.value + 1
        while self.process.is_alive():
            with self.slowest.get_lock():
                if self.ended.value >= under_way:
                    break
            time.sleep(0.001)
        with self.slowest.get_lock():
            slowest, self.slowest.value = self.slowest.value, 0.0
            return slowest

    def finish(self):
        """It has ended by itself only if an open or a read failed."""
        if not self.process.is_alive():
            fault("an open or a read failed")
        self.process.kill()
        self.process.join()


# ---- what is half done at a reload


class HalfRead:
    def __init__(self, path):
        self.path = path
        self.fd = os.open(path, os.O_RDONLY)
        self.number = os.fstat(self.fd).st_ino
        self.whole = self.pread_whole()
        self.first = os.read(self.fd, max(1, len(self.whole) // 2))

    def pread_whole(self):
        parts, at = [], 0
        while part := os.pread(self.fd, 1 << 16, at):
            parts.append(part)
            at += len(part)
        return b"".join(parts)

    def finish(self):
        parts = [self.first]
        while part := os.read(self.fd, 1 << 16):
            parts.append(part)
        if b"".join(parts) != self.whole or self.pread_whole() != self.whole:
            fault(f"the text of {self.path} is another one")
        if not self.number == os.fstat(self.fd).st_ino == os.stat(self.path).st_ino:
            fault(f"{self.path} has another inode number")
        os.close(self.fd)


class HalfWritten:
    """A rule. Two of the same would be two."""

    def __init__(self, line):
        self.line = line.encode()
        self.fd = os.open(MOUNT + "/rules", os.O_WRONLY | os.O_APPEND)
        os.write(self.fd, self.line[:7])

    def finish(self):
        os.write(self.fd, self.line[7:])
        os.close(self.fd)
        lines = read_whole(MOUNT + "/rules").split(b"\n")
        if lines.count(self.line.rstrip()) != 1:
            fault(f"{self.line} was taken {lines.count(self.line.rstrip())} times")


class HalfListed:
    """readdir() reads ahead: getdents() itself, a few names at a time."""

    def __init__(self):
        self.fd = os.open(STAT, os.O_RDONLY | os.O_DIRECTORY)
        self.wanted = sorted(os.listdir(STAT))
        self.names = []
        self.read()

    def read(self):
        buffer = ctypes.create_string_buffer(512)
        size = LIBC.syscall(GETDENTS, self.fd, buffer, 512)
        if size < 0:
            raise OSError(ctypes.get_errno(), "getdents")
        at = 0
        while at < size:
            length = int.from_bytes(buffer.raw[at + 16:at + 18], "little")
            self.names.append(buffer.raw[at + 19:at + length].split(b"\0")[0].decode())
            at += length
        return size > 0

    def finish(self):
        while self.read():
            pass
        if sorted(name for name in self.names if name not in (".", "..")) != self.wanted:
            fault(f"a listing gave {len(self.names)} names of {len(self.wanted)}")
        os.close(self.fd)


def files_to_read():
    # `long` has a text of several pages; the others are of each kind.
    paths = [STAT + "/long/data", STAT + "/long/definition", STAT + "/long/data.json",
             STAT + "/tallyfs/data", MOUNT + "/statistics.json", MOUNT + "/rules",
             TRACING + "/README", TRACING + "/events/ftrace/print/format",
             TRACING + "/events/ftrace/print/trigger", TRACING + "/error_log",
             TRACING + "/available_events"]
    return [paths[i % len(paths)] for i in range(HANDLES - 1)] + [TRACING + "/trace"]


def one_reload(number, opens, reloader):
    half_done = [HalfRead(path) for path in files_to_read()]
    half_done += [HalfWritten(f"half{number}_{i}/* type=range on=1\n") for i in range(WRITERS)]
    half_done.append(HalfListed())
    opens.take()
    reloader.reload()
    pause = opens.take()
    for each in half_done:
        each.finish()
    if number % 16 == 15:  # they are bounded
        write(MOUNT + "/rules", "web/* type=range on=1\n", os.O_TRUNC)
    return pause


def prepare():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as feed:
        feed.sendto(b"create long/l on=1 type=list entries_max=5000\n", SOCKET)
        for at in range(0, 5000, 1000):
            feed.sendto(b"".join(b"long/l %d\n" % (at + i) for i in range(1000)), SOCKET)
        feed.sendto(b"".join(b"listed%d/n 1\n" % i for i in range(200)), SOCKET)
    while f"listed199" not in os.listdir(STAT):
        time.sleep(0.01)
    write(PRINT + "/trigger", "hist:keys=common_pid\n")


def percentile(values, part):
    return values[min(len(values) - 1, int(len(values) * part))]


def show_pauses(pauses, took):
    if pauses:
        print(f"measured: {len(pauses)} reloads under {HANDLES} open files, {POLLERS} pollers and "
              f"{WRITERS} writers, pause ms: p50 {percentile(pauses, 0.5) * 1e3:.1f}, "
              f"p99 {percentile(pauses, 0.99) * 1e3:.1f}, max {pauses[-1] * 1e3:.1f}; "
              f"{counts['written'] / took:.0f} writes a second; errors {len(faults)}")


def check_counts():
    fed = int(read_whole(STAT + "/fed/data").split()[1])
    counted = hits(read_whole(PRINT + "/hist"))
    print(dict(counts), f"fed {fed}, written and counted {counted}")
    if fed != counts["samples"]:
        fault(f"of {counts['samples']} samples {fed} were counted")
    if counted != counts["written"]:
        fault(f"of {counts['written']} writes {counted} were counted")


def main():
    prepare()
    opens, reloader, shells = Opens(), Reloader(), [start_shell() for _ in range(SHELLS)]
    polled = [PRINT + "/hist", STAT + "/fed/data", TRACING + "/error_log", PRINT + "/hist"]
    write_once = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    write_once.sendto(b"fed/n 1\n", SOCKET)
    write_once.close()
    count("samples")
    while "fed" not in os.listdir(STAT):
        time.sleep(0.01)
    threads = [running(writer, i) for i in range(WRITERS)]
    pollers = [running(poller, polled[i % len(polled)]) for i in range(POLLERS)]
    threads += [running(shell, i, process) for i, process in enumerate(shells)]
    threads.append(running(feeder))
    for instance in PIPED:
        os.mkdir(f"{TRACING}/instances/{instance}")
        threads += [running(piped_writer, instance), running(piped_reader, instance)]
    pauses, began = [], time.monotonic()
    try:
        while len(pauses) < COUNT and not end.is_set():
            pauses.append(one_reload(len(pauses), opens, reloader))
    except Exception:
        fault(traceback.format_exc())
    took = time.monotonic() - began
    end.set()
    for thread in threads:
        thread.join()
    quiet.set()
    for thread in pollers:
        thread.join()
    opens.finish()
    reloader.finish()
    try:
        check_counts()
    except Exception:
        fault(traceback.format_exc())
    show_pauses(sorted(pauses), took)
    for text in faults:
        print("FAULT", text)
    return 1 if faults else 0


sys.exit(main())
