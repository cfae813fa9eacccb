#!/usr/bin/env python3
"""The cost of a sample for its feeder, against a real daemon, beside calls of abs() and divmod() in
the same loops, beside the batches of C, and beside prometheus_client, where it is installed.

bench.py [ROUNDS]; needs what the tests need. All lines are measured in turns, in pieces shorter
than a time slice, so that other load of the machine falls on all of them; each is the best of so
many rounds (300)."""
import array
import ctypes
import importlib.util
import sys
import tempfile
import time
from itertools import repeat

import daemon_fixture

import tally

CALLS = 10_000  # of a piece
TYPES = ("value", "range", "array", "list", "quantiles", "last")


def with_one(call):
    def run():
        begun = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            call(5)
        return (time.perf_counter_ns() - begun) / CALLS
    return run


def with_two(call):
    def run():
        begun = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            call(5, 2)
        return (time.perf_counter_ns() - begun) / CALLS
    return run


def with_none(call):
    def run():
        begun = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            call()
        return (time.perf_counter_ns() - begun) / CALLS
    return run


def of_batch(call, *columns):
    def run():
        begun = time.perf_counter_ns()
        call(*columns)
        return (time.perf_counter_ns() - begun) / CALLS
    return run


class Sample(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int64), ("y", ctypes.c_uint64), ("time_ns", ctypes.c_int64)]


def made(web, name, kind):
    each = web.statistic(name)
    getattr(each, "define_" + kind)(*((0, 1000) if kind == "array" else ()))
    each.start()
    return each


def into_shared_memory(all):
    """Until a sample of each counts at once."""
    for each in all:
        for _ in range(1000):
            tally.statistic_sync(10000)
            before = tally.statistic_count().confirmed
            each.inc(5)
            if tally.statistic_count().confirmed > before:
                break


def c_batch(kind):
    """statistic_add_batch() of the same libtally, by one call of ctypes."""
    library = ctypes.CDLL(daemon_fixture.BIN.parent / "lib/libtally.so")
    interface, statistic = ctypes.c_void_p(), ctypes.c_void_p()
    library.statistic_create_interface(ctypes.byref(interface), b"c-" + kind.encode(), 0)
    library.statistic_create(ctypes.byref(statistic), interface, kind.encode(), None)
    if kind == "array":
        library.statistic_define_array(statistic, ctypes.c_int64(0), ctypes.c_int64(1000),
                                       ctypes.c_uint64(1), 1)  # fmt: skip
    library.statistic_start(statistic)
    samples = (Sample * CALLS)(*(Sample(x % 1000, 1, 0) for x in range(CALLS)))
    add = library.statistic_on_add_batch
    add.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
    for _ in range(100):
        add(statistic, samples, 1)
        tally.statistic_sync(10000)
    return of_batch(add, statistic, samples, CALLS)


def prometheus():
    if importlib.util.find_spec("prometheus_client") is None:
        print("prometheus_client is not installed, and was not measured")
        return {}
    import prometheus_client
    counter = prometheus_client.Counter("bench", "of this bench")
    histogram = prometheus_client.Histogram("bench_sizes", "of this bench")
    return {"prometheus_client: Counter.inc()": with_none(counter.inc),
            "prometheus_client: Histogram.observe(x)": with_one(histogram.observe)}


def lines():
    web = tally.Interface("bench")
    kinds = {kind: made(web, kind, kind) for kind in TYPES}
    off, batches = web.statistic("off"), {k: made(web, "b-" + k, k) for k in ("value", "array")}
    into_shared_memory([*kinds.values(), *batches.values()])
    xs = array.array("q", (x % 1000 for x in range(CALLS)))
    found = {
        "abs(x)": with_one(abs),
        "divmod(x, y)": with_two(divmod),
        "time.monotonic_ns()": with_none(time.monotonic_ns),
        "inc(x), off": with_one(off.inc),
        "add(x, y), off": with_two(off.add),
        **{f"inc(x), {kind}": with_one(each.inc) for kind, each in kinds.items()},
        "add(x, y), value": with_two(kinds["value"].add),
        **prometheus(),
    }
    for kind, each in batches.items():
        found |= {f"C: statistic_add_batch(), {kind}": c_batch(kind),
                  f"add_batch(array('q')), {kind}": of_batch(each.add_batch, xs),
                  f"add_batch(list), {kind}": of_batch(each.add_batch, list(xs))}
    if importlib.util.find_spec("numpy"):
        import numpy
        column = numpy.array(xs)
        found["add_batch(numpy.int64), value"] = of_batch(batches["value"].add_batch, column)
        found["add_batch(numpy.int64, numpy.int64), value"] = of_batch(
            batches["value"].add_batch, column, column)  # fmt: skip
    return found


def show(best):
    loop = best["abs(x)"]
    print(f"{'a call, or a sample of a batch':44}{'ns':>8}{'beyond abs()':>14}{'of abs()':>10}")
    for name, each in best.items():
        beyond = "" if "batch" in name else f"{each - loop:+.1f}"
        print(f"{name:44}{each:8.2f}{beyond:>14}{each / loop:10.2f}")
    for kind in ("value", "array"):
        ratio = best[f"add_batch(array('q')), {kind}"] / best[f"C: statistic_add_batch(), {kind}"]
        print(f"a batch of Python, {kind}, is {ratio:.2f} of one of C")


def main(rounds=300):
    with tempfile.TemporaryDirectory() as directory:
        daemon = daemon_fixture.Daemon(directory)
        daemon.start()
        try:
            tally.statistic_configure(socket=daemon.socket)
            measured = lines()
            best = dict.fromkeys(measured, float("inf"))
            for _ in range(rounds):
                for name, run in measured.items():
                    best[name] = min(best[name], run())
            tally.statistic_sync(10000)
            counts = tally.statistic_count()
            assert counts.confirmed + counts.dropped == counts.added, counts
        finally:
            daemon.end()
    show(best)
    print(f"{counts.added} samples, {counts.dropped} of them dropped for want of room")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
