"""What the hostile cases share: a seed, memory and descriptors of the server, bounds of time."""
import os
import random
import time

from peer import PATIENCE, data, time_limit

SERVER = os.environ["SERVER"]
SEED = int(os.environ.get("TALLY_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
# How long the cases that draw go on.
SECONDS = float(os.environ.get("TALLY_HOSTILE_SECONDS") or 10)
print(f"TALLY_SEED={SEED}", flush=True)


def descriptors():
    return len(os.listdir(f"/proc/{SERVER}/fd"))


def resident_mib():
    """Without shared memory, as the journal's 64 MiB, which has bounds of its own."""
    with open(f"/proc/{SERVER}/status") as file:
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in file if " kB" in line}
    return (sizes["VmRSS"] - sizes["RssShmem"]) / 1024


def assert_resident_below(mib):
    """Within a moment: memory of long texts goes back after their files are closed."""
    got, deadline = resident_mib(), time.monotonic() + time_limit(5)
    while got >= mib and PATIENCE <= 1 and time.monotonic() < deadline: got = resident_mib()
    print(f"resident {got:.1f} MiB, at most {mib:.1f}")
    assert PATIENCE > 1 or got < mib, (got, mib)  # a sanitizer's own memory says nothing


class Waits:
    """How long a reader waited for answers."""

    def __init__(self):
        self.seconds = []

    def read(self, interface):
        start = time.monotonic()
        text = data(interface)
        self.seconds.append(time.monotonic() - start)
        return text

    def assert_short(self, typical, longest):
        self.seconds.sort()
        middle, most = self.seconds[len(self.seconds) // 2], self.seconds[int(len(self.seconds) * .95)]
        print(f"{len(self.seconds)} reads: median {middle * 1e3:.2f} ms, 95% {most * 1e3:.2f} ms, "
              f"longest {self.seconds[-1] * 1e3:.2f} ms")
        assert most < time_limit(typical) and self.seconds[-1] < time_limit(longest), \
            "readers waited too long"
