#!/usr/bin/env python3
"""Kills the server of a keeper that may not hold as many descriptors as there are feeders.

    kills_of_many.py MOUNTPOINT SOCKET KEEPER TALLY_PROBE

Of the programs on libtally, one a statistic, some get a lane and count in cells. What these add has
to be there after each kill, also when some of them have ended. Ends with 1 if anything differs.
"""
import os
import signal
import sys
import time

from probe import Probe

MOUNT, SOCKET, KEEPER, PROGRAM = *sys.argv[1:3], int(sys.argv[3]), sys.argv[4]
DATA = MOUNT + "/statistics/{}/data"
FEEDERS, KILLS, ENDING = 40, 6, 10
DEADLINE_S = 60


def wait_for(look, what):
    until = time.monotonic() + DEADLINE_S
    while not (found := look()):
        assert time.monotonic() < until, what
        time.sleep(.01)
    return found


def read(path):
    def once():
        try:
            with open(path) as file:
                return file.read()
        except OSError:  # stale: there were two kills
            return None
    return wait_for(once, path)


def numbers(interface):
    lines = [line.split() for line in read(DATA.format(interface)).splitlines()]
    return {words[0]: int(words[-1]) for words in lines}


def server():
    with open(f"/proc/{KEEPER}/task/{KEEPER}/children") as children:
        pids = [int(pid) for pid in children.read().split()]
    return next((pid for pid in pids if is_server(pid)), None)


def is_server(pid):
    try:
        with open(f"/proc/{pid}/comm") as name:
            return name.read() == "tallyfs\n"
    except OSError:  # it has ended since it was listed
        return False


def replace_server():
    before = wait_for(server, "there is no server")
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: server() not in (None, before), "there is no other server")
    numbers("tallyfs")  # it answers


def counts_in_cells(probe, name):
    """The samples that it sends are in the daemon's own count."""
    before = numbers("tallyfs")["samples"]
    probe.ok(f"inc {name} 1")
    probe.ok("sync 60000")
    return numbers("tallyfs")["samples"] == before


def main():
    probes = {}
    for i in range(FEEDERS):
        name = f"s{i}"
        probe = probes[name] = Probe(PROGRAM, SOCKET)
        for line in (f"interface {name}", f"statistic {name} {name}", f"start {name}",
                     "sync 60000"):
            probe.ok(line)
    in_cells = wait_for(lambda: {name: each for name, each in probes.items()
                                 if counts_in_cells(each, name)}, "no feeder counts in cells")
    lanes = numbers("tallyfs")["lanes"]
    assert ENDING < len(in_cells) and lanes < FEEDERS, (len(in_cells), lanes)
    wait_for(lambda: numbers("tallyfs").get("unsaved") == 0, "the state is not saved")
    added = {name: numbers(name)[name] for name in in_cells}
    faults = []
    for kill in range(KILLS):
        for name, each in in_cells.items():
            each.ok(f"inc {name} 100")
            added[name] += 100
        if kill == KILLS // 2:
            for name in list(in_cells)[:ENDING]:
                gone = in_cells.pop(name)
                gone.process.kill()
                gone.process.wait()
        replace_server()
        faults += [(kill, name, numbers(name), added[name]) for name in added
                   if numbers(name)[name] != added[name]]
    print(f"measured: {lanes} lanes of {FEEDERS} feeders, {KILLS} kills; errors {len(faults)}")
    print(*faults, sep="\n")
    for each in probes.values():
        each.process.kill()
        each.process.wait()
    return 1 if faults else 0


sys.exit(main())
