#!/usr/bin/env python3
"""Holds docs/own-numbers.md to the rows of core/base/daemon_counter.h.

  tests/rooms/own_numbers.py --write   write the list into the page
"""
import re
import sys
import textwrap

from sources import ROOT

HEADER = "core/base/daemon_counter.h"
PAGE = "docs/own-numbers.md"
TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
ROW = re.compile(rf'\{{"(\w+)", k\w+, "[^"]*",\s*{TEXT}(?:,\s*{TEXT},\s*{TEXT})?\}}')
LIST = re.compile(r"^## The numbers\n\n((?:(?:\* |  ).*\n)*)", re.M)


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals or ""))


def entries(header):
    """The page's list, as the header's rows make it."""
    for name, meaning, _, advice in ROW.findall(header):
        text = "; ".join(filter(None, (joined(meaning), joined(advice))))
        yield textwrap.fill(f"* `{name}`: {text}.", 100, subsequent_indent="  ",
                            break_long_words=False, break_on_hyphens=False) + "\n"


def own_number_faults(header, page):
    found = LIST.search(page)
    if not found:
        yield f"{PAGE}: has no list of numbers"
    elif found.group(1) != "".join(entries(header)):
        yield f"{PAGE}: differs from {HEADER}: tests/rooms/own_numbers.py --write"


def main():
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    header, page = ((ROOT / path).read_text() for path in (HEADER, PAGE))
    found = LIST.search(page)
    (ROOT / PAGE).write_text(page[:found.start(1)] + "".join(entries(header)) + page[found.end(1):])


if __name__ == "__main__":
    main()
