"""Functions of at most 50 lines, head and body, and constructors of at most 5 parameters.

A shell function's here-documents are programs and texts of their own, and do not count.
"""
import ast
import re

from cpp import heads, parameters

LINES_MAX = 50
PARAMETERS_MAX = 5
SHELL_FUNCTION = re.compile(r"^(\w+)\(\) *[{(](?: *#[^\n]*)?\n(.*?)^[})]", re.M | re.S)

HERE_DOCUMENT = re.compile(r"(<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n)(?:.*?\n)??\s*\2(?=\n)", re.S)


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def shell_functions(text):
    text = HERE_DOCUMENT.sub(r"\1", text)
    for match in SHELL_FUNCTION.finditer(text):
        yield match.group(1), text.count("\n", 0, match.start()) + 1, match.group().count("\n") + 1


def cpp_functions(text):
    for head in heads(text):
        if head.last_line:
            yield head.name, head.line, head.lines


FUNCTIONS = {".cpp": cpp_functions, ".py": python_functions, ".sh": shell_functions}


def length_faults(files):
    for file in files:
        for name, line, lines in FUNCTIONS.get(file.language, lambda text: ())(file.text):
            if lines > LINES_MAX:
                yield f"{file.path}:{line}: {name} has {lines} lines; past {LINES_MAX} it is split"


def constructor_faults(files):
    for file in files:
        if file.language != ".cpp":
            continue
        for head in heads(file.text):
            owner = head.scope
            if owner and re.fullmatch(rf"(?:(?:explicit|constexpr) )*{re.escape(owner)}", head.name) \
                    and len(parameters(head.text)) > PARAMETERS_MAX:
                count = len(parameters(head.text))
                yield f"{file.path}:{head.line}: the constructor of {owner} has {count} parameters"
