"""How much longer readers and root wait beside a flood of another user. Run as root, on a machine
that has nothing else to do.

    flood_times.py BIN [ROUNDS [ATTACK...]]

One process opens, reads and closes 1,000 files one after the other, and then sends 1,000 requests
as root. Beside it runs one process of another uid that floods the daemon by text, rings or cells,
or, as the control, a busy loop that sends nothing. Control and attack take turns; a difference is
that of a round, and the medians of all rounds are printed. It exits with 1 if one is beyond what is
wanted: 100 ms more for all files, 20 ms more for a request at the 99th percentile.
"""
import ctypes
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from peer import Peer
from raw_lanes import Children, busy

BIN = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
FILES, REQUESTS = 1_000, 1_000
FILES_MORE_MS, REQUEST_MORE_MS = 100, 20

def flood_text(ready):
    line = b"flood/a 1\n"
    text = line * (200_000 // len(line))
    peer = Peer()
    peer.socket.settimeout(None)
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
    for _ in range(10): peer.socket.send(text)
    ready()
    while True: peer.socket.send(text)


def flood_by_probe(kind):
    """A program on libtally whose only thread adds samples without an end."""
    def run(ready):
        said, says = os.pipe()
        into, out = os.pipe()
        lines = ["interface flood", f"statistic flood {kind}", f"define {kind} {kind}",
                 f"start {kind}", "sync 5000", f"threads 1 {kind} 1000000000000"]
        os.write(says, "".join(line + "\n" for line in lines).encode())
        os.environ["TALLY_SOCKET"] = os.environ["SOCK"]
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            os.dup2(said, 0)
            os.dup2(out, 1)
            os.execv(f"{BIN}/tally-probe", ["tally-probe", "/tmp"])
        answers = b""
        while answers.count(b"\n") < len(lines) - 1: answers += os.read(into, 4096)
        assert answers == b"ok\n" * (len(lines) - 1), answers
        ready()
        signal.pause()
    return run


ATTACKS = {"text": flood_text, "rings": flood_by_probe("list"), "cells": flood_by_probe("value")}


def read_all(names):
    begun = time.monotonic()
    for name in names:
        with open(name, "rb", buffering=0) as file: file.read()
    return (time.monotonic() - begun) * 1e3


def ask_all(root):
    """What a request takes at the 99th percentile."""
    times = []
    for _ in range(REQUESTS):
        begun = time.monotonic()
        assert root.ask("attach i0/a")[0] == 0
        times.append((time.monotonic() - begun) * 1e3)
    return sorted(times)[REQUESTS * 99 // 100]


def measure(run, names, root):
    with Children() as children:
        children.start(run)
        return read_all(names), ask_all(root)


def start_daemon(directory):
    mount = f"{directory}/mnt"
    os.chmod(directory, 0o755)
    os.makedirs(mount)
    os.environ.update(MNT=mount, STAT=f"{mount}/statistics", SOCK=f"{directory}/socket")
    daemon = subprocess.Popen(
        [f"{BIN}/tallyfs", "-f", "--log-level", "off", "-o", "allow_other", "--socket",
         os.environ["SOCK"], mount], stdout=subprocess.PIPE)
    assert daemon.stdout.readline() == b"READY\n"
    return daemon


def main(attacks):
    root = Peer()
    for i in range(0, FILES, 100):
        root.socket.send(b"".join(b"i%d/a 1\n" % n for n in range(i, i + 100)))
    names = [f"{os.environ['STAT']}/i{i}/data" for i in range(FILES)]
    is_beyond = False
    for attack in attacks:
        rounds = []
        for _ in range(ROUNDS):
            control = measure(busy, names, root)
            rounds.append((control, measure(ATTACKS[attack], names, root)))
        for what, i, wanted in (f"{FILES} files", 0, FILES_MORE_MS), \
                               ("a request, p99", 1, REQUEST_MORE_MS):
            beside = [statistics.median(each[k][i] for each in rounds) for k in (0, 1)]
            more = statistics.median(each[1][i] - each[0][i] for each in rounds)
            is_beyond |= more > wanted
            print(f"{attack}: {what}: {beside[0]:.1f} ms beside a busy loop, {beside[1]:.1f} beside"
                  f" the flood, {more:+.1f}, wanted {wanted} at most", flush=True)
    return is_beyond


with tempfile.TemporaryDirectory() as directory:
    daemon = start_daemon(directory)
    try:
        sys.exit(main(sys.argv[3:] or ATTACKS))
    finally:
        daemon.terminate()
        daemon.wait()
