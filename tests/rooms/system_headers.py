"""Holds headers of the system and of other projects to the rooms that may include them.

The table is the fenced block `headers` of docs/system-headers.md: `pattern -> rooms`. The longest
pattern that matches a header decides; a room stands for all folders under it, and may be one file.
Headers of the C++ standard need no line, unless they open files. Beside it, no source of core/
calls a function that opens a file.
"""
import fnmatch
import re

from cpp import without_comments
from drawing import room_of
from includes import included

PAGE = "docs/system-headers.md"
STANDARD = frozenset("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno charconv chrono climits cmath
compare complex concepts condition_variable cstdarg cstddef cstdint cstdio cstdlib cstring ctime
deque exception forward_list functional future initializer_list iomanip iterator latch limits list
locale map memory mutex new numbers numeric optional queue random ranges ratio regex semaphore set
shared_mutex span sstream stack stdexcept stop_token string string_view system_error thread tuple
type_traits typeinfo unordered_map unordered_set utility variant vector version csignal
""".split())
OPENS_A_FILE = re.compile(
    r"\b(?:fopen|freopen|fdopen|openat|opendir|popen|creat|shm_open|memfd_create|[io]?fstream)\b"
    r"|(?<![\w>])::(?:open|socket|connect|readlink|stat|lstat|mmap|system)\s*\(")


def _rooms_for(header, table):
    patterns = [pattern for pattern in table if fnmatch.fnmatchcase(header, pattern)]
    return table[max(patterns, key=len)] if patterns else None


def header_faults(files, table, rooms):
    """`rooms`: the drawing's; headers of theirs are the drawing's business."""
    used = set()
    for file in files:
        for header in included(file.text):
            own = "include/" + header if header.startswith("tally/") else header
            if header in STANDARD or room_of(own, rooms) or "." not in header and "/" in header:
                continue
            allowed = _rooms_for(header, table)
            used.add(header)
            if allowed is None:
                yield f"{file.path}: {PAGE} has no line for <{header}> in its block `headers`"
            elif room_of(file.path, allowed) is None:
                yield f"{file.path}: <{header}> is for {' '.join(sorted(allowed))}"
    for pattern in sorted(table):
        if not fnmatch.filter(used, pattern):
            yield f"{PAGE}: no file includes <{pattern}>"


def opening_faults(files):
    for file in files:
        if file.path.startswith("core/"):
            for number, line in enumerate(without_comments(file.text).splitlines(), 1):
                if OPENS_A_FILE.search(line) and not line.lstrip().startswith("#"):
                    yield f"{file.path}:{number}: core/ opens no file of the system: {line.strip()}"
