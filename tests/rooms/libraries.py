"""Holds what CMake links to the drawing, in both directions.

A room that links another draws an arrow to it, or, where it links libtally's room, to the public
headers. A room that includes another reaches its library by what it links.
"""
import re

from drawing import PAGE

MADE = re.compile(r"\b(?:tally_room|add_library|add_executable)\(([^\s)]+)([^)]*)\)")
LINKED = re.compile(r"\btarget_link_libraries\(([^\s)]+)([^)]*)\)")
CLIENT, PUBLIC_HEADERS = "feeders/client", "include/tally"


def read(cmake_files):
    """Room to the rooms its libraries and programs link; `cmake_files`: folder to text."""
    room_of = {}
    for folder, text in cmake_files.items():
        for name, _ in MADE.findall(text):
            room_of[name] = folder
    links = {folder: set() for folder in room_of.values()}
    for text in cmake_files.values():
        for name, rest in MADE.findall(text) + LINKED.findall(text):
            links[room_of[name]] |= {room_of[word] for word in rest.split() if word in room_of}
    return {folder: targets - {folder} for folder, targets in links.items()}


def reached(links, room):
    found, ahead = set(), [room]
    while ahead:
        for target in links.get(ahead.pop(), set()) - found:
            found.add(target)
            ahead.append(target)
    return found


def library_faults(links, arrows):
    for room, targets in links.items():
        for target in sorted(targets - arrows.get(room, set())):
            if target != CLIENT or PUBLIC_HEADERS not in arrows.get(room, set()):
                yield f"{room}/CMakeLists.txt: links {target}, but {PAGE} draws no arrow to it"
        for target in sorted((arrows.get(room, set()) & links.keys()) - reached(links, room)):
            yield f"{room}/CMakeLists.txt: {PAGE} draws {room} -> {target}, which is not linked"
