#!/usr/bin/env python3
"""Holds the project to the drawing of its rooms (docs/architecture.md) and to its style.

Each module beside this one is one check; check_test.py shows that each can fail. A fault is a line;
the exit status is 0 without any.
"""
import sys

import accepted
from constructors import constructor_faults
from drawing import PAGE, block, drawing_faults
from fence import fence_faults
from includes import include_faults
from lengths import page_length_faults
from libraries import library_faults, read
from missing_includes import missing_faults
from namespaces import namespace_faults
from own_numbers import HEADER as NUMBERS, PAGE as NUMBERS_PAGE, own_number_faults
from python_imports import outside_faults
from sources import ALL_TOPS, CPP, ROOM_TOPS, ROOT, project_files
from style import by_folder, ceiling_faults, wide_lines
from system_headers import PAGE as HEADERS_PAGE, header_faults, opening_faults


def rooms_faults(files):
    pages = {file.path: file.text for file in files if file.path in (PAGE, HEADERS_PAGE)}
    arrows = block(pages[PAGE], "arrows")
    headers = block(pages[HEADERS_PAGE], "headers", HEADERS_PAGE)
    cpp = [f for f in files if f.path.startswith(ROOM_TOPS) and f.path.endswith(CPP)]
    links = read({f.folder: f.text for f in files
                  if f.path.startswith(ROOM_TOPS) and f.path.endswith("CMakeLists.txt")})
    everything = [f for f in files if f.path.startswith(ALL_TOPS) and f.path.endswith(CPP)]
    yield from drawing_faults(arrows, {f.folder for f in cpp}, links.keys())
    yield from fence_faults(arrows)
    yield from include_faults(cpp, arrows)
    yield from library_faults(links, arrows)
    yield from header_faults(everything, headers, arrows)
    yield from opening_faults(cpp)
    yield from missing_faults(everything)
    yield from namespace_faults(cpp)
    if not cpp:
        yield "no sources were found"


def page_faults(files):
    texts = {file.path: file.text for file in files if file.path in (NUMBERS, NUMBERS_PAGE)}
    yield from own_number_faults(texts[NUMBERS], texts[NUMBERS_PAGE])


def style_faults(files):
    yield from constructor_faults(files)
    yield from page_length_faults(files)
    for what, (counts, ceiling) in ceilings(files).items():
        yield from ceiling_faults(what, counts, ceiling)


def ceilings(files):
    """What is counted, by folder, and how much of it there may be."""
    return {
        "lines of more than 100 columns": (
            by_folder(files, lambda file: len(list(wide_lines(file)))), accepted.WIDE_MAX),
    }


def main():
    files = list(project_files(ROOT))
    python = [file for file in files if file.language == ".py"]
    found = [*rooms_faults(files), *outside_faults(python), *page_faults(files),
             *style_faults(files)]
    faults = [fault for fault in found if not accepted.entry_of(fault)]
    for fault in faults:
        print(fault)
    for entry in sorted(set(accepted.FAULTS) - {accepted.entry_of(fault) for fault in found}):
        print(f"tests/rooms/accepted.py: mended by now: {entry}")
    for what, (counts, ceiling) in ceilings(files).items():
        print(f"{sum(counts.values())} of at most {ceiling} {what}")
    print(f"{len(files)} files, {len(faults)} faults, {len(found) - len(faults)} accepted")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
