"""Counts lines that are too wide against a ceiling.

A ceiling is of the whole project and only goes down. Below it the count is reported, not a fault.
"""
import collections
import re

COLUMNS_MAX = 100
# What may be wider: a table's row, a line that is one link, an arrow of the drawing.
WIDE = re.compile(r"^\s*(?:\||<?https?://\S+>?$|\[[^\]]*\]:|[\w/*.]+ +->)")


def wide_lines(file):
    """Numbers of the lines that are too wide; what a page shows of a terminal is as it is."""
    fenced = False
    for number, line in enumerate(file.lines, 1):
        if file.language == ".md" and line.lstrip().startswith("```"):
            fenced = not fenced
        if file.language and len(line) > COLUMNS_MAX and not fenced and not WIDE.match(line):
            yield number


def by_folder(files, count):
    found = collections.Counter()
    for file in files:
        found[file.folder or "."] += count(file)
    return +found


def ceiling_faults(what, counts, ceiling):
    total = sum(counts.values())
    if total > ceiling:
        yield f"{total} {what}; the ceiling is {ceiling}:"
        for folder, count in counts.most_common():
            yield f"  {count:4} {folder}"
