"""Holds Python's imports: tally's modules to their drawing, all others to the standard library.

The package draws its layers in the docstring of its __init__.py: `    module -> modules`. Outside
of it a file may import tally and the modules beside it.
"""
import ast
import re
import sys

from drawing import cycles

PACKAGE = "feeders/client/python/tally"
# Debian's packages that a folder needs; tests/run installs them.
FOREIGN = {"tests/web": {"selenium", "PIL"}}
ARROW = re.compile(r"^ {4}(\w+) ->((?: \w+)*)$", re.M)


def imports(text):
    """(module, level, names) of each import; level counts the leading dots."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level, [alias.name for alias in node.names]


def layers(package):
    """The drawing in the docstring of the package's __init__.py."""
    return {module: set(targets.split()) for module, targets in ARROW.findall(package)}


def _inside(text, modules):
    """The modules of the package that one of them imports."""
    for module, level, names in imports(text):
        if level or module.split(".")[0] == "tally":
            name = module if level else module.partition(".")[2]
            yield from [name.split(".")[0]] if name else [n for n in names if n in modules]


def package_faults(files):
    """`files`: module to text, with "__init__"."""
    drawn = layers(files["__init__"])
    modules = files.keys() - {"__init__"}
    yield from cycles(drawn)
    for module in sorted(modules ^ drawn.keys()):
        yield f"{PACKAGE}: {module} is {'not drawn' if module in modules else 'drawn, and no module'}"
    for module in sorted(modules & drawn.keys()):
        imported = set(_inside(files[module], modules))
        for target in sorted(imported - drawn[module]):
            yield f"{PACKAGE}/{module}.py: imports {target}, but {module} -> {target} is not drawn"
        for target in sorted(drawn[module] - imported):
            yield f"{PACKAGE}: {module} -> {target} is drawn, but not imported"


def outside_faults(files):
    """Imports of all Python files: nothing that a plain Python and this project lack."""
    beside = {folder: set(names) for folder, names in FOREIGN.items()}
    for file in files:
        beside.setdefault(file.folder, set()).add(file.path.rpartition("/")[2].removesuffix(".py"))
    for file in files:
        for module, level, _ in imports(file.text):
            name = module.split(".")[0]
            if not (level or name in sys.stdlib_module_names or name == "tally"
                    or name in beside[file.folder]):
                yield f"{file.path}: imports {name}, which is neither Python's, tally nor beside it"
