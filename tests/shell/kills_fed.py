#!/usr/bin/env python3
"""Kills the server of a keeper again and again, under feeders that count in cells.

    kills_fed.py MOUNTPOINT SOCKET KEEPER COUNT TALLY_PROBE [TALLY_PROBE OF ANOTHER USER]

Programs on libtally add to a value, a range and an array in cells. Of the kills, COUNT come 5 to 60
ms after the last one, and a few a second or two. In between, statistics are reset and defined anew
while nothing is added. Some of the programs are killed, beside others that feed the same
statistics: together with the server, or before it, when all was saved; then some kills follow a
reload. At the end each sum has to be what was added since the last reset. Ends with 1 if anything
differs.
"""
import errno
import os
import random
import signal
import subprocess
import sys
import time

from keeper import server_of
from probe import Probe

MOUNT, SOCKET, KEEPER, COUNT = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])
PROBES = sys.argv[5:]
STAT = MOUNT + "/statistics"
NAMES = {"v": "value", "r": "range", "a": "array"}
DEADLINE_S = 60
ADDED_AT_ONCE = 200
FEEDERS, ENDING = 3, 6
TALLYFS = os.environ.get("TALLYFS", "tallyfs")
LONG_KILLS = 4


def again(work):
    """An open that meets two kills is stale."""
    until = time.monotonic() + DEADLINE_S
    while True:
        try:
            return work()
        except OSError as error:
            if error.errno != errno.ESTALE or time.monotonic() > until:
                raise


def read(path):
    def read_once():
        with open(path, "rb", buffering=0) as file:
            return file.read(1 << 16).decode()
    return again(read_once)


def define(interface, line):
    def write_once():
        with open(f"{STAT}/{interface}/definition", "ab", buffering=0) as file:
            file.write(line.encode() + b"\n")
    again(write_once)


def own(name, unknown=None):
    for line in read(STAT + "/tallyfs/data").splitlines():
        if line.split()[0] == name:
            return int(line.split()[-1])
    if unknown is None:
        raise KeyError(name)
    return unknown


def counted(interface):
    """By statistic: how many samples, or the sum of them, which are all 1."""
    found = {}
    for line in read(f"{STAT}/{interface}/data").splitlines():
        words = line.split()
        is_array = words[0] == "a"
        found[words[0]] = found.get(words[0], 0) + int(words[-1] if is_array else words[1])
    return found


class Feeder:
    """A program that counts in cells, and how much it has added, together with another one."""

    def __init__(self, interface, program=PROBES[0], other=None):
        self.interface = interface
        self.added = other.added if other else dict.fromkeys(NAMES, 0)
        self.probe = Probe(program, SOCKET)
        self.probe.ok("settings 10000 60000 65536")
        self.probe.ok(f"interface {interface}")
        for name, kind in NAMES.items():
            self.probe.ok(f"statistic {interface} {name}")
            self.probe.ok(f"define {name} {kind}")
            self.probe.ok(f"start {name}")
        self.probe.ok("sync 60000")

    def add(self, count):
        for name in NAMES:
            self.probe.ok(f"inc {name} {count}")
            self.added[name] += count

    def reset(self):
        define(self.interface, "data=reset")
        self.added.update(dict.fromkeys(NAMES, 0))

    def goes_by_cells(self):
        before = own("samples")
        self.add(1)
        self.probe.ok("sync 60000")
        return own("samples") == before

    def begin(self):
        until = time.monotonic() + DEADLINE_S
        while not self.goes_by_cells():
            assert time.monotonic() < until, f"{self.interface} does not count in cells"
        self.reset()

    def end(self):
        self.probe.process.kill()
        self.probe.process.wait()

    def faults(self):
        now = counted(self.interface)
        return [] if now == self.added else [f"{self.interface}: added {self.added}, counted {now}"]


def wait_until(is_so, what):
    until = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(.005)


def wait_until_saved():
    # A new server says nothing of it before its first save.
    wait_until(lambda: own("unsaved", 1) == 0, "the state is not saved")


def end_before_a_kill(gone, with_a_reload):
    """All that it has added was read and saved before."""
    counted(gone.interface)
    wait_until_saved()
    lanes = own("lanes")
    gone.end()
    wait_until(lambda: own("lanes") < lanes, "the lane stays")
    if with_a_reload:
        subprocess.run([TALLYFS, "--reload", MOUNT], check=True)
    else:
        wait_until_saved()


def kill_server(last):
    """Another one than the last. Returns its number."""
    until = time.monotonic() + DEADLINE_S
    while (server := server_of(KEEPER)) in (None, last):
        assert time.monotonic() < until, "there is no server"
    os.kill(server, signal.SIGKILL)
    return server


def change(feeder, number):
    """Nothing is added meanwhile."""
    if number % 2:
        feeder.reset()
        return
    define(feeder.interface, f"name=r type=range range_min=-{number}")
    define(feeder.interface, f"name=a base_interval={10 + number}")
    feeder.reset()


def work(feeders, ending):
    """Adds, and kills the server. Returns the feeders that have ended."""
    ended = []
    killed, server = 0, None
    while killed < COUNT + LONG_KILLS:
        is_long = killed >= COUNT
        until = time.monotonic() + (random.uniform(1, 2) if is_long else random.uniform(.005, .06))
        while time.monotonic() < until:
            random.choice(feeders + ending).add(ADDED_AT_ONCE)
        server = kill_server(server)
        killed += 1
        if ending and killed % 25 == 0:
            gone = ending.pop()
            if len(ending) % 3 == 0:
                gone.end()
            else:
                end_before_a_kill(gone, with_a_reload=len(ending) % 3 == 1)
            ended.append(gone)
        if killed % 20 == 10:
            change(random.choice(feeders), killed)
    return ended


def main():
    random.seed(int(os.environ.get("SEED", "1")))
    feeders = [Feeder(f"f{i}") for i in range(FEEDERS)]
    feeders += [Feeder(f"other{i}", program) for i, program in enumerate(PROBES[1:])]
    ending = [Feeder(f"e{i}") for i in range(ENDING)]
    for each in feeders + ending:
        each.begin()
    beside = [Feeder(each.interface, other=each) for each in ending]
    for each in beside:
        each.begin()
    epoch = read(MOUNT + "/statistics.json").split('"epoch":')[1].split(",")[0]
    began = time.monotonic()
    ended = work(feeders + beside, ending)
    took = time.monotonic() - began
    faults = [fault for each in feeders + ending + ended for fault in each.faults()]
    if faults_of_others := [each for each in beside if not each.goes_by_cells()]:
        faults.append(f"{len(faults_of_others)} feeders do not count in cells any more")
    if read(MOUNT + "/statistics.json").split('"epoch":')[1].split(",")[0] != epoch:
        faults.append("the epoch is another one")
    for each in feeders:
        counts = each.probe.counts()
        if counts["lost"] or counts["dropped"]:
            faults.append(f"{each.interface}: {counts}")
    if own("lane_bad"):
        faults.append("something in a lane is none of a feeder's")
    added = sum(sum(each.added.values()) for each in feeders + ending + ended)
    print(f"measured: {COUNT + LONG_KILLS} kills in {took:.0f} s, {added} samples in cells since "
          f"the last resets, {own('takeovers')} takeovers, {len(ended)} feeders ended; "
          f"errors {len(faults)}")
    print(*faults, sep="\n")
    for each in feeders + ending:
        each.end()
    return 1 if faults else 0


sys.exit(main())
