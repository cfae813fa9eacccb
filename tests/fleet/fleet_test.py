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
import subprocess
import tempfile
import unittest
import urllib.parse

from machines import Machine, Prometheus, Victoria, needs_prometheus, until

MACHINES = int(os.environ.get("TALLY_FLEET", "40"))
STATISTICS = 20
SAMPLES = 250  # of each statistic of each machine
PRECISION = 4
BASE = 2 ** 2 ** -PRECISION  # from a bucket's bound to the next
STEPS = "tally_steps_seconds_bucket"  # of an array with bins at powers of two
NATIVE_SUM = "fleet:tally_s00_seconds"
PROTOBUF = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
            "encoding=delimited")


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


class Member(Machine):
    """A machine of the fleet, with its samples."""

    def __init__(self, folder, number):
        super().__init__(folder / str(number))
        draw = random.Random(1000 + number)
        # Machines differ, and one in ten is slow.
        scale = 5.5 + 0.04 * number + (1.5 if number % 10 == 9 else 0)
        self.samples = [[max(1, int(draw.lognormvariate(scale + 0.1 * i, 0.8)))
                         for _ in range(SAMPLES)] for i in range(STATISTICS)]
        for i in range(STATISTICS):
            self.send(f"create app/s{i:02} on=1 type=quantiles precision={PRECISION}"
                      " quantiles=50,99 units=microseconds/requests")
        # The samples of s00 once more, in an array.
        self.send("create app/steps on=1 type=array scale=log2 range_min=0 base_interval=1"
                  " range_max=4194304 units=microseconds/requests")
        for i, samples in enumerate(self.samples):
            names = [f"app/s{i:02}"] + (["app/steps"] if i == 0 else [])
            self.send(*("\n".join(f"{name} {x}" for name in names for x in samples[at:at + 100])
                        for at in range(0, SAMPLES, 100)))


@needs_prometheus
class FleetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-fleet."))
        cls.addClassCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", cls.folder])
        cls.machines = []
        for number in range(MACHINES):
            machine = Member(cls.folder, number)
            cls.addClassCleanup(machine.end)
            cls.machines.append(machine)
        targets = [each.address for each in cls.machines]
        cls.prometheus = Prometheus(
            cls.folder / "first", {"job_name": "tallyfs", "static_configs": [{"targets": targets}]},
            [{"record": f"fleet:{STEPS}", "expr": f"sum by (le) ({STEPS})"},
             {"record": NATIVE_SUM, "expr": f"sum({family_of(0)})"}])
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
        until(lambda: above.query(f"histogram_count({NATIVE_SUM})") == wanted, "all, as native")
        got = above.query(f"histogram_quantile(0.99, {NATIVE_SUM})")
        self.assert_within(1, BASE, got, self.p99(0), NATIVE_SUM)

    @unittest.skipUnless(shutil.which("victoria-metrics"), "needs victoria-metrics")
    def test_3_victoria_metrics_has_it_within_a_bucket_of_the_text(self):
        folder = self.folder / "victoria"
        folder.mkdir()
        (folder / "scrape.yml").write_text(json.dumps({"scrape_configs": [
            {"job_name": "tallyfs", "scrape_interval": "2s", "static_configs": [
                {"targets": [each.address for each in self.machines]}]}]}))
        victoria = Victoria(folder)
        self.addCleanup(victoria.end)
        wanted = MACHINES * SAMPLES
        until(lambda: victoria.query(f'sum({STEPS}{{le="+Inf"}})') == wanted, "all samples")
        for buckets in (STEPS, f"{family_of(0)}_bucket"):
            got = victoria.query(f"histogram_quantile(0.99, sum({buckets}) by (le))")
            self.assert_within(1, 2, got, self.p99(0), buckets)

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
