"""Holds each #include of a room to the drawing, and each arrow to an #include."""
import re

from drawing import PAGE, room_of

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def included(text):
    return INCLUDE.findall(text)


def _arrows_of(file, rooms):
    """The rooms that a file includes, each with the header."""
    for header in included(file.text):
        target = room_of("include/" + header if header.startswith("tally/") else header, rooms)
        if target:
            yield target, header


def include_faults(files, arrows):
    used = {room: set() for room in arrows}
    for file in files:
        room = room_of(file.path, arrows)
        if room is None:
            yield f"{file.path}: stands in no room of the drawing"
            continue
        for target, header in _arrows_of(file, arrows):
            used[room].add(target)
            if target != room and target not in arrows[room]:
                yield f"{file.path}: includes {header}, but {room} -> {target} is not drawn"
    for room, targets in arrows.items():
        for target in sorted(targets - used[room]):
            yield f"{PAGE}: {room} -> {target} is drawn, but no file includes it"
