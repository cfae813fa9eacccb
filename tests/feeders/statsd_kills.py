#!/usr/bin/env python3
"""Kills tally-feed-statsd with SIGKILL under load, for statsd_kill_test.sh.

  statsd_kills.py MOUNTPOINT SOCKET ROUNDS PROGRAM ARGUMENT...

PROGRAM is handed a socket of Unix datagrams, as systemd does. In each round it is killed while
counters are sent, one a datagram, and started anew with the same socket. A round begins once its
samples are counted in cells. Prints how many datagrams of the round are not in the tree, and the
total.
"""
import os
import socket
import sys
import threading
import time

from statsd_sender import Activated, connected

MOUNT, SOCKET, ROUNDS, COMMAND = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
BURST = 6_000


def value(interface, name):
    try:
        with open(f"{MOUNT}/statistics/{interface}/data", encoding="utf-8") as file:
            for line in file:
                if line.startswith(name + " "):
                    return int(line.split()[-1])
    except FileNotFoundError:
        pass
    return 0


def wait_until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("statsd_kills: in vain: " + what)
        time.sleep(0.002)


class Load:
    """A sender, and what of it must be in the tree."""

    def __init__(self):
        self.sender = connected("unixgram:" + SOCKET)
        self.sent = 0
        self.lost = 0

    def send(self, count):
        for _ in range(count):
            self.sender.send(b"killed:1|c")
            self.sent += 1

    def is_counted(self):
        return value("statsd", "killed") == self.sent - self.lost

    def send_until_in_cells(self):
        """Samples that the daemon counts without having received them."""
        in_cells = False
        while not in_cells:
            received = value("tallyfs", "samples")
            self.send(1)
            wait_until(self.is_counted, "a sample is counted")
            in_cells = value("tallyfs", "samples") == received


def kill_under(load, program):
    """Returns once all is sent, and the program that was started anew has taken it."""
    thread = threading.Thread(target=load.send, args=[BURST])
    begin = load.sent
    thread.start()
    wait_until(lambda: load.sent > begin + BURST // 3, "a third is sent")
    program.process.kill()
    program.process.wait()
    program = Activated(listener, COMMAND)
    thread.join()
    load.sender.send(b"behind:1|c")
    return program


listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(SOCKET)
os.chmod(SOCKET, 0o777)
load = Load()
feeder = Activated(listener, COMMAND)
for number in range(1, ROUNDS + 1):
    load.send_until_in_cells()
    feeder = kill_under(load, feeder)
    # Datagrams are taken in their order, so all before it were.
    wait_until(lambda: value("statsd", "behind") == number, "what was sent last is counted")
    before, load.lost = load.lost, load.sent - value("statsd", "killed")
    print(load.lost - before, flush=True)
print(load.sent - load.lost, flush=True)
feeder.end()
