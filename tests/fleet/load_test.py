"""200 scrapes a second and 20 open pages: what the intake of samples feels of them.

For TALLY_SECONDS (300), with that load and without it in turn, a feeder sends as fast as the daemon
takes it, and then 100,000 samples a second. All samples are counted, and at the fixed rate the
load makes no difference of 2 %. On few CPUs the clients of the load take their part of the highest
rate: so the CPU time of the intake's thread for a sample is measured beside it.
"""
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TALLY_BIN", ROOT / "build/release/bin"))
SECONDS = float(os.environ.get("TALLY_SECONDS", "300"))
SCRAPES, PAGES = 200, 20
RATE = 100_000
PHASE = 5  # seconds
LINES = 100  # of a datagram
ARRAY = "type=array scale=log2 base_interval=1 range_min=0 range_max=1048576"


class Load:
    """Clients of tally-web, while a block of `with` runs."""

    def __init__(self, address):
        self.address = address
        self.answers = {}
        self.lock = threading.Lock()

    def __enter__(self):
        self.ended = threading.Event()
        scrape = ("/metrics", {"Accept": "application/vnd.google.protobuf"})
        pages = [(path, {"Accept-Encoding": "gzip"})
                 for path in ("/api/1/statistics?rows=30", "/api/1/statistics/app?statistic=s0",
                              "/api/1/heat/app/s0?seconds=60&bins=40")]
        # At different moments, as pages are opened.
        clients = [([scrape], 10 / SCRAPES, i / SCRAPES) for i in range(10)]
        clients += [(pages, 1, i / PAGES) for i in range(PAGES)]
        self.threads = [threading.Thread(target=self.ask, args=each) for each in clients]
        for each in self.threads:
            each.start()

    def __exit__(self, *_):
        self.ended.set()
        for each in self.threads:
            each.join()

    def ask(self, requests, period, later):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        due = time.monotonic() + later
        while not self.ended.wait(max(0, due - time.monotonic())):
            for path, headers in requests:
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                answer.read()
                with self.lock:
                    key = path.split("?")[0], answer.status
                    self.answers[key] = self.answers.get(key, 0) + 1
            due += period
        connection.close()


class LoadTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-load."))
        self.addCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", self.folder])
        self.mount = self.folder / "mnt"
        self.mount.mkdir()
        self.start("tallyfs", "-f", "--socket", self.folder / "socket", self.mount)
        self.sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.sender.close)
        self.sender.connect(str(self.folder / "socket"))
        for i in range(20):
            self.sender.send(f"create app/s{i} on=1 {ARRAY} units=microseconds/requests".encode())
        self.pid = json.loads((self.mount / "statistics.json").read_text())["pid"]
        web = self.start("tally-web", "--mount", self.mount, "--listen", "127.0.0.1:0",
                         "--open-read")
        self.load = Load(re.match(r"http://(\S+)/ ", web.stdout.readline()).group(1))
        self.datagrams = ["\n".join(f"app/s{i} {(7919 * each) % 1000003}"
                                    for each in range(LINES)).encode() for i in range(20)]
        self.sent = 0

    def start(self, name, *arguments):
        process = subprocess.Popen([BIN / name, *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.assertEqual("READY\n", process.stdout.readline())
        return process

    def cpu_of_threads(self):
        """CPU seconds of each thread of the daemon."""
        times = {}
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            times[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
        return times

    def feed(self, rate=None):
        """For a phase; returns samples a second, and the intake's CPU seconds for each."""
        before = self.cpu_of_threads()
        start = time.monotonic()
        sent = 0
        while (passed := time.monotonic() - start) < PHASE:
            if rate and sent > rate * passed:
                time.sleep(0.002)
                continue
            for datagram in self.datagrams:
                self.sender.send(datagram)
            sent += LINES * len(self.datagrams)
        self.sent += sent
        # The intake's thread is the busiest.
        cpu = max(time - before.get(task, 0) for task, time in self.cpu_of_threads().items())
        return sent / passed, cpu / sent

    def test_the_intake_feels_little(self):
        slices = {rate: [] for rate in (None, RATE)}  # pairs without and with the load
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for rate in slices:
                without = self.feed(rate)
                with self.load:
                    slices[rate].append((without, self.feed(rate)))
        for rate, pairs in slices.items():
            print("as fast as it goes:" if rate is None else "at a fixed rate:")
            for i, what, unit in (0, "samples/s", 1), (1, "ns of CPU for a sample", 1e9):
                without, loaded = (statistics.median(pair[k][i] for pair in pairs) * unit
                                   for k in (0, 1))
                ratio = statistics.median(pair[1][i] / pair[0][i] for pair in pairs)
                print(f"  {without:.4g} {what} without, {loaded:.4g} with the load, ratio"
                      f" {ratio:.3f} (median of {len(pairs)})")
        kept = statistics.median(pair[1][0] / pair[0][0] for pair in slices[RATE])
        print(f"answers: {self.load.answers}")
        self.assertGreater(kept, 0.98)
        answers = self.load.answers
        good = sum(number for (_, status), number in answers.items() if status == 200)
        self.assertGreater(good, 0.99 * sum(answers.values()))
        data = json.loads((self.mount / "statistics/app/data.json").read_text())
        self.assertEqual(self.sent, sum(each["samples"] for each in data["statistics"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
