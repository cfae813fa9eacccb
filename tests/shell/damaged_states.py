#!/usr/bin/env python3
"""Starts daemons on damaged copies of a state file, one after the other.

    damaged_states.py MOUNTPOINT SOCKET TALLYFS STATE DIRECTORY OFFSETS

At each of so many offsets, drawn by TALLY_SEED, one copy is cut off and another has a flipped bit.
Each daemon must start, show each object that is whole as the undamaged file shows it, and name the
damage in its log. An object may be left out, if the log says so, where another one that it needs
may be damaged: one of its branch.
"""
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

from state_file import HEADER_BYTES, objects_of

MOUNT, SOCKET, TALLYFS, STATE, DIRECTORY = sys.argv[1:6]
OFFSETS = int(sys.argv[6])
ERROR_LOG = 16  # its kind
NEWS_OF_STATE = re.compile(r"^\[[0-9.]+\] state: error: .*\n(?:  .*\n)*", re.M)
BRANCHES = ({4, 5}, {6, 8, 9, 10, 11, 12})  # kinds of which one needs another


class Daemon:
    def __init__(self, state):
        Path(DIRECTORY).mkdir(mode=0o700, exist_ok=True)
        for old in Path(DIRECTORY).iterdir():
            old.unlink()
        Path(DIRECTORY, "state.1").write_bytes(state)
        self.process = subprocess.Popen(
            [TALLYFS, "-f", "--no-keeper", "--socket", SOCKET, "--state", DIRECTORY, MOUNT],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        said = self.process.stdout.readline()
        assert said == "READY\n", (said, self.process.communicate())
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.log = self.process.communicate()[1]
        assert self.process.returncode == 0, (self.process.returncode, self.log)


def read(*paths):
    """The texts of files of the mount; of those that are there."""
    texts = []
    for path in paths:
        try:
            texts.append(Path(MOUNT, path).read_text())
        except FileNotFoundError:
            texts.append(None)
    return texts


def shown(kind, label, contents):
    """What the mount shows of an object."""
    path = label.rpartition(" ")[0]  # of those that end with a number
    directory = "tracing" if label == "tracing" else label
    match kind:
        case 1:
            return read(f"statistics/{label}/definition", f"statistics/{label}/data")
        case 2:
            return contents.decode() in read("rules")[0].splitlines()
        case 3:
            return label.rpartition(":")[2] in read("stats/templates")[0]
        case 4:
            return read(f"stats/{label}/sample_rates")
        case 5:
            # Names are those of its template.
            return [re.findall('"val":[0-9]+', text or "") for text in read(f"stats/{label}.json")]
        case 6:
            return read(f"tracing/events/{label.removeprefix('tracing/events/')}/format")
        case 8:
            return [line for line in read("tracing/synthetic_events")[0].splitlines()
                    if line.startswith(label.rpartition("/")[2])]
        case 9:
            return read(f"{directory}/trace_options", f"{directory}/set_event_pid")
        case 10:
            return read(f"{path}/trigger")
        case 11:
            return read(f"{path}/hist")
        case 12:
            return read(f"{label}/enable", f"{label}/filter")
        case 13:
            return read(f"{label}/CPU0", f"{label}/summary", f"{label}/top")
        case 14 | 15:
            return read("tracing/latency_hist/enable/wakeup")
        case 16:
            return read("tracing/error_log")
    raise AssertionError(f"what does kind {kind} show?")


def shown_of(state, objects):
    return {(each.kind, each.label): shown(each.kind, each.label, state[each.contents:each.end])
            for each in objects}


def needs(kind, other):
    return any(kind in branch and other in branch for branch in BRANCHES)


def expected_in_log(objects, cut, at):
    """What the log says of the damage."""
    if at < HEADER_BYTES:
        return "nothing could be loaded"
    hit = next((each for each in objects if each.begin <= at < each.end), None)
    if cut:
        return "the file ends without its end mark" if hit is None or at < hit.contents else \
            f"the object '{hit.label}' of kind {hit.kind} at byte {hit.begin} is cut off"
    if hit is None:
        return "state.1 is not whole"
    if at < hit.contents:
        return f"bytes {hit.begin} to {hit.end} are no object"
    return f"the object '{hit.label}' of kind {hit.kind} at byte {hit.begin} has wrong bytes"


def check(state, objects, wanted, cut, at):
    damaged = state[:at] if cut else state[:at] + bytes([state[at] ^ 1 << at % 8]) + state[at + 1:]
    whole = [each for each in objects if at >= HEADER_BYTES and
             (each.end <= at or not cut and at < each.begin)]
    broken = {each.kind for each in objects} if at < HEADER_BYTES else \
        {each.kind for each in objects if each not in whole}
    with Daemon(damaged) as daemon:
        got = shown_of(state, whole)
    said = expected_in_log(objects, cut, at)
    assert said in daemon.log, (said, daemon.log)
    there = 0
    for (kind, label), text in got.items():
        if kind == ERROR_LOG:  # what was left out has an entry of its own
            text = [NEWS_OF_STATE.sub("", each) for each in text]
        there += text == wanted[kind, label]
        may_be_left_out = any(needs(kind, other) for other in broken)
        is_told = f"'{label}' is left out: " in daemon.log
        assert text == wanted[kind, label] or may_be_left_out and is_told, \
            (kind, label, text, wanted[kind, label], daemon.log)
    return there


def main():
    seed = int(os.environ.get("TALLY_SEED", random.randrange(2**32)))
    print(f"TALLY_SEED={seed}")
    state = Path(STATE).read_bytes()
    objects = objects_of(state)
    with Daemon(state) as daemon:
        wanted = shown_of(state, objects)
    assert "is left out" not in daemon.log, daemon.log
    kinds = sorted({each.kind for each in objects})
    print(f"{len(state)} bytes, {len(objects)} objects of the kinds {kinds}")
    assert {1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 16} <= set(kinds), kinds
    for (kind, label), text in wanted.items():
        assert text and text != [None], (kind, label, text)
    kept = 0
    for at in random.Random(seed).sample(range(len(state)), OFFSETS):
        for cut in (True, False):
            try:
                kept += check(state, objects, wanted, cut, at)
            except AssertionError:
                print("cut off" if cut else "a bit flipped", "at byte", at)
                raise
    print(f"measured: {2 * OFFSETS} damaged files, of {2 * OFFSETS * len(objects)} objects {kept} "
          "are whole and shown")


main()
