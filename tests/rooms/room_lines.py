#!/usr/bin/env python3
"""Counts the lines of each room, for the table in docs/architecture.md.

  tests/rooms/room_lines.py           print the table
  tests/rooms/room_lines.py --write   write it into the page; numbers that are not off stay as they are
  tests/rooms/room_lines.py --check   fail if a number is more than 10 % off, or a room is missing

Rooms are those of the page's block `arrows`; a file belongs to the longest room that holds it. The
purposes are kept as the page has them: a new room needs one, in the last column.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/architecture.md"
SUFFIXES = (".h", ".hpp", ".c", ".cpp", ".py")
TABLE = re.compile(r"^\| room \| lines \| purpose \|\n\|---.*\n((?:\|.*\n)+)", re.M)
OFF_MAX = 0.10


def rooms_of(page):
    block = re.search(r"^```arrows\n(.*?)^```", page, re.M | re.S).group(1)
    return [line.partition("->")[0].strip() for line in block.splitlines() if line.strip()]


def rows_of(page):
    """Room to (lines, purpose), as the page has them."""
    rows = [[cell.strip() for cell in row.strip("|").split("|")]
            for row in TABLE.search(page).group(1).splitlines()]
    return {room: (int(lines.replace(",", "")), purpose) for room, lines, purpose in rows}


def count(rooms):
    lines = dict.fromkeys(rooms, 0)
    for top in sorted({room.partition("/")[0] for room in rooms}):
        for file in sorted((ROOT / top).rglob("*")):
            name = str(file.relative_to(ROOT))
            holding = [room for room in rooms if name.startswith(room + "/")]
            if file.suffix in SUFFIXES and holding:
                lines[max(holding, key=len)] += file.read_text().count("\n")
    return lines


def is_off(shown, counted):
    return abs(shown - counted) > OFF_MAX * counted


def table(counted, rows):
    """Rewrites no row without need, so that branches that count anew seldom collide."""
    lines = ["| room | lines | purpose |", "|---|---|---|"]
    for room, number in counted.items():
        shown, purpose = rows.get(room, (0, "none yet"))
        lines.append(f"| {room} | {number if is_off(shown, number) else shown:,} | {purpose} |")
    return "".join(line + "\n" for line in lines)


def faults(counted, rows):
    for room in sorted(counted.keys() - rows.keys()):
        yield f"{room}: is in the drawing, but not in the table"
    for room in sorted(rows.keys() - counted.keys()):
        yield f"{room}: is in the table, but not in the drawing"
    for room in sorted(counted.keys() & rows.keys()):
        if is_off(rows[room][0], counted[room]):
            yield f"{room}: the table says {rows[room][0]} lines, there are {counted[room]}"
        if rows[room][1] in ("", "none yet"):
            yield f"{room}: has no purpose in the table"


def main():
    page = PAGE.read_text()
    counted, rows = count(rooms_of(page)), rows_of(page)
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(TABLE.sub(lambda _: table(counted, rows), page))
    elif sys.argv[1:] == ["--check"]:
        found = list(faults(counted, rows))
        for fault in found:
            print(f"docs/architecture.md: {fault}")
        if found:
            print("tests/rooms/room_lines.py --write counts anew")
        return 1 if found else 0
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        print(table(counted, rows), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
