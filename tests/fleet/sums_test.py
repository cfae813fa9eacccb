"""Two machines whose samples have nothing in common: sums of their buckets are right.

Prometheus scrapes them as text. `sum by (le)` needs the same bounds on all machines, so that bounds
follow from the definition alone.
"""
import math
import pathlib
import subprocess
import tempfile
import unittest

from machines import Machine, Prometheus, needs_prometheus, until

UNITS = "units=microseconds/requests"
TYPES = {"quantiles": "type=quantiles precision=4 quantiles=50",
         "bounded": "type=quantiles precision=4 quantiles=50 range_min=0 range_max=8000000",
         "log2": "type=array scale=log2 base_interval=1 range_min=0 range_max=4194304",
         "lin": "type=array scale=lin base_interval=10000 range_min=0 range_max=2000000"}
STEP = 10_000 * 1e-6  # of lin, in seconds
SAMPLES = ([5 + i for i in range(1000)], [100_000 + 1000 * i for i in range(1000)])
SHARES = (0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 0.99)


def quantile(weighted, share):
    """The least X with at least this share of the weight at it or below."""
    rest = share * sum(weight for _, weight in weighted)
    for x, weight in weighted:
        rest -= weight
        if rest <= 0:
            return x
    return weighted[-1][0]


@needs_prometheus
class SumsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-sums."))
        self.addCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", self.folder])
        self.machines = []
        for number in range(len(SAMPLES)):
            machine = Machine(self.folder / str(number))
            self.addCleanup(machine.end)
            self.machines.append(machine)
            machine.send(*(f"create app/{name} on=1 {text} {UNITS}"
                           for name, text in TYPES.items()))
        self.job = {"job_name": "tallyfs", "scrape_interval": "1s", "static_configs": [
            {"targets": [each.address for each in self.machines]}]}

    def feed(self):
        for machine, samples in zip(self.machines, SAMPLES):
            machine.send(*("\n".join(f"app/{name} {x}" for x in samples[at:at + 100])
                           for name in TYPES for at in range(0, len(samples), 100)))

    def counts(self, server, name):
        return [float(each["value"][1])
                for each in server.series(f"tally_{name}_seconds_count")]

    def test_the_fleets_percentiles_are_those_of_all_samples(self):
        server = Prometheus(self.folder / "prometheus", self.job, options=())
        self.addCleanup(server.end)
        # A rate needs a scrape before the samples.
        for name in TYPES:
            until(lambda: self.counts(server, name) == [0, 0], f"{name} of both, without samples")
        self.feed()
        for name in TYPES:
            until(lambda: self.counts(server, name) == [1000, 1000], f"all samples of {name}")
            with self.subTest(name):
                self.has_bounds_of_one_definition(server, name)
                self.has_percentiles(server, name)

    def has_bounds_of_one_definition(self, server, name):
        bounds = [each["value"][1] for each in server.series(
            f"count by (le) (tally_{name}_seconds_bucket)")]
        self.assertEqual({"2"}, set(bounds), "each bound is of both machines")
        self.assertLessEqual(len(bounds), 257)

    def has_percentiles(self, server, name):
        family = f"tally_{name}_seconds"
        for share in SHARES:
            # Machines are scraped at different moments, from which rates are extrapolated, so that
            # their samples do not weigh the same. One question finds both of the same scrapes.
            found = {each["metric"].get("instance"): float(each["value"][1])
                     for each in server.series(
                         f"histogram_quantile({share}, sum by (le) (rate({family}_bucket[1h])))"
                         f" or rate({family}_count[1h])")}
            weighted = sorted((x, found[machine.address])
                              for machine, samples in zip(self.machines, SAMPLES) for x in samples)
            got, exact = found[None], quantile(weighted, share) * 1e-6
            what = f"p{100 * share} of {name}: {got} s is found, {exact} s is that of all samples"
            if name == "lin":
                self.assertLessEqual(abs(got - exact), STEP, what)
            else:
                self.assertLessEqual(abs(math.log2(got / exact)), 1, what)


if __name__ == "__main__":
    unittest.main(verbosity=2)
