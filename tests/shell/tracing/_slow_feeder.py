#!/usr/bin/env python3
"""Stands in for tally-feed-tracefs: offers two events, and answers orders as the file `mood` beside
it says: `answers`, `computes` or `sleeps`. An order that came before stays unanswered until it
says `answers`."""
import os
import socket
import struct
import sys
import time

MOOD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mood")
FORMAT = """name: {0}
ID: {1}
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;

print fmt: "number=%d", REC->number
"""


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


def offer(number, name):
    body = struct.pack("<I", number) + text("played") + text(FORMAT.format(name, number))
    body += bytes(-len(body) % 8)
    return struct.pack("<HHI", 9, 0, len(body)) + body


def mood():
    return open(MOOD).read().strip()


def main(arguments):
    options = dict(zip(arguments[::2], arguments[1::2]))
    offers = offer(2001, "one") + offer(2002, "other")
    feed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    feed.sendto(b"\xfeTLY" + struct.pack("<HHQ", 1, 0, 0) + offers, options["--socket"])
    orders = socket.socket(fileno=int(options["--orders"]))
    orders.send(b"hello %d" % os.getpid())
    while order := orders.recv(1 << 20):
        while mood() != "answers":
            if mood() == "sleeps": time.sleep(0.01)
        words = order.split()
        if words[0] == b"end": return
        orders.send(b"done " + words[1])


main(sys.argv[1:])
