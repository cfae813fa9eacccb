"""Finds a missing #include, which unity builds and precompiled headers hide from the compiler.

A file that names a type of the project, or one of the C++ standard that all rooms' precompiled
headers have, reaches its header: by an #include of its own or of the headers that it includes. (The
`debug` preset compiles file by file and finds what this check does not see; tests/run long.)
"""
import collections
import re

from cpp import without_comments
from includes import included

# Headers of CMakeLists.txt's TALLY_HEADERS, and what needs them.
STANDARD = {
    "array": r"std::array\b|std::to_array\b",
    "atomic": r"std::atomic\b|std::memory_order",
    "chrono": r"std::chrono\b",
    "functional": r"std::(?:function|plus|invoke)\b",
    "map": r"std::(?:multi)?map\b",
    "memory": r"std::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(?:mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once)\b",
    "optional": r"std::(?:optional|nullopt)\b",
    "set": r"std::(?:multi)?set\b",
    "span": r"std::span\b",
    "string": r"std::(?:string|to_string)\b",
    "string_view": r"std::string_view\b",
    "variant": r"std::(?:variant|monostate|visit|get_if|holds_alternative)\b",
    "vector": r"std::vector\b",
    "boost/unordered/unordered_flat_map.hpp": r"boost::unordered_flat_map\b",
    "boost/system/result.hpp": r"boost::system::result\b",
}
# Standard headers that declare others' names too.
ALSO = {"string": {"string_view", "fstream", "sstream", "filesystem"},
        "string_view": {"string", "charconv", "fstream", "sstream", "filesystem"},
        "optional": {"boost/optional.hpp"},
        "mutex": {"condition_variable", "shared_mutex"},
        "chrono": {"thread", "condition_variable", "future"}}
STANDARD = {header: re.compile(names) for header, names in STANDARD.items()}
DEFINED = re.compile(r"^(?:template <[^;{]*>\s*)?(?:class|struct|union|enum(?: class)?)\s+"
                     r"(?:\[\[\w+\]\]\s+|[A-Z][A-Z_]+(?:\([^)]*\))?\s+)*([A-Z]\w+)"
                     r"(?:\s+final)?(?:\s*:[^:;][^;{]*)?\s*\{", re.M)
ALIAS = re.compile(r"^using ([A-Z]\w+) =", re.M)
DECLARED = re.compile(r"\b(?:class|struct|union|enum|enum class|using|typename|concept)\s+([A-Z]\w+)")
NAMED = re.compile(r"(?<![\w.>:])[A-Z][a-z]\w+\b")


class Reach:
    """All headers that a file includes, by itself and through headers of the project.

    The project's are named from its root, from include/, and in tests from the file's own folder.
    """

    def __init__(self, texts):
        self.texts = texts
        self.known = {}

    def of(self, path):
        if path not in self.known:
            self.known[path] = found = set()
            folder = path.rpartition("/")[0]
            for header in included(self.texts.get(path, "")):
                own = (header, f"include/{header}", f"{folder}/{header}")
                header = next((each for each in own if each in self.texts), header)
                found.add(header)
                found |= self.of(header) if header in self.texts else set()
        return self.known[path]


def _definitions(codes):
    """The header of each type that one header alone defines."""
    places = collections.defaultdict(set)
    for path, code in codes.items():
        for name in DEFINED.findall(code) + ALIAS.findall(code):
            places[name].add(path)
    return {name: paths.pop() for name, paths in places.items()
            if len(paths) == 1 and next(iter(paths)).endswith((".h", ".hpp"))}


def missing_faults(files):
    texts = {file.path: file.text for file in files}
    codes = {path: without_comments(text) for path, text in texts.items()}
    home, reach = _definitions(codes), Reach(texts)
    declared = {path: set(DECLARED.findall(code)) for path, code in codes.items()}
    for path, code in codes.items():
        reached = reach.of(path)
        for header, names in STANDARD.items():
            if names.search(code) and not reached & {header, *ALSO.get(header, ())}:
                yield f"{path}: names {names.search(code).group()} without <{header}>"
        for name in sorted(set(NAMED.findall(code)) - declared[path]):
            header = home.get(name)
            if header in (None, path) or header in reached:
                continue
            if not any(name in declared.get(each, ()) for each in reached):
                yield f"{path}: names {name} without {header}"
