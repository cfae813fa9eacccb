"""Holds Python's imports to the standard library, tally, and the modules beside the file."""
import ast
import sys

# Debian's packages that a folder needs; tests/run installs them.
FOREIGN = {"tests/web": {"selenium", "PIL"}, "tests/python": {"numpy", "prometheus_client"}}


def imports(text):
    """(module, level) of each import; level counts the leading dots."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


def outside_faults(files):
    """Imports of all Python files: nothing that a plain Python and this project lack."""
    beside = {folder: set(names) for folder, names in FOREIGN.items()}
    for file in files:
        beside.setdefault(file.folder, set()).add(file.path.rpartition("/")[2].removesuffix(".py"))
    for file in files:
        for module, level in imports(file.text):
            name = module.split(".")[0]
            if not (level or name in sys.stdlib_module_names or name == "tally"
                    or name in beside[file.folder]):
                yield f"{file.path}: imports {name}, which is neither Python's, tally nor beside it"
