#!/usr/bin/env python3
"""Holds the #includes to the drawing of the rooms, and files to their length.

The drawing is the fenced block `arrows` of docs/architecture.md: `room -> rooms it may include`. A
room is a folder of sources; a file belongs to the longest room that holds it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("core", "fs", "feeders", "exporters", "include", "tools", "usage", "log")
SPLIT_AT = 600  # lines

# What may be included only in some places: pattern of the #include, and where.
RESERVED = (
    (re.compile(r"^boost/asio"), ("feeders", "exporters"), "Asio"),
    (re.compile(r"^fuse"), ("fs",), "libfuse"),
    (re.compile(r"^spdlog"), ("log",), "spdlog"),
    (re.compile(r"^CLI/"), ("usage",), "CLI11"),
)


def drawing(page):
    block = re.search(r"^```arrows\n(.*?)^```", page, re.M | re.S)
    if not block:
        sys.exit("docs/architecture.md has no ```arrows block")
    arrows = {}
    for line in block.group(1).splitlines():
        room, _, targets = line.partition("->")
        arrows[room.strip()] = set(targets.split())
    return arrows


def room_of(path, rooms):
    holding = [room for room in rooms if path == room or path.startswith(room + "/")]
    return max(holding, key=len, default=None)


def faults(path, text, arrows):
    room = room_of(path, arrows)
    if room is None:
        yield f"{path}: stands in no room of the drawing"
        return
    for included in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.M):
        target = room_of("include/" + included if included.startswith("tally/") else included, arrows)
        if target and target != room and target not in arrows[room]:
            yield f"{path}: includes {included}, but {room} -> {target} is not drawn"
        for pattern, places, what in RESERVED:
            if pattern.match(included) and not any(path.startswith(p + "/") for p in places):
                yield f"{path}: {what} is not for this room"
    if text.count("\n") > SPLIT_AT:
        yield f"{path}: {text.count(chr(10))} lines; past {SPLIT_AT} a file is split"


def cycles(arrows):
    state = {}

    def visit(room, way):
        if state.get(room) == "done":
            return
        if room in way:
            yield "the drawing has a circle: " + " -> ".join(way + [room])
            return
        for target in arrows.get(room, ()):
            yield from visit(target, way + [room])
        state[room] = "done"

    for room in arrows:
        yield from visit(room, [])


def main():
    arrows = drawing((ROOT / "docs/architecture.md").read_text())
    found = list(cycles(arrows))
    found += [f"docs/architecture.md: {t} is drawn as a target but is no room"
              for targets in arrows.values() for t in targets if t not in arrows]
    found += [f"docs/architecture.md: the room {room} does not exist" for room in arrows
              if not (ROOT / room).is_dir()]
    files = [p for top in SOURCES for p in sorted((ROOT / top).rglob("*"))
             if p.suffix in (".h", ".hpp", ".c", ".cpp")]
    for file in files:
        found += faults(str(file.relative_to(ROOT)), file.read_text(), arrows)
    for fault in found:
        print(fault)
    print(f"{len(files)} files, {len(found)} faults")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
