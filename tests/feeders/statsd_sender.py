#!/usr/bin/env python3
"""Sends bytes to tally-feed-statsd, for its tests.

  statsd_sender.py flood ADDRESS COUNT [NAME] COUNT datagrams, each one counter, as fast as it can
  statsd_sender.py lines PATH COUNT NAME      a stream of COUNT lines, each one counter; returns
                                              when they are read
  statsd_sender.py steady ADDRESS SECONDS [NAME]
      counters until the time is over; prints how many
  statsd_sender.py frames PATH                a stream of frames, in pieces
  statsd_sender.py idle PATH COUNT            COUNT connections; prints how many were closed
  statsd_sender.py keep PATH NAME             a connection; prints "open", and sends one counter at
                                              the end of stdin
  statsd_sender.py slow PATH COUNT            COUNT connections with half a line each, byte by byte;
                                              prints "half", and sends the rest at the end of stdin
  statsd_sender.py hoard PATH COUNT           COUNT connections with a frame that lacks its end;
                                              prints "sent", and closes at the end of stdin
  statsd_sender.py series ADDRESS COUNT       COUNT different tag sets, in packets of 1,400 bytes
  statsd_sender.py names ADDRESS COUNT        COUNT different names, likewise
  statsd_sender.py burst ADDRESS COUNT TIMES  TIMES rounds of one counter for each of COUNT series
  statsd_sender.py noise ADDRESS SEED         random bytes, half lines and lines
  statsd_sender.py activate PATH COUNT PROGRAM ARGUMENT...
      COUNT datagrams to a socket that PROGRAM is handed, as systemd does, while it is started anew
      twice; prints COUNT, and ends PROGRAM at the end of stdin
ADDRESS is udp:IP:PORT or unixgram:PATH.
"""
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time


def connected(address):
    scheme, _, rest = address.partition(":")
    if scheme == "unixgram":
        sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sender.connect(rest)
        return sender
    ip, _, port = rest.rpartition(":")
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect((ip, int(port)))
    return sender


def flood(address, count, name="flood"):
    sender = connected(address)
    for _ in range(int(count)):
        sender.send(name.encode() + b":1|c")


def lines(path, count, name):
    sender = next(streams(path, 1))
    line = name.encode() + b":1|c\n"
    for sent in range(0, int(count), 10):
        sender.sendall(line * min(10, int(count) - sent))
    # The feeder closes when it has read all.
    sender.shutdown(socket.SHUT_WR)
    if sender.recv(1):
        sys.exit("statsd_sender: the feeder answers")
    sender.close()


def steady(address, seconds, name="steady"):
    sender, sent = connected(address), 0
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        sender.send(b"%s:1|c\nsteady.time:5|ms|@0.5\n" % name.encode())
        sent += 1
        if sent % 20 == 0:
            time.sleep(0.001)  # a load, not a flood: nothing is to be lost
    print(sent)


def frames(path):
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sender.connect(path)
    packet = b"framed:2|c\nframed:3|c"
    stream = (struct.pack("<I", len(packet)) + packet) * 50
    for at in range(0, len(stream), 7):
        sender.send(stream[at:at + 7])
    sender.close()


def idle(path, count):
    connections = list(streams(path, count))
    poller = select.poll()
    for connection in connections:
        poller.register(connection, select.POLLIN)
    closed = set()
    # The feeder closes what is too much; the test waits for that number.
    while len(closed) < max(0, int(count) - 256):
        for descriptor, _ in poller.poll(15_000):
            closed.add(descriptor)
            poller.unregister(descriptor)
    print(len(closed), flush=True)
    sys.stdin.read()


def streams(path, count):
    for _ in range(int(count)):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(path)
        yield connection


def keep(path, name):
    connection = next(streams(path, 1))
    print("open", flush=True)
    sys.stdin.read()
    connection.sendall(name.encode() + b":1|c\n")


def slow(path, count):
    connections = list(streams(path, count))
    for byte in b"slow:1|":
        for connection in connections:
            connection.send(bytes([byte]))
    print("half", flush=True)
    sys.stdin.read()
    for connection in connections:
        connection.send(b"c\n")
        connection.close()


def hoard(path, count):
    connections = list(streams(path, count))
    for connection in connections:
        try:
            connection.sendall(struct.pack("<I", 65536) + b"x" * 65535)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the feeder has closed it
    print("sent", flush=True)
    sys.stdin.read()


def send_packed(address, lines):
    sender, packet = connected(address), b""
    for line in lines:
        if len(packet) + len(line) > 1400:
            sender.send(packet)
            packet = b""
        packet += line
    sender.send(packet)


def series(address, count):
    send_packed(address, (b"many:1|c|#id:%d,of:them,k:v\n" % n for n in range(int(count))))


def names(address, count):
    send_packed(address, (b"name.%d:1|c\n" % n for n in range(int(count))))


def burst(address, count, times):
    numbers = [n for _ in range(int(times)) for n in range(int(count))]
    send_packed(address, (b"burst.%d:1|c|#id:%d\n" % (n % 50, n) for n in numbers))


def noise(address, seed):
    rng, sender = random.Random(int(seed)), connected(address)
    lines = [b"noise:1|c", b"noise:1|", b"noise:", b"_e{5,4}:title|te", b"_sc|x|", b"n:1|ms|@0."]
    for _ in range(2_000):
        if rng.random() < 0.5:
            sender.send(rng.randbytes(rng.randrange(1, 400)))
        else:
            sender.send(b"\n".join(rng.choices(lines, k=20)))


class Activated:
    """The program, with the socket as its descriptor 3, after its READY."""

    def __init__(self, listener, command):
        # The shell's process is the program's: LISTEN_PID is right.
        script = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@" 3<&%d' % listener.fileno()
        self.process = subprocess.Popen(["sh", "-c", script, "sh", *command],
                                        stdout=subprocess.PIPE, pass_fds=[listener.fileno()])
        if self.process.stdout.readline() != b"READY\n":
            sys.exit("statsd_sender: the program is not ready")

    def end(self):
        self.process.terminate()
        if self.process.wait(15) != 0:
            sys.exit("statsd_sender: the program ended badly")


def activate(path, count, *command):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(path)
    os.chmod(path, 0o777)
    program = Activated(listener, command)
    third = threading.Event()

    def send_all():
        sender = connected("unixgram:" + path)
        for number in range(int(count)):
            sender.send(b"activated:1|c")
            if number % (int(count) // 3) == 0:
                third.set()

    thread = threading.Thread(target=send_all)
    thread.start()
    for _ in range(2):
        third.wait()
        third.clear()
        program.end()
        program = Activated(listener, command)
    thread.join()
    print(count, flush=True)
    sys.stdin.read()
    program.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
