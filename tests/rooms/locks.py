#!/usr/bin/env python3
"""Holds the table of docs/locks.md to core/base/lock_rank.h.

The header says the order of the ranks and the file of each lock; the page has both, and what each
lock guards. Each rank is used in its file and in no other one, and a Mutex or OwnedLock has one. A
std::mutex outside core/base/mutex.h has none, so there may be none. Python's module is used
with libtally, as other programs are: no lock of the daemon's is ever taken beside its own.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "core/base/lock_rank.h"
PAGE = "docs/locks.md"
ROOMS = ("core", "fs", "feeders", "usage", "exporters", "tools")
WITHOUT_RANKS = ("core/base/lock_rank.", "feeders/client/python/")
RANK = re.compile(r"^  (k\w+), +// (\S+)$", re.M)
ROW = re.compile(r"^\| (k\w+) \| (\S+) \| (.+?) \|$", re.M)
LOCK = re.compile(r"\b(?:Mutex|OwnedLock) \w+\{LockRank::(k\w+)\}")
UNRANKED = re.compile(r"\b(?:Mutex|OwnedLock) \w+;")
PLAIN = re.compile(r"\bstd::(?:\w+_)?mutex\b")


def uses():
    """Each Mutex of the sources: its rank and its file."""
    found = []
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*")):
            name = str(file.relative_to(ROOT))
            if file.suffix not in (".h", ".cpp") or name.startswith(WITHOUT_RANKS):
                continue
            text = file.read_text()
            found += [(rank, name) for rank in LOCK.findall(text)]
            if (PLAIN.search(text) and name != "core/base/mutex.h") or UNRANKED.search(text):
                found.append(("no rank", name))
    return found


def main():
    ranks = RANK.findall((ROOT / HEADER).read_text())
    faults = []
    rows = [(rank, file) for rank, file, _ in ROW.findall((ROOT / PAGE).read_text())]
    if not ranks:
        faults.append(f"{HEADER}: no ranks are found")
    if rows != ranks:
        wrong = [row for row in rows if row not in ranks] + [row for row in ranks if row not in rows]
        faults.append(f"{PAGE}: the table of locks differs from {HEADER}: {wrong or 'its order'}")
    used = uses()
    faults += [f"{file}: a lock with {rank}, which {HEADER} does not have for this file"
               for rank, file in used if (rank, file) not in ranks]
    faults += [f"{HEADER}: {rank} is not used in {file}"
               for rank, file in ranks if (rank, file) not in used and file != "tests/unit"]
    faults += [f"{HEADER}: {rank} is the rank of two locks"
               for rank, file in set(used) if used.count((rank, file)) > 1]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
