#!/usr/bin/env python3
"""Kills the server of a keeper again and again, under readers, writers and feeders.

    kills.py MOUNTPOINT SOCKET KEEPER COUNT [TALLY_PROBE]

Each 5 to 60 ms: SIGKILL, then an open and a read of a file, whose time is the outage. Prints it,
what the others met, and how many samples were sent and counted: in text, and by a program on
libtally, in cells and in rings. What a server had taken in and not saved is lost with it. Ends with
1 if anything failed that should not.

What may fail: an open file is stale (ESTALE) when its server is gone, so a reader whose file was
opened by one server and is read from the next opens it anew. An open is tried once by the kernel
when its server dies under it; two that die within one open give ESTALE, too. Everything else is a
fault.
"""
import collections
import errno
import multiprocessing
import os
import random
import signal
import socket
import sys
import time

from keeper import server_of
from probe import Probe

MOUNT, SOCKET, KEEPER, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
PROBE = sys.argv[5] if len(sys.argv) > 5 else None
STAT = MOUNT + "/statistics"
OUTAGE_MAX_S = 20  # a machine under load; the figures say what it takes


def read_once(path):
    with open(path, "rb", buffering=0) as file:
        return file.read(1 << 16)


def count_outcomes(results, end, begun, work):
    """Works until the end. Puts how often what happened into results. Releases `begun` once, when
    something is done."""
    outcomes = collections.Counter()
    while not end.is_set():
        try:
            work()
            note_done(outcomes, begun)
        except OSError as error:
            outcomes[errno.errorcode[error.errno]] += 1
    results.put(outcomes)


def note_done(outcomes, begun):
    outcomes["done"] += 1
    if outcomes["done"] == 1:
        begun.release()


def reader(results, end, begun):
    files = [STAT + "/tallyfs/data", MOUNT + "/statistics.json", MOUNT + "/rules"]
    count_outcomes(results, end, begun, lambda: read_once(random.choice(files)))


def writer(results, end, begun):
    """Defines, in an interface that may have gone with its server."""
    def work():
        with open(STAT + "/written/definition", "ab", buffering=0) as file:
            file.write(b"name=x type=range on=1\n")
    count_outcomes(results, end, begun, work)


def feeder(results, end, begun):
    """Sends lines, which make the interfaces that the others use."""
    outcomes = collections.Counter()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as feed:
        while not end.is_set():
            try:
                feed.sendto(b"create fed/n on=1\nfed/n 0 1\nwritten/x 1\n", SOCKET)
                note_done(outcomes, begun)
            except OSError as error:
                outcomes[errno.errorcode[error.errno]] += 1
            time.sleep(0.001)
    results.put(outcomes)


def libtally(results, end, begun):
    """Two statistics: one is counted in cells, the samples of the other go through rings."""
    probe = Probe(PROBE, SOCKET)
    for line in ("settings 10000 60000 65536", "interface c", "statistic c cells", "start cells",
                 "statistic c rings", "define rings list", "start rings"):
        probe.ok(line)
    outcomes = collections.Counter()
    while not end.is_set():
        probe.ok("inc cells 100")
        probe.ok("inc rings 10")
        note_done(outcomes, begun)
        time.sleep(0.001)
    probe.ok("sync 60000")
    outcomes["told as lost"] = probe.counts()["lost"] + probe.counts()["dropped"]
    results.put(outcomes)
    probe.end()


def kill_and_measure():
    """The time until a file could be opened and read again, in seconds; none: there was no server
    to kill yet."""
    server = server_of(KEEPER)
    if server is None:
        return None
    os.kill(server, signal.SIGKILL)
    began = time.monotonic()
    while True:
        try:
            read_once(STAT + "/tallyfs/data")
            return time.monotonic() - began
        except OSError as error:
            if error.errno != errno.ESTALE or time.monotonic() > began + OUTAGE_MAX_S:
                raise


def percentile(values, part):
    return values[min(len(values) - 1, int(len(values) * part))]


def counted(interface, statistic):
    """The sum of the last numbers of its lines."""
    try:
        lines = read_once(f"{STAT}/{interface}/data").decode().splitlines()
    except FileNotFoundError:
        return 0  # no sample came after the last kill
    return sum(int(line.split()[-1]) for line in lines if line.startswith(statistic + " "))


def show_samples(met):
    in_text = met["feeder"]["done"]
    print(f"measured: samples in text: sent {in_text}, counted {counted('fed', 'n')}")
    if PROBE:
        told = met["libtally"].pop("told as lost", 0)  # adding Counters drops a 0
        sent = met["libtally"]["done"]
        print(f"measured: samples of libtally: in cells sent {100 * sent}, counted "
              f"{counted('c', 'cells')}; in rings sent {10 * sent}, "
              f"counted {counted('c', 'rings')}; lost as it says {told}")


MAY_FAIL = {
    "reader": {"done", "ESTALE"},
    "writer": {"done", "ESTALE", "ENOENT"},  # no line has made the interface yet
    "feeder": {"done"},
    "libtally": {"done"},
}


def main():
    random.seed(int(os.environ.get("SEED", "1")))
    end, begun, results, running = multiprocessing.Event(), multiprocessing.Semaphore(0), {}, []
    for work in [reader, reader, writer, feeder] + [libtally] * bool(PROBE):
        queue = results.setdefault(work.__name__, multiprocessing.Queue())
        running.append(
            multiprocessing.Process(target=work, name=work.__name__, args=(queue, end, begun)))
        running[-1].start()
    for _ in running:
        assert begun.acquire(timeout=90), "one of them does nothing"
    outages = []
    while len(outages) < COUNT:
        time.sleep(random.uniform(0.005, 0.060))
        outage = kill_and_measure()
        if outage is not None:
            outages.append(outage)
    end.set()
    met = {name: collections.Counter() for name in results}
    for process in running:
        met[process.name] += results[process.name].get(timeout=90)
    for process in running:
        process.join()
    outages.sort()
    print(f"measured: kills {len(outages)}, outage ms: p50 {percentile(outages, 0.5) * 1e3:.1f}, "
          f"p99 {percentile(outages, 0.99) * 1e3:.1f}, max {outages[-1] * 1e3:.1f}")
    show_samples(met)
    faults = 0
    for name, outcomes in met.items():
        print(name, dict(outcomes))
        faults += sum(outcomes[what] for what in outcomes.keys() - MAY_FAIL[name])
        faults += outcomes["done"] == 0
    print("takeovers", [line for line in read_once(STAT + "/tallyfs/data").decode().split("\n")
                        if line.startswith("takeovers")])
    return 1 if faults else 0


sys.exit(main())
