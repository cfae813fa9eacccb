#!/usr/bin/env python3
"""Prints what people should look at, and fails on nothing: the largest classes of the product, its
longest functions and files, and comments that begin as fragments or have words that say little.
"""
import collections
import re

from cpp import flat, heads
from sources import CPP, ROOM_TOPS, ROOT, project_files

SHOWN = 20
NO_MEMBER = re.compile(r"(?:using|friend|typedef|static_assert|enum|struct|class|template)\b"
                       r"|static constexpr\b")
METHOD = re.compile(r"\(\)|\boperator\b")
OWNER = re.compile(r"(\w+)::~?\w+$")
FRAGMENT = re.compile(r"(?:Of|The same|What|That of|Those|Nothing|By)\b")
WORDS = ("behind", "beside", "anew", "stand", "stands", "herewith", "goes on", "is over", "is told",
         "who", "whoever", "somebody", "nobody")


class Class:
    """What a header declares of a class, and the source files that define its methods."""

    def __init__(self):
        self.methods = self.members = 0
        self.files = set()

    def declare(self, head):
        text = flat(head.text)
        is_method = METHOD.search(text.partition("=")[0]) is not None
        self.methods += is_method
        self.members += not is_method and not NO_MEMBER.match(text)


def classes(files):
    """By folder and name. A nested class counts by itself."""
    found = collections.defaultdict(Class)
    headers = [file for file in files if file.path.endswith(".h")]
    for file in headers:
        for head in heads(file.text):
            if re.fullmatch(r"[A-Z]\w*", head.scope):
                found[file.folder, head.scope].declare(head)
    for file in files:
        for head in heads(file.text) if file not in headers else ():
            owner = OWNER.search(flat(head.text).partition("()")[0])
            if owner and (file.folder, owner[1]) in found:
                found[file.folder, owner[1]].files.add(file.path)
    return found


def comments(file):
    """Each comment of whole lines, as one text."""
    block = []
    for line in [*file.lines, ""]:
        match = re.match(r"\s*// ?(.*)", line)
        if match:
            block.append(match[1])
        elif block:
            yield " ".join(block)
            block = []


def print_largest(head, rows):
    print(head)
    for number, what in sorted(rows, reverse=True)[:SHOWN]:
        print(f"{number:7}  {what}")
    print()


def main():
    files = [file for file in project_files(ROOT)
             if file.path.startswith(ROOM_TOPS) and file.path.endswith(CPP)]
    print_largest("methods  class, with its members and source files", (
        (each.methods, f"{folder} {name}: {each.members}, {len(each.files)}")
        for (folder, name), each in classes(files).items()))
    print_largest("  lines  function", ((head.lines, f"{file.path} {head.name}")
                                        for file in files for head in heads(file.text)))
    print_largest("  lines  file", ((len(file.lines), file.path) for file in files))
    texts = [text for file in files for text in comments(file)]
    fragments = sum(bool(FRAGMENT.match(text)) for text in texts)
    print(f"{fragments:7}  of {len(texts)} comments begin as fragments")
    for word in WORDS:
        pattern = re.compile(rf"\b{word}\b")
        print(f"{sum(len(pattern.findall(text)) for text in texts):7}  {word}")


if __name__ == "__main__":
    main()
