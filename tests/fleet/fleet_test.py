"""A fleet on one machine: mounts, each with its tally-web, all scraped by one Prometheus.

The p99 of the fleet, by histogram_quantile over native histograms, is the p99 of all samples
within one bucket. What docs/fleet.md computes with is measured and printed.

TALLY_BIN is where the programs are, TALLY_FLEET how many mounts there are. Everything waits for
conditions, never for time.
"""
import gzip
import json
import math
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TALLY_BIN", ROOT / "build/release/bin"))
PATIENCE = 120 * float(os.environ.get("TALLY_PATIENCE", "1"))
MACHINES = int(os.environ.get("TALLY_FLEET", "40"))
STATISTICS = 20
SAMPLES = 250  # of each statistic of each machine
PRECISION = 4
BASE = 2 ** 2 ** -PRECISION  # from a bucket's bound to the next
STEPS = "tally_steps_seconds_bucket"  # of an array with bins at powers of two
PROTOBUF = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
            "encoding=delimited")


def until(condition, what):
    """The first result of `condition` that is true."""
    end = time.monotonic() + PATIENCE
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"in vain waited for: {what}")
        time.sleep(0.1)
    return result


def memory_of(pid):
    """Bytes that are in memory and of this process alone."""
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kib) for kib in re.findall(r"^Private_\w+: +(\d+)", rollup, re.M)) * 1024


def cpu_of(pids, step, times=500):
    """CPU seconds of the processes for a step."""
    before = spent_by(pids)
    for _ in range(times):
        step()
    return (spent_by(pids) - before) / times


def spent_by(pids):
    """CPU seconds."""
    fields = [pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
              for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def family_of(statistic):
    return f"tally_s{statistic:02}_seconds"


class Machine:
    """A daemon, its mount, and a tally-web that serves metrics alone."""

    def __init__(self, folder, number):
        self.folder = folder / str(number)
        self.mount = self.folder / "mnt"
        self.mount.mkdir(parents=True)
        self.random = random.Random(1000 + number)
        # Machines differ, and one in ten is slow.
        self.scale = 5.5 + 0.04 * number + (1.5 if number % 10 == 9 else 0)
        self.samples = [[] for _ in range(STATISTICS)]
        self.processes = []
        self.start(BIN / "tallyfs", "-f", "--socket", self.folder / "socket", self.mount)
        self.feed()
        web = self.start(BIN / "tally-web", "--mount", self.mount, "--listen", "127.0.0.1:0",
                         "--metrics-only", "--open-metrics")
        self.address = re.match(r"http://(\S+)/ ", web.stdout.readline()).group(1)

    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True)
        self.processes.append(process)
        assert process.stdout.readline() == "READY\n", command
        return process

    def feed(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.connect(str(self.folder / "socket"))
            for i in range(STATISTICS):
                sender.send(f"create app/s{i:02} on=1 type=quantiles precision={PRECISION}"
                            " quantiles=50,99 units=microseconds/requests".encode())
            # The samples of s00 once more, in bins that each machine has.
            sender.send(b"create app/steps on=1 type=array scale=log2 range_min=0 base_interval=1"
                        b" range_max=4194304 units=microseconds/requests")
            for i, samples in enumerate(self.samples):
                for _ in range(SAMPLES):
                    x = self.random.lognormvariate(self.scale + 0.1 * i, 0.8)
                    samples.append(max(1, int(x)))
                for at in range(0, SAMPLES, 100):
                    names = [f"app/s{i:02}"] + (["app/steps"] if i == 0 else [])
                    lines = [f"{name} {x}" for name in names for x in samples[at:at + 100]]
                    sender.send("\n".join(lines).encode())

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
        address = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                result = json.load(answer)["data"]["result"]
        except urllib.error.URLError:
            return None  # it is not ready yet
        return float(result[0]["value"][1]) if len(result) == 1 else None

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


class Prometheus(Server):
    """Debian's Prometheus, with native histograms, on any free port."""

    def __init__(self, folder, job, rules=()):
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
            "--enable-feature=native-histograms"])


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("ss"), "needs prometheus and ss")
class FleetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-fleet."))
        cls.addClassCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", cls.folder])
        cls.machines = []
        for number in range(MACHINES):
            machine = Machine(cls.folder, number)
            cls.addClassCleanup(machine.end)
            cls.machines.append(machine)
        targets = [each.address for each in cls.machines]
        cls.prometheus = Prometheus(
            cls.folder / "first", {"job_name": "tallyfs", "static_configs": [{"targets": targets}]},
            [{"record": f"fleet:{STEPS}", "expr": f"sum by (le) ({STEPS})"}])
        cls.addClassCleanup(cls.prometheus.end)

    def p99(self, statistic):
        """Of all samples of the fleet, in seconds."""
        ordered = sorted(x for each in self.machines for x in each.samples[statistic])
        return ordered[math.ceil(0.99 * len(ordered)) - 1] / 1e6

    def assert_within(self, buckets, base, got, exact, what):
        self.assertLessEqual(abs(math.log(got / exact, base)), buckets,
                             f"{what}: {got} s is found, {exact} s is the p99 of all samples")

    def test_1_the_fleets_p99_is_that_of_all_samples_within_a_bucket(self):
        wanted = MACHINES * SAMPLES
        for i in range(STATISTICS):
            family = family_of(i)
            until(lambda: self.prometheus.query(f"sum(histogram_count({family}))") == wanted,
                  f"all samples of {family}")
            got = self.prometheus.query(f"histogram_quantile(0.99, sum({family}))")
            exact = self.p99(i)
            self.assert_within(1, BASE, got, exact, family)
            # The mean of the machines' p99 is another number.
            mean = sum(sorted(each.samples[i])[math.ceil(0.99 * SAMPLES) - 1]
                       for each in self.machines) / MACHINES / 1e6
            if MACHINES >= 20:
                self.assertGreater(abs(math.log(mean / exact, BASE)), 1)

    def test_2_a_second_prometheus_federates_what_the_first_has_summed(self):
        target = urllib.parse.urlsplit(self.prometheus.url).netloc
        above = Prometheus(self.folder / "second", {
            "job_name": "federate", "metrics_path": "/federate", "honor_labels": True,
            "params": {"match[]": ['{__name__=~"fleet:.*"}']},
            "static_configs": [{"targets": [target]}]})
        self.addCleanup(above.end)
        wanted = MACHINES * SAMPLES
        until(lambda: above.query(f'fleet:{STEPS}{{le="+Inf"}}') == wanted, "all samples")
        got = above.query(f"histogram_quantile(0.99, fleet:{STEPS})")
        self.assert_within(1, 2, got, self.p99(0), STEPS)

    @unittest.skipUnless(shutil.which("victoria-metrics"), "needs victoria-metrics")
    def test_3_victoria_metrics_has_it_within_a_bin_of_an_array(self):
        folder = self.folder / "victoria"
        folder.mkdir()
        (folder / "scrape.yml").write_text(json.dumps({"scrape_configs": [
            {"job_name": "tallyfs", "scrape_interval": "2s", "static_configs": [
                {"targets": [each.address for each in self.machines]}]}]}))
        victoria = Victoria(folder)
        self.addCleanup(victoria.end)
        wanted = MACHINES * SAMPLES
        until(lambda: victoria.query(f'sum({STEPS}{{le="+Inf"}})') == wanted, "all samples")
        got = victoria.query(f"histogram_quantile(0.99, sum({STEPS}) by (le))")
        self.assert_within(1, 2, got, self.p99(0), STEPS)

    def test_4_what_it_costs(self):
        """The numbers of docs/fleet.md."""
        machine = self.machines[0]
        for name, accept in (("protobuf", PROTOBUF), ("text", "text/plain"),
                             ("OpenMetrics", "application/openmetrics-text;version=1.0.0")):
            text = machine.get(accept)
            print(f"a scrape as {name}: {len(text)} bytes, {len(gzip.compress(text, 1))} as gzip")
        series = self.prometheus.query("sum(scrape_samples_scraped)") / MACHINES
        print(f"series of a machine: {series:.0f}")
        seconds = self.prometheus.query("avg(avg_over_time(scrape_duration_seconds[1m]))")
        print(f"a scrape as Prometheus sees it: {seconds * 1e3:.1f} ms")
        # A reading of the mount serves all scrapes of a second, so that both are measured apart.
        daemons, webs = machine.daemons(), [machine.processes[1].pid]
        metrics = machine.mount / "metrics/tallyfs.pb"
        daemon = cpu_of(daemons, metrics.read_bytes)
        web = cpu_of(webs, lambda: machine.get(PROTOBUF))
        print(f"CPU of a scrape: daemon {daemon * 1e3:.2f} ms, tally-web {web * 1e3:.2f} ms")
        first = self.prometheus.process.pid
        scrapes = self.prometheus.query("sum(count_over_time(up[1h]))")
        spent = spent_by([first]) / scrapes
        print(f"CPU of Prometheus, with all that it does: {spent * 1e3:.1f} ms"
              " for each scrape")
        sizes = [sum(memory_of(pid) for each in self.machines for pid in of(each)) / MACHINES / 1e6
                 for of in (Machine.daemons, lambda each: [each.processes[1].pid])]
        print(f"memory of a daemon {sizes[0]:.1f} MB, of a tally-web {sizes[1]:.1f} MB")
        print(f"memory of Prometheus: {memory_of(first) / 1e6:.0f} MB")
        self.assertEqual(MACHINES, self.prometheus.query('count(up{job="tallyfs"} == 1)'))


if __name__ == "__main__":
    unittest.main(verbosity=2)
