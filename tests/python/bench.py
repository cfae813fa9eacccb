#!/usr/bin/env python3
"""The cost of a sample for its feeder, against a real daemon, beside bare loops and calls.

bench.py [ROUNDS]; needs what the tests need. Each line is the best of so many rounds (5). All lines
are measured in turns, so that other load of the machine falls on all of them. The feeder waits for
room (wait_ms), so that nothing is dropped; the counts are checked in the end. CPU is the time of
the feeder's process, its keeper included. On a machine with too few CPUs for feeder and daemon the
first columns say how they share, and CPU says what the feeder costs."""
import sys
import tempfile
import time
from array import array
from itertools import repeat

import stand

import tally
from tally.link import Link

COUNT = 510 * 400
LOOP = "an empty loop"


def empty_loop():
    for _ in repeat(None, COUNT):
        pass


def clock():
    now = time.monotonic_ns
    for _ in repeat(None, COUNT):
        now()


def call():
    def nothing(x):
        pass

    for _ in repeat(None, COUNT):
        nothing(5)


class Samples:
    def __init__(self):
        web = tally.Interface("bench")
        self.on, self.off, self.sent = map(web.statistic, ("on", "off", "sent"))
        self.sent.define_value(mode="products")
        self.turns = [web.statistic(f"turn-{i}") for i in range(4)]
        for each in [self.on, self.sent, *self.turns]:
            each.start()
        self.xs = array("q", range(COUNT))
        self.list = list(self.xs)
        self.ys = array("Q", [2]) * COUNT
        self.added = 0
        for each in [self.on, *self.turns]:
            self.into_cells(each)

    def into_cells(self, each):
        """Until a sample counts at once, where it can."""
        for _ in range(100):
            tally.statistic_sync(10000)
            before = tally.statistic_count().confirmed
            each.inc(5)
            self.added += 1
            if tally.statistic_count().confirmed > before:
                return

    def inc_sent(self):
        inc = self.sent.inc
        for _ in repeat(None, COUNT):
            inc(5)
        self.added += COUNT

    def inc(self):
        inc = self.on.inc
        for _ in repeat(None, COUNT):
            inc(5)
        self.added += COUNT

    def function(self):
        each, inc = self.on, tally.statistic_inc
        for _ in repeat(None, COUNT):
            inc(each, 5)
        self.added += COUNT

    def add(self):
        add = self.on.add
        for _ in repeat(None, COUNT):
            add(5, 2)
        self.added += COUNT

    def in_turns(self):
        a, b, c, d = (each.inc for each in self.turns)
        for _ in repeat(None, COUNT // 4):
            a(1)
            b(2)
            c(3)
            d(4)
        self.added += COUNT

    def inc_off(self):
        inc = self.off.inc
        for _ in repeat(None, COUNT):
            inc(5)

    def batch_array(self):
        self.on.add_batch(self.xs)
        self.added += COUNT

    def batch_list(self):
        self.on.add_batch(self.list)
        self.added += COUNT

    def batch_ys(self):
        self.on.add_batch(self.xs, self.ys)
        self.added += COUNT


def bare_send(path):
    """Of as many samples: the datagrams that they come to, made once."""
    link = Link()
    link.connect(path)
    link.send(tally.encode_header(0) + tally.encode_request(1, "create bench/bare on=1"))
    link.wait(1, 10)
    epoch, (answer,) = tally.decode_answers(link.receive()[0])
    now = array("q", [time.monotonic_ns()]) * 510
    samples = tally.encode_samples(answer.number, array("q", range(510)), None, now)
    datagram = tally.encode_header(epoch) + samples
    made = link.socket
    made.setblocking(True)

    def send():
        for _ in repeat(None, COUNT // 510):
            made.send(datagram)

    send.link = link
    return send


def measure(lines, rounds):
    """(seconds, seconds of CPU), the best of each."""
    best = {name: (float("inf"), float("inf")) for name in lines}
    for _ in range(rounds):
        for name, run in lines.items():
            cpu, begun = time.process_time(), time.perf_counter()
            run()
            tally.statistic_flush()
            took = time.perf_counter() - begun, time.process_time() - cpu
            best[name] = tuple(map(min, best[name], took))
    return best


def main(rounds=5):
    with tempfile.TemporaryDirectory() as directory:
        daemon = stand.Daemon(directory)
        daemon.start()
        try:
            tally.statistic_configure(socket=daemon.socket, wait_ms=10000)
            samples = Samples()
            best = measure({
                LOOP: empty_loop,
                "a call of an empty function": call,
                "time.monotonic_ns()": clock,
                "bare send of the same datagrams": bare_send(daemon.socket),
                "inc(x), off": samples.inc_off,
                "inc(x), sent": samples.inc_sent,
                "inc(x), counted in a cell": samples.inc,
                "statistic_inc(s, x)": samples.function,
                "add(x, y)": samples.add,
                "inc(x), four statistics in turns": samples.in_turns,
                "add_batch(array)": samples.batch_array,
                "add_batch(array, array)": samples.batch_ys,
                "add_batch(list)": samples.batch_list,
            }, rounds)  # fmt: skip
            tally.statistic_sync(10000)
            counts = tally.statistic_count()
            assert counts.confirmed == counts.added == samples.added, (counts, samples.added)
        finally:
            daemon.end()
    loop = best[LOOP][0]
    print(f"{'':34}{'ns each':>9}{'M/s':>8}{'loops':>8}{'CPU ns':>9}")
    for name, (took, cpu) in best.items():
        each = took / COUNT * 1e9
        print(f"{name:34}{each:9.1f}{1e3 / each:8.2f}{took / loop:8.1f}{cpu / COUNT * 1e9:9.1f}")
    print(f"{counts.added} samples, all confirmed, none dropped")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
