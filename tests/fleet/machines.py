"""What tests of several machines share: daemons with a tally-web each, and servers of PromQL.

TALLY_BIN is where the programs are. Everything waits for conditions, never for time.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TALLY_BIN", ROOT / "build/release/bin"))
PATIENCE = 120 * float(os.environ.get("TALLY_PATIENCE", "1"))
needs_prometheus = unittest.skipUnless(shutil.which("prometheus") and shutil.which("ss"),
                                       "needs prometheus and ss")


def until(condition, what):
    """The first result of `condition` that is true."""
    end = time.monotonic() + PATIENCE
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"in vain waited for: {what}")
        time.sleep(0.1)
    return result


class Machine:
    """A daemon, its mount, and a tally-web that serves metrics alone."""

    def __init__(self, folder):
        self.folder = folder
        self.mount = folder / "mnt"
        self.mount.mkdir(parents=True)
        self.processes = []
        self.start(BIN / "tallyfs", "-f", "--socket", self.folder / "socket", self.mount)
        web = self.start(BIN / "tally-web", "--mount", self.mount, "--listen", "127.0.0.1:0",
                         "--metrics-only", "--open-metrics")
        self.address = re.match(r"http://(\S+)/ ", web.stdout.readline()).group(1)

    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True)
        self.processes.append(process)
        assert process.stdout.readline() == "READY\n", command
        return process

    def send(self, *datagrams):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.connect(str(self.folder / "socket"))
            for each in datagrams:
                sender.send(each.encode())

    def daemons(self):
        """The keeper of the mount, and the process that serves it."""
        serving = json.loads((self.mount / "statistics.json").read_text())["pid"]
        return sorted({self.processes[0].pid, serving})

    def get(self, accept):
        request = urllib.request.Request(f"http://{self.address}/metrics",
                                         headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read()

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()
            process.stdout.close()


class Server:
    """A server of PromQL, which listens on any free port."""

    def __init__(self, folder, command):
        self.log = open(folder / "log", "w")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)
        self.url = f"http://127.0.0.1:{until(self.port, 'the port of ' + command[0])}"

    def port(self):
        listening = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True)
        found = re.search(rf" 127\.0\.0\.1:(\d+) .*pid={self.process.pid},", listening.stdout)
        return found and found.group(1)

    def query(self, expression):
        """The value of the only series; None without one."""
        result = self.series(expression)
        return float(result[0]["value"][1]) if len(result) == 1 else None

    def series(self, expression):
        """All that is found."""
        address = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.URLError:
            return []  # it is not ready yet

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Victoria(Server):
    """Debian's VictoriaMetrics, of which the newest samples can be asked for at once."""

    def __init__(self, folder):
        super().__init__(folder, [
            "victoria-metrics", f"-promscrape.config={folder}/scrape.yml",
            f"-storageDataPath={folder}/data", "-httpListenAddr=127.0.0.1:0",
            "-search.latencyOffset=0s", "-search.disableCache"])


NATIVE = "--enable-feature=native-histograms"


class Prometheus(Server):
    """Debian's Prometheus, on any free port."""

    def __init__(self, folder, job, rules=(), options=(NATIVE,)):
        folder.mkdir()
        (folder / "rules.yml").write_text(json.dumps(
            {"groups": [{"name": "fleet", "interval": "2s", "rules": list(rules)}]}))
        (folder / "prometheus.yml").write_text(json.dumps(
            {"scrape_configs": [{"scrape_interval": "5s", **job}],
             "rule_files": [str(folder / "rules.yml")]}))
        super().__init__(folder, [
            "prometheus", f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/tsdb", "--web.listen-address=127.0.0.1:0",
            f"--web.console.templates={folder}", f"--web.console.libraries={folder}",
            *options])
