#!/usr/bin/env python3
"""Feeds the interface `example` with the sizes of the files below a directory.

feeder.py DIRECTORY; the package tally is installed: docs/feeding-python.md."""
import os
import sys
import time

import tally

interface = tally.Interface("example")
sizes = interface.statistic("sizes", "bytes/files")
sizes.define_array(0, 1 << 30, 512, tally.STATISTIC_SCALE_LOG2)
sizes.start()  # until a user writes on=0 into the definition
stat_ns = interface.statistic("stat_ns", "nanoseconds/calls")
stat_ns.define_range()
stat_ns.start()

files = 0
for directory, _, names in os.walk(sys.argv[1]):
    for name in names:
        begun = time.monotonic_ns()
        size = os.lstat(os.path.join(directory, name)).st_size
        stat_ns.inc(time.monotonic_ns() - begun)
        sizes.inc(size)
        files += 1

tally.statistic_sync(10000)  # milliseconds; only for the line that follows
print(f"{files} samples are in statistics/example/data")
