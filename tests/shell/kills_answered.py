#!/usr/bin/env python3
"""Kills the server of a keeper right behind answers: what was answered is there.

    kills_answered.py MOUNTPOINT SOCKET KEEPER COUNT

Each time a command drawn at random goes in by a door drawn at random: binary requests, one or
several a datagram; text, with a request behind it; files. Then SIGKILL without a pause, and all
definitions, rules and samples are as the commands have made them. One interface has few
statistics, and another one many. Ends with 1 and both texts if something is otherwise.
TALLY_SEED=N repeats a run.
"""
import os
import random
import signal
import socket
import struct
import sys
import time

from keeper import server_of
from peer import PATIENCE, header, request

MOUNT, SOCKET, KEEPER, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
STAT = MOUNT + "/statistics"
MANY = 60
SEED = int(os.environ.get("TALLY_SEED", random.randrange(1 << 32)))

feed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
feed.bind("")
feed.settimeout(30 * PATIENCE)
feed.connect(SOCKET)
draw = random.Random(SEED)
# Of each interface, its statistics: what their definitions have, and how many samples they took.
model = {}
rules = []
names = iter(range(1 << 30))


def read(path):
    """A server that dies under an open fails it."""
    deadline = time.monotonic() + 30 * PATIENCE
    while True:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except OSError:
            if time.monotonic() > deadline:
                raise


def by_request(lines):
    feed.send(header() + b"".join(request(i, line) for i, line in enumerate(lines, 1)))
    left = len(lines)
    while left:
        answers = feed.recv(1 << 16)[16:]
        while answers:
            (length,) = struct.unpack_from("<I", answers, 4)
            error = struct.unpack_from("<I", answers, 12)[0]
            assert error == 0, (lines, answers)
            answers = answers[8 + length + -length % 8 :]
            left -= 1


def by_text(lines):
    feed.send("".join(line + "\n" for line in lines).encode())
    name = next(each for each, what in model["few"].items()
                if "of" not in what and f"remove few/{each}" not in lines)  # fmt: skip
    by_request([f"define few name={name} on=1"])


def by_either(lines):
    draw.choice((by_request, by_text))(lines)


def append(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def pick():
    interface = draw.choice(list(model))
    sources = [each for each, what in model[interface].items() if "of" not in what]
    return interface, draw.choice(sources)


def create(count):
    interface = draw.choice([*model, "new" + str(next(names))])
    made = ["x" + str(next(names)) for _ in range(count)]
    by_either([f"create {interface}/{each} on=1" for each in made])
    model.setdefault(interface, {}).update({each: {"n": 0} for each in made})


def create_view():
    interface, source = pick()
    if sum(what.get("of") == source for what in model[interface].values()) >= 16:
        return
    view = "v" + str(next(names))
    by_either([f"create {interface}/{view} of={source} type=range"])
    model[interface][view] = {"of": source, "n": 0}


def define():
    interface, name = pick()
    units = "u" + str(next(names))
    line = f"name={name} units={units}"
    if draw.random() < 0.3:
        append(f"{STAT}/{interface}/definition", line + "\n")
    else:
        by_either([f"define {interface} {line}"])
    model[interface][name]["units"] = units


def count_and_reset():
    """The samples are written with the definition behind them, and gone with the reset."""
    interface, name = pick()
    count = draw.randrange(1, 9)
    units = "u" + str(next(names))
    by_text([f"{interface}/{name} 1"] * count)
    lines = [f"define {interface} name={name} units={units}"]
    of = [each for each, what in model[interface].items() if what.get("of", each) == name]
    for each in of:
        model[interface][each]["n"] += count
    if draw.random() < 0.5:
        by_request(lines)
        lines = [f"define {interface} name={name} data=reset"]
        model[interface][name]["n"] = 0
    by_request(lines)
    model[interface][name]["units"] = units


def reset_all():
    interface, _ = pick()
    by_either([f"define {interface} data=reset"])
    for what in model[interface].values():
        what["n"] = 0


def remove():
    interface, name = pick()
    if sum("of" not in what for what in model[interface].values()) < 2:
        return
    views = [each for each, what in model[interface].items() if what.get("of") == name]
    if views and draw.random() < 0.5:
        name, views = views[0], []
    by_either([f"remove {interface}/{name}"])
    for each in [name, *views]:
        del model[interface][each]


def remove_interface():
    others = [each for each in model if each.startswith("new")]
    if not others:
        return
    gone = draw.choice(others)
    if draw.random() < 0.3:
        os.rmdir(f"{STAT}/{gone}")
    else:
        by_either(["remove " + gone])
    del model[gone]


def remove_and_make_again():
    others = [each for each in model if each.startswith("new")]
    if others:
        again = draw.choice(others)
        by_either(["remove " + again, f"create {again}/again on=1"])
        model[again] = {"again": {"n": 0}}


def add_rule():
    rules.append(f"r{next(names)}/* units=x")
    append(MOUNT + "/rules", rules[-1] + "\n")


COMMANDS = [lambda: create(1), lambda: create(draw.randrange(2, 40)), create_view, define, define,
            count_and_reset, count_and_reset, reset_all, remove, remove_interface,
            remove_and_make_again, add_rule]  # fmt: skip


def is_shown():
    """What the model says, as sorted lines."""
    lines = [("rule", each) for each in rules]
    for interface, statistics in model.items():
        for name, what in statistics.items():
            lines.append((interface, name, what.get("of"), what.get("units"), what["n"]))
    return sorted(map(repr, lines))


def shows():
    """What the mount says."""
    lines = [("rule", each) for each in read(MOUNT + "/rules").splitlines() if each[0] == "r"]
    for interface in os.listdir(STAT):
        if interface == "tallyfs":
            continue
        counts = {}
        for line in read(f"{STAT}/{interface}/data").splitlines():
            fields = line.split()
            counts[fields[0]] = int(fields[1])
        for line in read(f"{STAT}/{interface}/definition").splitlines():
            words = dict(word.split("=", 1) for word in line.split())
            units = words.get("units") if "of" not in words else None
            units = None if units in ("", "/") or units is None or units[0] != "u" else units
            lines.append((interface, words["name"], words.get("of"), units.split("/")[0] if units
                          else None, counts[words["name"]]))  # fmt: skip
    return sorted(map(repr, lines))


def kill():
    server = None
    while server is None:
        server = server_of(KEEPER)
    os.kill(server, signal.SIGKILL)


def main():
    print("seed", SEED)
    by_request([f"create few/s{i} on=1" for i in range(5)])
    for i in range(0, MANY, 20):
        by_request([f"create many/s{j} on=1" for j in range(i, i + 20)])
    model["few"] = {f"s{i}": {"n": 0} for i in range(5)}
    model["many"] = {f"s{i}": {"n": 0} for i in range(MANY)}
    for number in range(COUNT):
        done = []
        for _ in range(draw.randrange(1, 4)):
            command = draw.choice(COMMANDS)
            done.append(getattr(command, "__name__", "?"))
            command()
        kill()
        expected, found = is_shown(), shows()
        if expected != found:
            print("kill", number, "behind", done, "not there:", set(expected) - set(found),
                  "there:", set(found) - set(expected))  # fmt: skip
            sys.exit(1)


main()
