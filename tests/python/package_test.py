"""The package as programs get it: its names, its types, where it may be imported, and its end."""
import ast
import importlib.util
import inspect
import itertools
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import unittest

from daemon_fixture import CLIENT, DEADLINE_S, ROOT, WEB, RunningDaemonCase

import tally


class NamesTest(unittest.TestCase):
    def test_all_public_names_are_there_once_and_say_what_they_do(self):
        self.assertEqual([name for name in tally.__all__ if not hasattr(tally, name)], [])
        self.assertEqual(sorted(set(tally.__all__)), sorted(tally.__all__))
        calls = [getattr(tally, name) for name in tally.__all__]
        self.assertEqual([call for call in calls if callable(call) and not call.__doc__], [])

    def test_the_functions_have_the_names_of_the_c_library(self):
        header = (ROOT / "include/tally/statistic.h").read_text()
        defined = {name for name in tally.__all__ if name.startswith("statistic_")}
        self.assertEqual([name for name in defined if name not in header], [])
        self.assertIs(tally.statistic_inc, tally.Statistic.inc)
        self.assertIs(tally.statistic_create_interface, tally.Interface)

    def test_stubs_have_the_parameters_of_the_module(self):
        stubs = ast.parse((CLIENT / "tally/_tally.pyi").read_text()).body
        for stub in stubs:
            if isinstance(stub, ast.ClassDef) and stub.name != "_Context":
                kind = getattr(tally._tally, stub.name)
                self.compare(kind, self.signatures(stub.body))
                public = {name for name in vars(kind) if not name.startswith("_")}
                self.assertEqual(public - self.signatures(stub.body).keys(), set(), stub.name)
        self.compare(tally._tally, self.signatures(stubs))

    def compare(self, where, signatures):
        for name, parameters in signatures.items():
            found = inspect.getattr_static(where, name)
            if name != "__init__" and getattr(found, "__text_signature__", None):
                self.assertEqual(list(inspect.signature(found).parameters), parameters, name)

    @staticmethod
    def signatures(body):
        """Name to the names of the parameters."""
        return {each.name: [arg.arg for arg in each.args.posonlyargs + each.args.args]
                + [arg.arg for arg in (each.args.vararg, each.args.kwarg) if arg]
                for each in body if isinstance(each, ast.FunctionDef)}  # fmt: skip

    def test_the_package_reads_as_its_oldest_python(self):
        ast.parse((CLIENT / "tally/__init__.py").read_text(), feature_version=(3, 9))


class LabelledTest(unittest.TestCase):
    def test_labels_are_escaped_and_sorted(self):
        self.assertEqual(tally.labelled("latency", route="/cart", code=200),
                         "latency{code:200,route:%2Fcart}")  # fmt: skip
        self.assertEqual(tally.labelled("l", **{"a b": 'x,"y"', "name": "é"}),
                         "l{a%20b:x%2C%22y%22,name:é}")  # fmt: skip
        self.assertEqual(tally.labelled("l"), "l")

    def test_what_is_no_name_is_refused(self):
        for name, labels in (("a/b", {}), ("l{x}", {}), ("l", {"": 1}), ("l", {"k": "\0"}),
                             ("l", {"k": "x" * 255})):  # fmt: skip
            with self.assertRaises(ValueError):
                tally.labelled(name, **labels)
        with self.assertRaises(TypeError):
            tally.labelled()


class ImportTest(unittest.TestCase):
    def run_python(self, program, status=0):
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(CLIENT)})  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def test_a_sub_interpreter_is_refused(self):
        said = self.run_python("""
import _xxsubinterpreters as interpreters, tally
program = '''
try:
    import tally
except ImportError as error:
    print(error, flush=True)
'''
interpreters.run_string(interpreters.create(), program)
""")
        self.assertEqual(said, "tally works in the main interpreter only\n")

    def test_a_module_that_is_imported_again_has_the_same_types(self):
        self.run_python("""
import sys, tally
first = tally.Interface
for name in ("tally", "tally._tally"): del sys.modules[name]
import tally
assert tally.Interface is first
""")

    def test_a_program_that_creates_nothing_starts_nothing(self):
        said = self.run_python("""
import os, tally
tally.statistic_configure(socket="/nonexistent", report=print)
print(len(os.listdir("/proc/self/task")))
""")
        self.assertEqual(said, "1\n")


class EndTest(RunningDaemonCase):
    def test_the_interpreter_ends_while_daemon_threads_add_samples_and_reports_come(self):
        for _ in range(10):
            said = self.run_feeder("""
tally.statistic_configure(report=lambda text: time.sleep(0.001), wait_ms=1)
""" + WEB + """
def run():
    while True:
        each.inc("wrong" if each.dropped() else 1)
        each.add_batch([1] * 100)
for _ in range(4): threading.Thread(target=run, daemon=True).start()
tally.statistic_sync(60000)
say("ends")
""")
            self.assertEqual(said, "ends")

    def test_a_daemon_thread_that_python_ends_drops_no_objects_on_its_way(self):
        for _ in range(3):
            said = self.run_feeder("""
tally.statistic_configure(wait_ms=1)
""" + WEB + """
class Number:
    def __index__(self): return 1
    def __del__(self): len("a call of Python")
class Slow:  # Python ends the other threads meanwhile
    def __del__(self, sleep=time.sleep): sleep(0.1)
slow = Slow()
def run():
    while True: each.add_batch(iter([Number() for _ in range(300)]))
for _ in range(4): threading.Thread(target=run, daemon=True).start()
tally.statistic_sync(60000)
say("ends")
""")
            self.assertEqual(said, "ends")

    def test_a_report_that_raises_or_hangs_does_not_keep_the_process(self):
        said = self.run_feeder("""
def report(text):
    if "sending" in text: raise SystemExit(3)
    threading.Event().wait()
raised = threading.Event()
def hook(of):
    say(of.exc_type.__name__)
    raised.set()
sys.unraisablehook = hook
tally.statistic_configure(report=report)
""" + WEB + """
raised.wait()
each.inc("wrong")
""")
        self.assertEqual(said, "SystemExit")

    def test_nothing_is_lost_at_the_end_of_children_of_multiprocessing(self):
        program = self.directory + "/program.py"
        with open(program, "w") as file:
            file.write("""
import multiprocessing, sys, time
import tally
def run():
    each = tally.Interface(sys.argv[2]).statistic("each")
    each.start()
    for i in range(700): each.inc(i)
    print(time.monotonic(), flush=True)
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    children = [multiprocessing.Process(target=run) for _ in range(3)]
    for child in children: child.start()
    for child in children: child.join()
    print(time.monotonic())
""")
        environment = {**os.environ, "PYTHONPATH": str(CLIENT), "TALLY_SOCKET": self.daemon.socket}
        deadline = time.monotonic() + DEADLINE_S
        for how in ("fork", "spawn", "forkserver"):
            for name in map(f"{how}{{}}".format, itertools.count()):
                said = subprocess.run([sys.executable, "-B", program, how, name], text=True,
                                      check=True, env=environment, stdout=subprocess.PIPE).stdout
                if (total := self.daemon.total(f"{name}/each")) == 2100:
                    break
                # At an end libtally waits for the daemon for 250 ms: longer ones say nothing.
                times = list(map(float, said.split()))
                self.assertGreaterEqual(times[-1] - min(times), 0.25, f"{total} for {name}")
                self.assertLess(time.monotonic(), deadline, "no end is answered in time")


class PipTest(RunningDaemonCase):
    """Compiles libtally, which takes a minute of a CPU."""

    def test_the_source_tree_is_installed_by_pip_without_network_and_other_packages(self):
        if importlib.util.find_spec("pip") is None:
            self.skipTest("THE INSTALLATION BY pip WAS NOT TESTED: there is no pip")
        if not os.path.exists(sysconfig.get_path("include") + "/Python.h"):
            self.skipTest("THE INSTALLATION BY pip WAS NOT TESTED: python3-dev is missing")
        with tempfile.TemporaryDirectory() as target:
            subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps",
                            "--no-build-isolation", "--target", target,
                            ROOT / "feeders/client/python"], check=True, capture_output=True)
            said = subprocess.run([sys.executable, "-B", "-c", """
import tally
each = tally.Interface("pip").statistic("each")
each.start()
each.inc(1)
tally.statistic_sync(60000)
print(tally.__file__)
"""], check=True, capture_output=True, text=True, cwd="/", env={
                **os.environ, "PYTHONPATH": target, "TALLY_SOCKET": self.daemon.socket}).stdout
            self.assertEqual(said, f"{target}/tally/__init__.py\n")
            module, = [name for name in os.listdir(target + "/tally") if name.endswith(".so")]
            needed = subprocess.run(["ldd", f"{target}/tally/{module}"], check=True,
                                    capture_output=True, text=True).stdout  # fmt: skip
            self.assertNotIn("libtally", needed)
        self.assertEqual(self.daemon.data("pip"), "each 1\n")
        left = subprocess.run(["git", "status", "--short", "--ignored", "feeders/client/python"],
                              cwd=ROOT, capture_output=True, text=True)  # fmt: skip
        self.assertEqual([line for line in left.stdout.splitlines() if "build" in line], [])


if __name__ == "__main__":
    unittest.main()
