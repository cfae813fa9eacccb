"""The drawing of the rooms: the fenced block `arrows` of docs/architecture.md.

A line is `room -> rooms it may include`. A room is a folder of sources; a file belongs to the
longest room that holds it. The block `headers` (system_headers.py) is read by the same rules.
"""
import re

PAGE = "docs/architecture.md"


def block(page, name, title=PAGE):
    """The lines `left -> right...` of a fenced block, as a dict of left to the set of right."""
    found = re.search(rf"^```{name}\n(.*?)^```", page, re.M | re.S)
    if not found:
        raise SystemExit(f"{title} has no block ```{name}")
    lines = {}
    for line in found.group(1).splitlines():
        left, _, right = line.partition("->")
        lines[left.strip()] = set(right.split())
    return lines


def room_of(path, rooms):
    holding = [room for room in rooms if path == room or path.startswith(room + "/")]
    return max(holding, key=len, default=None)


def cycles(arrows):
    """Each way that ends where it began."""
    done = set()

    def visit(room, way):
        if room in done:
            return
        if room in way:
            yield "the drawing has a cycle: " + " -> ".join(way + [room])
            return
        for target in sorted(arrows.get(room, ())):
            yield from visit(target, way + [room])
        done.add(room)

    for room in arrows:
        yield from visit(room, [])


def drawing_faults(arrows, folders, libraries):
    """`folders`: all folders of the rooms' tops; `libraries`: those that make a CMake library."""
    yield from cycles(arrows)
    for room, targets in arrows.items():
        if room not in folders:
            yield f"{PAGE}: the room {room} does not exist"
        for target in sorted(targets - arrows.keys()):
            yield f"{PAGE}: {room} -> {target}, which is no room"
    for folder in sorted(libraries - arrows.keys()):
        yield f"{PAGE}: the room {folder} is not drawn"
