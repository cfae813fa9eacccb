"""What pip calls to build the package tally from this source tree (PEP 517), with a C++ compiler
($CXX, else c++) and the headers of Boost, and without any other package of Python.

    pip install feeders/client/python

libtally is compiled into the module, so that nothing of it need be installed. A tree that is
installed by CMake or as packages of Debian has the module of CMakeLists.txt instead, which links
libtally.so."""
import base64
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ROOMS = ("core/base", "core/model", "core/lane", "core/wire", "core/stats3/blob", "feeders/clock",
         "feeders/client", "feeders/client/python")  # fmt: skip
FILES = ("__init__.py", "_tally.pyi", "py.typed")
VERSION = re.search(r"^project\(tallyfs VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.M)[1]  # fmt: skip
IS_STABLE = sys.version_info >= (3, 11)  # as python.h has it
PLATFORM = re.sub(r"[-.]", "_", sysconfig.get_platform())
PYTHON = "cp%d%d" % sys.version_info[:2]
TAG = f"cp311-abi3-{PLATFORM}" if IS_STABLE else f"{PYTHON}-{PYTHON}-{PLATFORM}"
FLAGS = ["-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-ffunction-sections",
         "-pthread", "-fno-math-errno", f'-DTALLYFS_VERSION="{VERSION}"', f"-I{ROOT}",
         f"-I{ROOT}/include", f"-isystem{sysconfig.get_path('include')}"]  # fmt: skip
FLAGS_OF_MODULE = ["-fno-exceptions"]  # CMakeLists.txt says why
LINK_FLAGS = ["-shared", "-pthread", "-Wl,--gc-sections", "-Wl,-z,nodelete", "-Wl,-z,relro,-z,now"]


def _compile(room, folder):
    """All sources of a room at once, as the presets of CMake do."""
    sources = sorted((ROOT / room).glob("*.cpp"))
    name = room.replace("/", "_")
    unit = folder / f"{name}.cpp"
    unit.write_text("".join(f'#include "{each}"\n' for each in sources))
    flags = FLAGS + (FLAGS_OF_MODULE if ROOT / room == HERE else [])
    _run(["-c", *flags, unit, "-o", folder / f"{name}.o"])
    return folder / f"{name}.o"


def _run(arguments):
    subprocess.run([os.environ.get("CXX", "c++"), *map(str, arguments)], check=True)


def _build_module(folder):
    suffix = ".abi3.so" if IS_STABLE else sysconfig.get_config_var("EXT_SUFFIX")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda room: _compile(room, folder), ROOMS))
    module = folder / f"_tally{suffix}"
    # What of libtally is in here is this module's only, beside a libtally.so of the process.
    exports = folder / "exports"
    exports.write_text("{ global: PyInit__tally; local: *; };\n")
    _run([*LINK_FLAGS, f"-Wl,--version-script={exports}", *objects, "-o", module])
    return module


def _metadata():
    return (f"Metadata-Version: 2.1\nName: tally\nVersion: {VERSION}\n"
            "Summary: Feeds tallyfs, statistics in user space\nRequires-Python: >=3.9\n")


def _row(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    about = pathlib.Path(metadata_directory) / f"tally-{VERSION}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(_metadata())
    return about.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise SystemExit("tally was not tried without the GIL: use a Python that has it")
    name, about = f"tally-{VERSION}-{TAG}.whl", f"tally-{VERSION}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: tallyfs\nRoot-Is-Purelib: false\nTag: {TAG}\n"
    with tempfile.TemporaryDirectory() as folder:
        module = _build_module(pathlib.Path(folder))
        contents = {f"tally/{each}": (HERE / "tally" / each).read_bytes() for each in FILES}
        contents[f"tally/{module.name}"] = module.read_bytes()
    contents[f"{about}/METADATA"] = _metadata().encode()
    contents[f"{about}/WHEEL"] = wheel.encode()
    record = "".join(_row(*each) for each in contents.items()) + f"{about}/RECORD,,\n"
    contents[f"{about}/RECORD"] = record.encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as made:
        for each, content in contents.items():
            made.writestr(each, content)
    return name
