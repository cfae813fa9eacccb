"""The project's files, as the checks see them: which there are, and their languages."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOM_TOPS = ("core", "fs", "feeders", "exporters", "include", "tools", "program")
ALL_TOPS = ROOM_TOPS + ("examples", "tests", "packaging", "docs")
CPP = (".h", ".hpp", ".c", ".cpp")
DATA_FOLDERS = ("tests/fuzz/corpus/", "tests/golden/")  # bytes and texts that tests compare


class File:
    """One text file: its path from the project's root, its text, and its language as a suffix."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        suffix = pathlib.PurePath(path).suffix
        first = self.lines[0] if self.lines else ""
        if suffix in CPP:
            self.language = ".cpp"
        elif suffix in (".py", ".sh", ".md"):
            self.language = suffix
        elif first.startswith("#!"):
            self.language = ".py" if "python" in first else ".sh"
        else:
            self.language = ".sh" if path.endswith(("CMakeLists.txt", ".cmake")) else ""

    @property
    def folder(self):
        return self.path.rpartition("/")[0]


def _text(path):
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return None  # an image, a compressed page, bytes of a test


def project_files(root=ROOT):
    """Every text file of the project, but for data that tests compare."""
    paths = [p for p in root.glob("*") if p.suffix == ".md" or p.name == "CMakeLists.txt"]
    paths += [p for top in ALL_TOPS for p in (root / top).rglob("*")]
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or "__pycache__" in name or name.startswith(DATA_FOLDERS):
            continue
        text = _text(path)
        if text is not None:
            yield File(name, text)
