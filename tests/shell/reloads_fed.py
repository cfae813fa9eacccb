#!/usr/bin/env python3
"""Reloads a daemon again and again, under feeders that count what they send.

    reloads_fed.py MOUNTPOINT SOCKET TALLYFS TALLY_PROBE TALLY_SEND PYTHON_PACKAGE COUNT [no-rules]

The feeders are a program in C, whose one statistic is counted in cells and the other sent over the
socket, where it waits for room; one in Python, unless PYTHON_PACKAGE is empty; tally-send in a loop; and a writer of rules, of
which each line is to be carried out once. Prints how long an open and a read of a file took at most
during each reload, and what was sent and counted. Ends with 1 if the two differ, or if anything
failed that should not.
"""
import multiprocessing
import os
import queue
import re
import subprocess
import sys
import time

from probe import Probe

MOUNT, SOCKET, TALLYFS, PROBE, SEND, PACKAGE = sys.argv[1:7]
COUNT, WITH_RULES = int(sys.argv[7]), sys.argv[8:] != ["no-rules"]
STAT = MOUNT + "/statistics"
DEADLINE_S = 60
# As many samples a call as keep the program busy for some milliseconds.
CELLS_AT_ONCE, SOCKET_AT_ONCE = 50_000, 5_000
RULES_MAX = 400


def read(path):
    with open(path, "rb", buffering=0) as file:
        return file.read(1 << 16).decode()


def data(interface):
    """Of statistics with one line each: how much they have counted."""
    found = {}
    for line in read(f"{STAT}/{interface}/data").splitlines():
        name, count = line.split()[:2]
        found[name] = int(count)
    return found


def feed_in_c(end, results):
    probe = Probe(PROBE, SOCKET)
    for line in ("settings 10000 60000 65536", "interface c", "statistic c cells", "start cells",
                 "statistic c socket", "start socket", "sync 60000"):
        probe.ok(line)
    with open(STAT + "/c/definition", "ab", buffering=0) as definition:
        definition.write(b"name=view of=socket\n")  # a view needs each sample
    cells = sent = 0
    while not end.is_set():
        probe.ok(f"inc cells {CELLS_AT_ONCE}")
        probe.ok(f"inc socket {SOCKET_AT_ONCE}")
        cells += CELLS_AT_ONCE
        sent += SOCKET_AT_ONCE
    probe.ok("sync 60000")
    counts = probe.counts()
    results.put(("c", {"cells": cells, "socket": sent, "view": sent},
                 counts["lost"] + counts["dropped"]))
    probe.end()


def feed_in_python(end, results):
    sys.path.insert(0, PACKAGE)
    os.environ["TALLY_SOCKET"] = SOCKET
    import tally
    interface = tally.Interface("python")
    hits = interface.statistic("hits", "hits")
    hits.start()
    tally.statistic_sync(60_000)
    sent = 0
    while not end.is_set():
        for i in range(1000):
            hits.inc(i)
        sent += 1000
        tally.statistic_sync(60_000)
    counts = tally.statistic_count()
    results.put(("python", {"hits": sent}, counts.lost + counts.dropped))


def send_lines(end, results):
    sent = 0
    while not end.is_set():
        subprocess.run([SEND, "--timeout-ms", "60000", "--socket", SOCKET, "lines/sent 1"],
                       check=True)
        sent += 1
    results.put(("lines", {"sent": sent}, 0))


def write_rules(end, results):
    written = 0
    while not end.is_set() and written < RULES_MAX:
        line = f"written/{written} type=range\n".encode()
        with open(MOUNT + "/rules", "ab", buffering=0) as rules:
            rules.write(line)
        written += 1
        time.sleep(0.01)
    results.put(("rules", {"written": written}, 0))


def reload_and_measure():
    """The longest open and read meanwhile, in seconds."""
    reload = subprocess.Popen([TALLYFS, "--reload", MOUNT])
    longest = 0
    while reload.poll() is None:
        began = time.monotonic()
        read(STAT + "/tallyfs/data")
        longest = max(longest, time.monotonic() - began)
    assert reload.returncode == 0, reload.returncode
    return longest


def percentile(values, part):
    return values[min(len(values) - 1, int(len(values) * part))]


def check_feeders(running):
    failed = [f"{process.name} ended with {process.exitcode}" for process in running
              if process.exitcode not in (None, 0)]
    assert not failed, failed


def wait_for_interface(interface, running):
    until = time.monotonic() + DEADLINE_S
    while not os.path.exists(f"{STAT}/{interface}/data") or sum(data(interface).values()) == 0:
        check_feeders(running)
        assert time.monotonic() < until, interface
        time.sleep(0.01)


def take_results(running, results):
    """One of each."""
    taken, until = [], time.monotonic() + DEADLINE_S
    while len(taken) < len(running):
        try:
            taken.append(results.get(timeout=0.1))
            until = time.monotonic() + DEADLINE_S
        except queue.Empty:
            check_feeders(running)
            names = [name for name, _, _ in taken]
            assert time.monotonic() < until, f"there are no results but those of {names}"
    return taken


def check(sent):
    """What differs, as lines of text."""
    if WITH_RULES:
        yield from check_rules(sent.pop("rules")["written"])
    for interface, of in sent.items():
        counted = data(interface)
        print(interface, "sent", of, "counted", counted)
        if counted != of:
            yield f"of {interface} {of} were sent, and {counted} counted"


def check_rules(written):
    rules = [line for line in read(MOUNT + "/rules").splitlines() if line.startswith("written/")]
    wanted = [f"written/{i} " for i in range(written)]
    if [line[:len(want)] for line, want in zip(rules, wanted)] != wanted or \
            len(rules) != len(wanted):
        yield f"{len(wanted)} rules were written, and {len(rules)} are there"


def main():
    end, results = multiprocessing.Event(), multiprocessing.Queue()
    works = [feed_in_c, send_lines] + [feed_in_python] * bool(PACKAGE) + [write_rules] * WITH_RULES
    running = [multiprocessing.Process(target=work, name=work.__name__, args=(end, results),
                                       daemon=True) for work in works]
    for process in running:
        process.start()
    for interface in ("c", "lines") + ("python",) * bool(PACKAGE):
        wait_for_interface(interface, running)
    epoch = re.search(r'"epoch":"?[0-9a-fx]+', read(MOUNT + "/statistics.json")).group()
    began = time.monotonic()
    pauses = sorted(reload_and_measure() for _ in range(COUNT))
    took = time.monotonic() - began
    end.set()
    all_of = take_results(running, results)
    for process in running:
        process.join()
    check_feeders(running)
    sent = {name: of for name, of, _ in all_of}
    samples = sum(sum(of.values()) for name, of in sent.items() if name != "rules")
    samples -= sent["c"]["view"]
    faults = list(check(sent))
    faults += [f"{lost} of {name} are lost" for name, _, lost in all_of if lost != 0]
    if epoch not in read(MOUNT + "/statistics.json"):
        faults.append("the epoch is another one")
    p50, p99 = percentile(pauses, 0.5) * 1e3, percentile(pauses, 0.99) * 1e3
    print(f"measured: {COUNT} reloads under feeders, pause ms: p50 {p50:.1f}, p99 {p99:.1f}, "
          f"max {pauses[-1] * 1e3:.1f}; "
          f"about {samples / took / 1e6:.2f} million samples a second; errors {len(faults)}")
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
