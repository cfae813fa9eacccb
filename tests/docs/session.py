"""A daemon on a mount and a socket of its own, and the shell that a page's commands are typed into.

Pages mount on /run/tallyfs/mnt. Commands are run with a folder of this session in place of
/run/tallyfs, and its name in their output is translated back. Confined to one thread, a reader of
output aside.
"""
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

LIMIT_SECONDS = 60
LATE_SECONDS = 10  # for what a command in the background prints
MARK = "\x01end"
NOTICE = re.compile(r"bash: (line \d+: )? *\d+ (Killed|Terminated)")  # a shell with jobs prints others


class Session:
    """One daemon, unless `options` is None, and one shell. close() ends both."""

    def __init__(self, binaries, root, environment, options):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="tallyfs-docs."))
        self.mount = self.work / "mnt"
        self.mount.mkdir()
        self.socket = self.work / "socket"
        self.home = self.work / "home"
        self.home.mkdir()
        (self.home / "examples").symlink_to(root / "examples")
        self.environment = {**environment, "TALLY_SOCKET": str(self.socket),
                            "TALLY_MOUNT": str(self.mount), "LC_ALL": "C",
                            "HOME": str(self.home),
                            "PATH": f"{binaries}:{environment['PATH']}"}
        self.daemon = None
        if options is not None:
            self._start_daemon(options)
        self._start_shell()

    def _start_daemon(self, options):
        self.daemon = subprocess.Popen(
            ["tallyfs", "-f", "--socket", self.socket, *options.split(), self.mount], text=True,
            env=self.environment, stdout=subprocess.PIPE, stderr=(self.work / "log").open("w"))
        said = self.daemon.stdout.readline()
        if said != "READY\n":
            raise RuntimeError("the daemon did not say READY: " + (self.work / "log").read_text())

    def _start_shell(self):
        # In a session of its own, so that what runs in its background ends with it.
        self.shell = subprocess.Popen(
            ["bash", "--norc"], cwd=self.home, env=self.environment, text=True,
            start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.shell.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def here(self, text):
        """A command of a page, with this session's places."""
        # A reload takes no options.
        text = re.sub(r"(^|; |until )tallyfs (?!--reload)",
                      rf"\1tallyfs --socket {self.socket} ", text, flags=re.M)
        return text.replace("/run/tallyfs/", f"{self.work}/")

    def there(self, line):
        """A line of output, with the places that pages name."""
        line = re.sub(r"^bash: line \d+: ", "bash: ", line)
        line = line.replace(f"{self.home}/", "")
        return line.replace(f"{self.work}/", "/run/tallyfs/")

    def run(self, command, satisfied):
        """Runs a command and returns its lines. Of one in the background, until they satisfy."""
        self.shell.stdin.write(f"{{ {self.here(command)}\n}} </dev/null\nprintf '{MARK}\\n'\n")
        self.shell.stdin.flush()
        lines, ended, deadline = [], False, time.monotonic() + LIMIT_SECONDS
        while not ended or not satisfied(lines):
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if line is None:
                lines.append("(the shell ended)")
                break
            text, mark, _ = line.rstrip("\n").partition(MARK)
            if (text or not mark) and not NOTICE.match(text):
                lines.append(self.there(text))
            if mark:
                ended = True
                in_background = command.rstrip().endswith("&")
                deadline = time.monotonic() + (LATE_SECONDS if in_background else 0)
        if not ended:
            lines.append(f"(it took longer than {LIMIT_SECONDS} s)")
        return lines

    def close(self):
        """Returns what was wrong with the end of the daemon, or None."""
        os.killpg(self.shell.pid, signal.SIGTERM)
        os.killpg(self.shell.pid, signal.SIGCONT)
        try:
            self.shell.wait(LATE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.shell.pid, signal.SIGKILL)
            self.shell.wait()
        fault = self._end_daemon() if self.daemon else None
        if os.path.ismount(self.mount):
            fusermount = ["umount", "-l"] if os.getuid() == 0 else ["fusermount3", "-u", "-z"]
            subprocess.run([*fusermount, self.mount], check=False)
        shutil.rmtree(self.work, ignore_errors=True)
        return fault

    def _end_daemon(self):
        self.daemon.terminate()
        try:
            status = self.daemon.wait(20)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
            return "the daemon does not end"
        return None if status == 0 else f"the daemon ended with {status}"
