"""A page of the documentation: its console blocks, links and headings, and how output is compared.

Rules that a page may use, each in a comment on the line before a block:
  <!-- replay: needs NAME... -->   skip the block unless the machine has each NAME: root, tracefs, libtally
                                   (cmake --install works in the build tree), or a program in the PATH
  <!-- replay: skip REASON -->     never run the block; it is counted as skipped
  <!-- replay: any numbers -->     a number stands for any number, also for one with bounds, and white
                                   space for any white space
  <!-- replay: in time -->         a command whose output differs is typed again, for up to 10 s: what it
                                   shows comes by itself, as a feeder's first registration does
  <!-- replay: daemon OPTIONS -->  start a new daemon with these options, and a new shell
  <!-- replay: no daemon -->       the block starts tallyfs itself
Everywhere a time, [seconds.microseconds], stands for any time, a token of 64 hexadecimal digits for
any token, and `...` on a line of its own for any lines.
"""
import dataclasses
import re

BLOCK = re.compile(r"((?:^<!-- replay: [^\n]* -->\n)*)^```console\n(.*?)^```$", re.M | re.S)
TIME = re.compile(r"\[\s*\d+\.\d{6}\]")
TOKEN = re.compile(r"\b[0-9a-f]{64}\b")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# tallyctl shows them of a percentile that it does not know exactly.
BOUNDS = re.compile(r" \(\d[\d.]*-\d[\d.]*\)")


@dataclasses.dataclass
class Command:
    """What is typed behind `$ `, continued behind `> `, and the lines that it prints."""
    text: str
    output: list


@dataclasses.dataclass
class Block:
    page: str
    line: int
    start: int  # where its commands begin in the page's text, and where they end
    end: int
    rules: list  # (word, the rest), as ("needs", "tracefs")
    commands: list

    def rule(self, word):
        return next((rest for name, rest in self.rules if name == word), None)

    @property
    def in_time(self):
        return self.rule("in") == "time"

    @property
    def any_numbers(self):
        return self.rule("any") is not None


def commands_of(text):
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:], []))
        elif line.startswith("> ") and commands and not commands[-1].output:
            commands[-1].text += "\n" + line[2:]
        elif commands:
            commands[-1].output.append(line)
        else:
            raise ValueError(f"output before the first command: {line}")
    return commands


def blocks_of(name, text):
    blocks = []
    for found in BLOCK.finditer(text):
        rules = [tuple((each.split(None, 1) + [""])[:2])
                 for each in re.findall(r"<!-- replay: (.*) -->", found.group(1))]
        line = text.count("\n", 0, found.start(2))
        blocks.append(Block(name, line, found.start(2), found.end(2), rules,
                            commands_of(found.group(2))))
    return blocks


def pattern_of(text, varying):
    """The regular expression of a text: what is of these kinds stands for any of its kind."""
    if not varying:
        return re.escape(text)
    first, *others = varying
    return first.pattern.join(pattern_of(part, others) for part in first.split(text))


def line_pattern(line, any_numbers):
    """Of a line: times and tokens vary, and numbers and white space where said."""
    if any_numbers:
        return pattern_of(of_any_numbers(line), [NUMBER])
    return pattern_of(line, [TIME, TOKEN])


def of_any_numbers(line):
    return BOUNDS.sub("", " ".join(line.split()))


def matches(wanted, got, any_numbers):
    pattern = "".join(r"(?:.*\n)*" if line == "..." else line_pattern(line, any_numbers) + r"\n"
                      for line in wanted)
    if any_numbers:
        got = [of_any_numbers(line) for line in got]
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def links_of(text):
    """The targets of links to other files, and the anchors in them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    targets = re.findall(r"\]\(([^)\s]+)\)|src(?:set)?=\"([^\"]+)\"", prose)
    return [target for pair in targets for target in pair
            if target and not re.match(r"[a-z]+:", target)]


def last_heading(text):
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return (re.findall(r"^## (.*)$", prose, re.M) or [""])[-1]


def anchors_of(text):
    """The anchors of the headings, as forges make them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", prose, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
