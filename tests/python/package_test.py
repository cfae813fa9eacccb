"""The package as programs get it: a folder that is copied, its names, and its Python."""
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from stand import CLIENT, RunningDaemonCase

import tally

PACKAGE = pathlib.Path(CLIENT) / "tally"
OLDEST_PYTHON = (3, 9)


class CopiedFolderTest(RunningDaemonCase):
    def test_a_copy_beside_a_script_is_all_that_it_needs(self):
        shutil.copytree(PACKAGE, f"{self.directory}/program/tally")
        script = pathlib.Path(self.directory) / "program/feed.py"
        script.write_text("""
import tally
each = tally.Interface("copied").statistic("each")
each.start()
each.inc(1)
print(tally.__file__)
""")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["TALLY_SOCKET"] = self.daemon.socket
        said = subprocess.run([sys.executable, "-B", script], cwd="/", env=environment, check=True,
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual(said.stdout, f"{script.parent}/tally/__init__.py\n")
        self.assertEqual(self.daemon.data("copied"), "each 1\n")

    def test_a_copy_may_be_part_of_another_package(self):
        shutil.copytree(PACKAGE, f"{self.directory}/program/vendored/tally")
        program = "from vendored.tally import statistic_inc, Statistic; print(Statistic.__module__)"
        said = subprocess.run([sys.executable, "-B", "-c", program], check=True, text=True,
                              cwd=f"{self.directory}/program", capture_output=True)  # fmt: skip
        self.assertEqual(said.stdout, "vendored.tally.statistic\n")


class NamesTest(unittest.TestCase):
    def test_all_public_names_are_there_once(self):
        self.assertEqual([name for name in tally.__all__ if not hasattr(tally, name)], [])
        self.assertEqual(sorted(set(tally.__all__)), sorted(tally.__all__))

    def test_every_call_says_what_it_does(self):
        calls = [getattr(tally, name) for name in tally.__all__]
        silent = [call for call in calls if callable(call) and not call.__doc__]
        self.assertEqual(silent, [])

    def test_the_oldest_python_reads_every_module(self):
        for module in PACKAGE.glob("*.py"):
            ast.parse(module.read_text(), feature_version=OLDEST_PYTHON)


if __name__ == "__main__":
    unittest.main()
