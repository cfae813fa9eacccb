"""The tests' surroundings: a daemon on a mount of its own, and feeders that are programs.

$TALLY_BIN is where tallyfs is; without it, build/release/bin. The package is beside it, in
../python, and these tests run with the Python for which it was built (../python/interpreter)."""
import contextlib
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TALLY_BIN", ROOT / "build/release/bin"))
TALLYFS = BIN / "tallyfs"
CLIENT = BIN.parent / "python"
# No condition takes longer to come about, on however slow a machine.
DEADLINE_S = 60

sys.dont_write_bytecode = True
sys.path.insert(0, str(CLIENT))
if not list(CLIENT.glob("tally/_tally*.so")):
    raise unittest.SkipTest(f"THE PACKAGE tally WAS NOT TESTED: it is not built in {CLIENT}")


def eventually(check, what):
    """Calls check() until it returns something true, and returns that."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"in {DEADLINE_S} s it did not come about that {what}: {found!r}")
        time.sleep(0.005)


class Daemon:
    def __init__(self, directory):
        self.mount = pathlib.Path(directory) / "mnt"
        self.mount.mkdir()
        self.socket = f"{directory}/socket"
        self.statistics = self.mount / "statistics"
        self.process = None

    def start(self, *options):
        self._run([TALLYFS, "-f", "--socket", self.socket, *options, self.mount])

    def _run(self, command):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        said = self.process.stdout.readline()
        if said != "READY\n":
            self.log.seek(0)
            raise AssertionError(f"the daemon said {said!r}: {self.log.read()}")

    def server(self):
        """The process that serves; the daemon's main process is its keeper."""
        pids = subprocess.run(["pgrep", "-P", str(self.process.pid), "-x", "tallyfs"],
                              stdout=subprocess.PIPE, text=True, check=True)
        return int(pids.stdout)

    def kill(self):
        """Keeper and server, without a chance to clean up."""
        ended = os.pidfd_open(self.server())
        self._end(signal.SIGKILL)
        assert select.select([ended], [], [], DEADLINE_S)[0], "the server is left"
        os.close(ended)
        subprocess.run(["umount", "-l", self.mount], check=True)

    def stop(self):
        self._end(signal.SIGTERM)

    def _end(self, how):
        self.process.send_signal(how)
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        self.process = None

    def hang(self):
        """Returns when every thread stands still: kill(2) returns before."""
        server = self.server()
        os.kill(server, signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{server}/task")

        def stands(task):
            return (task / "stat").read_text().rsplit(")")[1].split()[0] == "T"

        eventually(lambda: all(map(stands, tasks.iterdir())), "the daemon stands still")

    def go_on(self):
        os.kill(self.server(), signal.SIGCONT)

    def end(self):
        if self.process:
            self.go_on()
            self.stop()

    # ---- the tree

    def data(self, interface):
        return (self.statistics / interface / "data").read_text()

    def total(self, path):
        """The last number of the one line that a value has; 0 without one."""
        interface, name = path.split("/")
        try:
            found = re.search(rf"^{re.escape(name)} (\d+)$", self.data(interface), re.M)
        except FileNotFoundError:
            return 0
        return int(found.group(1)) if found else 0

    def own(self, name):
        return self.total(f"tallyfs/{name}")

    def definition(self, path):
        interface, name = path.split("/")
        text = (self.statistics / interface / "definition").read_text()
        return next((line for line in text.splitlines() if line.startswith(f"name={name} ")), None)

    def define(self, interface, line):
        (self.statistics / interface / "definition").write_text(line + "\n")


class Feeder:
    """A Python program that has imported tally, and talks with the test: say(words) there is
    hear() here, and the other way round."""

    PROLOGUE = r"""
import os, sys, threading, time
sys.path.insert(0, sys.argv[1])
import tally
def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")  # whole lines, of whatever thread
    sys.stdout.flush()
def hear():
    return sys.stdin.readline().strip()
"""

    def __init__(self, program, socket, **options):
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-W", "ignore::DeprecationWarning", "-c",
             self.PROLOGUE + program, str(CLIENT)],  # fmt: skip
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TALLY_SOCKET": socket},
            **options,
        )
        # One that hangs is not waited for: then hear() says nothing.
        self.watch = threading.Timer(DEADLINE_S, self.process.kill)
        self.watch.daemon = True
        self.watch.start()

    def close(self):
        self.watch.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def hear(self):
        return self.process.stdout.readline().strip()

    def say(self, words=""):
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()

    def end(self):
        """(exit status, the rest of its output)"""
        said, _ = self.process.communicate()
        return self.process.returncode, said.strip()


class DaemonCase(unittest.TestCase):
    """Has a daemon that is not started yet."""

    def setUp(self):
        if not os.access(TALLYFS, os.X_OK):
            self.skipTest(f"{TALLYFS} is not there; $TALLY_BIN says where it is")
        if not os.access("/dev/fuse", os.W_OK):
            self.skipTest("needs /dev/fuse")
        self.directory = tempfile.mkdtemp()
        os.chmod(self.directory, 0o755)
        self.addCleanup(shutil.rmtree, self.directory)
        self.daemon = Daemon(self.directory)
        self.addCleanup(self.daemon.end)

    def feeder(self, program, **options):
        made = Feeder(program, self.daemon.socket, **options)
        self.addCleanup(made.close)
        return made

    def run_feeder(self, program, **options):
        """Until it ends, with status 0; returns its output."""
        status, said = self.feeder(program, **options).end()
        self.assertEqual(status, 0, said)
        return said

    def assert_sent_at_the_end(self, wanted, program, end="", **options):
        """The total of web/each, after the end of a feeder, for which it says when it begins. At
        the end of a process libtally waits for the daemon for 250 ms: an end that took as long says
        nothing, and another feeder is run."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            feeder = self.feeder(program + "\nsay(time.monotonic())\n" + end, **options)
            began = float(feeder.hear())
            feeder.end()
            took = time.monotonic() - began
            total = self.daemon.total("web/each")
            if total == wanted:
                return
            self.assertGreaterEqual(took, 0.25, f"{total} of {wanted} samples are there")
            self.assertLess(time.monotonic(), deadline, "no end is answered in time")
            with contextlib.suppress(FileNotFoundError):
                self.daemon.define("web", "data=reset")


class RunningDaemonCase(DaemonCase):
    def setUp(self):
        super().setUp()
        self.daemon.start()


# A statistic that is on, and what counts its samples in shared memory from a moment on.
WEB = """
web = tally.Interface("web")
each = web.statistic("each", "us/requests")
each.start()
"""
INTO_CELLS = """
def into_cells(each):
    added = 0
    while True:
        tally.statistic_sync(60000)
        before = tally.statistic_count().confirmed
        each.inc(1)
        added += 1
        if tally.statistic_count().confirmed > before:
            return added
"""
# No call waits for a daemon that is not there; but a machine with other things to do may delay any
# of them.
CALL_MAX_S = 10
