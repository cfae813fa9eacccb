"""Reads C and C++ as far as the checks need it: comments, functions, declarations of a class.

Not a parser: it knows our formatted style. Text between `;`, `{` and `}` outside of functions is a
head; the head says whether a brace opens a namespace, a class, a function or an initializer.
"""
import dataclasses
import re

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.M)
CLASS = re.compile(r'^(?:typedef )?(?:class|struct|union|namespace|enum)\b|^extern "\s*"$')
RETURNS_STRUCT = re.compile(r"\)(?: (?:const|noexcept|override|final))*$|=")
LABEL = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|[^\s\w(]+)")
MEMBERS = re.compile(r"\)[^:]*(?<!:):(?!:)")
TEMPLATE = re.compile(r"^(?:\s*template\s*<)")


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with blanks for comments and for what strings hold; lines keep their numbers."""
    def replaced(match):
        token = match.group()
        if token[0] == "/":
            return _blank(token)
        return '"' + _blank(token[1:-1]) + '"' if token[0] in '"R' else "' '"
    return TOKEN.sub(replaced, text)


@dataclasses.dataclass
class Head:
    """What stands before a function's body or a declaration's `;`, and in which class."""
    text: str
    scope: str
    line: int
    last_line: int = 0  # of the body; 0: a declaration

    @property
    def lines(self):
        return self.last_line - self.line + 1

    @property
    def name(self):
        before = OPERATOR.sub("operator", flat(self.text)).partition("()")[0]
        return re.split(r"[\s*&]", before.strip())[-1]


def _without_template(head):
    while TEMPLATE.match(head):
        depth, at = 0, head.index("<")
        for at in range(at, len(head)):
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            if depth == 0:
                break
        head = head[at + 1:].strip()
    return head


def flat(head):
    """The head without what parentheses, brackets and a template's line hold."""
    head = _without_template(" ".join(head.split()))
    head = re.sub(r"\[\[.*?\]\]\s*", "", head)
    before = None
    while before != head:
        before, head = head, re.sub(r"\([^()]+\)", "()", head)
    return head


def _kind(head):
    """What a brace after this head opens: "scope", "function" or "value"."""
    head = OPERATOR.sub("operator", flat(head))
    if CLASS.match(head) and not RETURNS_STRUCT.search(head.partition(" : ")[0]):
        return "value" if head.startswith("enum") else "scope"
    if MEMBERS.search(head):
        return "function" if head[-1] in ")}" else "value"
    return "value" if "=" in head or "()" not in head else "function"


def _closing(text, at):
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


def heads(text):
    """Each function with a body and each declaration, outside of functions."""
    text = without_comments(text)
    for pattern in (DIRECTIVE, LABEL):
        text = pattern.sub(lambda match: _blank(match.group()), text)
    scopes, begun, at, depth = [], 0, 0, 0
    kept = ""  # of the head, before an initializer in it

    def head():
        return (kept + text[begun:at]).strip()

    def line(position):
        return text.count("\n", 0, position) + 1

    first = None
    while at < len(text):
        char = text[at]
        if first is None and not char.isspace() and char not in "{};":
            first = at
        if char in "()":
            depth += 1 if char == "(" else -1
        elif char == "{":
            kind = "value" if depth else _kind(head())
            end = _closing(text, at)
            if kind == "scope":
                found = flat(head()).partition(" : ")[0].replace(" final", "").split()
                scopes.append(found[-1] if found else "")
                kept, first, begun = "", None, at + 1
            elif kind == "function":
                yield Head(head(), scopes[-1] if scopes else "", line(first), line(end))
                kept, first, at, begun = "", None, end, end + 1
            else:
                kept, at, begun = kept + text[begun:at] + "{}", end, end + 1
        elif char == ";" and not depth:
            if first is not None:
                yield Head(head(), scopes[-1] if scopes else "", line(first))
            kept, first, begun = "", None, at + 1
        elif char == "}" and not depth:
            if scopes:
                scopes.pop()
            kept, first, begun = "", None, at + 1
        at += 1


def parameters(head):
    """The parameters between a head's first parentheses at depth 0, each as its text."""
    text = _without_template(" ".join(head.split()))
    text = OPERATOR.sub("operator", text)
    depth, begun, found = 0, text.find("(") + 1, []
    for at in range(begun, len(text)):
        char = text[at]
        if char in "([{<":
            depth += 1
        elif char in ")]}>" and text[at - 1] != "-":
            depth -= 1
        if depth < 0 or depth == 0 and char == ",":
            found.append(text[begun:at].strip())
            begun = at + 1
            if depth < 0:
                break
    return [parameter for parameter in found if parameter and parameter != "void"]
