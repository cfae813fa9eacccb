"""Samples that a Python program counts in cells: in memory that it shares with the daemon."""
import mmap
import os
import re
import signal
import struct
import tempfile
import unittest

from programs import WEB
from stand import ROOT, DaemonCase, RunningDaemonCase, eventually

from tally.cells import Cell, Form, are_possible

FORMAT = ROOT / "core/lane/FORMAT.md"

# Adds samples of X=1 until one is counted at once, as it is in a cell; how many.
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


def golden(name):
    block = re.search(rf"^```golden {name}\n(.*?)^```", FORMAT.read_text(), re.M | re.S)
    return bytes.fromhex(block.group(1))


class LayoutTest(unittest.TestCase):
    def test_a_cell_is_written_as_the_format_has_it(self):
        memory = memoryview(bytearray(192))
        shape = memoryview(bytearray(struct.pack("=I", 3))).cast("I")
        cell = Cell(memory, 0, shape)
        cell.begin(0x500000007, 9, Form(3, -5, 1000))
        cell.words[11], cell.words[9] = 42, 2
        self.assertEqual(bytes(memory), golden("increments"))

    def test_a_shape_that_is_being_changed_or_of_another_type_is_none(self):
        def shape(era=3, version=4, kind=1):
            return bytearray(struct.pack("=IIqqQII24x", era, version, -5, 9, 0, 0, kind))

        self.assertEqual(Form.read(shape()), Form(3, -5, 9))
        for each in (shape(era=0), shape(version=5), shape(kind=0), shape(kind=4)):
            self.assertIsNone(Form.read(each))


class WithCells:
    """A mixin of cases: the program counts in cells, if it can here."""
    LANES = True

    def setUp(self):
        if not are_possible():
            self.skipTest("there are no cells on this machine, or with this Python")
        super().setUp()


class LaneCase(WithCells, RunningDaemonCase):
    def lanes(self):
        return int(self.daemon.data("tallyfs").split("\nlanes ")[1].split("\n")[0].split()[-1])


class CountingTest(LaneCase):
    def test_samples_are_counted_without_being_sent(self):
        feeder = self.feeder(f"""
{WEB}{INTO_CELLS}
added = into_cells(each)
say(added)
hear()
for x in range(1000):
    each.inc(x)
for x in range(1000):
    each.add(x, 3)
each.add(5, 0)
say(tally.statistic_count().added)
hear()
""")
        added = int(feeder.hear())
        samples = self.daemon.own("samples")
        feeder.say()
        self.assertEqual(int(feeder.hear()), added + 2001)
        self.assertEqual(self.daemon.total("web/each"), added + 4000)
        self.assertEqual(self.daemon.own("samples"), samples)
        self.assertEqual(self.lanes(), 1)
        feeder.say()
        self.assertEqual(feeder.end()[0], 0)
        eventually(lambda: self.lanes() == 0, "the lane is closed")
        self.assertEqual(self.daemon.total("web/each"), added + 4000)
        self.assertEqual(self.daemon.own("lane_bad"), 0)

    def test_what_is_no_plain_sample_of_increments_counts_as_ever(self):
        feeder = self.feeder(f"""
class Five:
    def __index__(self): return 5
{WEB}{INTO_CELLS}
each.define_value(range_min=-10, range_max=10)
say(into_cells(each))
each.inc(True)                # 1
each.inc(Five())              # 1
each.add(5, Five())           # 5
each.inc(11)                  # out of range
each.add(-11, 7)              # out of range
each.add(-10, (1 << 64) - 1)  # a total can get no greater
for x in (1.5, "x", 1 << 63): each.inc(x)
for y in (-1, 1 << 64, None): each.add(1, y)
tally.statistic_sync(60000)
counts = tally.statistic_count()
say(counts.added, counts.invalid)
hear()
""")
        added = int(feeder.hear())
        self.assertEqual(feeder.hear(), f"{added + 6} 6")
        self.assertEqual(self.daemon.total("web/each"), 2**64 - 1)
        self.assertIn("hits_out_of_range=2", self.daemon.definition("web/each"))

    def test_threads_count_exactly(self):
        said = self.run_feeder(f"""
{WEB}{INTO_CELLS}
added = into_cells(each)
def add():
    for _ in range(20000):
        each.inc(1)
threads = [threading.Thread(target=add) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
tally.statistic_sync(60000)
counts = tally.statistic_count()
assert counts.added == counts.confirmed == added + 160000, (counts, added)
print(added)
""")
        self.assertEqual(self.daemon.total("web/each"), int(said) + 160000)

    def test_signal_handlers_count_exactly(self):
        said = self.run_feeder(f"""
import signal
{WEB}{INTO_CELLS}
added = into_cells(each)
def handle(*_):
    global added
    each.inc(1)
    added += 1
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for _ in range(100000):
    each.inc(1)
signal.setitimer(signal.ITIMER_REAL, 0)
tally.statistic_sync(60000)
assert tally.statistic_count().added == added + 100000, (tally.statistic_count(), added)
print(added)
""")
        self.assertEqual(self.daemon.total("web/each"), int(said) + 100000)

    def test_a_child_counts_in_a_lane_of_its_own(self):
        feeder = self.feeder(f"""
{WEB}{INTO_CELLS}
added = into_cells(each)
child = os.fork()
if child == 0:
    added = into_cells(each)
    for _ in range(1000): each.inc(1)
    say(added)
    hear()
    os._exit(0)
hear_of_child, status = os.waitpid(child, 0)
for _ in range(1000): each.inc(1)
say(added, status)
hear()
""")
        childs = int(feeder.hear())
        self.assertEqual(self.lanes(), 2)
        feeder.say()
        own, status = map(int, feeder.hear().split())
        self.assertEqual(status, 0)
        eventually(lambda: self.lanes() == 1, "the child's lane is closed")
        self.assertEqual(self.daemon.total("web/each"), childs + own + 2000)

    def test_a_fork_within_a_call_counts_nothing_twice(self):
        """A handler forks while the call that it interrupts has a cell."""
        said = self.run_feeder(f"""
import signal
{WEB}{INTO_CELLS}
added = into_cells(each)
children = []
def handle(*_):
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, 0)
        threading.Timer(0.02, os._exit, (0,)).start()
        return
    children.append(child)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.02)
calls = 0
me = os.getpid()
while len(children) < 20:
    each.inc(0)
    if os.getpid() == me: calls += 1
    else:
        while True: time.sleep(1)
signal.setitimer(signal.ITIMER_REAL, 0)
for child in children: os.waitpid(child, 0)
tally.statistic_sync(60000)
print(added + calls)
""")
        # A child may have sent the one call that it was in.
        total = self.daemon.total("web/each")
        self.assertTrue(int(said) <= total <= int(said) + 20, (said, total))


class ChangeTest(LaneCase):
    def test_a_reset_by_a_user_begins_anew(self):
        feeder = self.feeder(f"""
{WEB}{INTO_CELLS}
into_cells(each)
say()
while True:
    count = int(hear() or 0)
    if not count: break
    for _ in range(count): each.inc(1)
    say()
""")
        feeder.hear()
        for count in range(1, 200):
            self.daemon.define("web", "name=each data=reset")
            self.assertEqual(self.daemon.total("web/each"), 0)
            feeder.say(count)
            feeder.hear()
            eventually(lambda: self.daemon.total("web/each") == count, f"{count} are counted")

    def test_a_reset_by_the_program_keeps_what_is_added_behind_it(self):
        self.run_feeder(f"""
{WEB}{INTO_CELLS}
into_cells(each)
for round in range(50):
    for _ in range(100): each.inc(1)
    each.reset()
    for _ in range(7): each.inc(1)
    tally.statistic_sync(60000)
    text = open({str(self.daemon.statistics)!r} + "/web/data").read()
    assert text == "each 7\\n", text
    into_cells(each)
""")

    def test_another_type_and_a_view_get_each_sample(self):
        feeder = self.feeder(f"""
{WEB}{INTO_CELLS}
into_cells(each)
say()
while hear():
    for x in range(1000): each.inc(x)
    tally.statistic_sync(60000)
    say()
""")
        feeder.hear()
        for definition, shown in (
            ("type=range", "each 1000 0 499.500 999\n"),
            ("type=value mode=products", "each 499500\n"),
            ("type=value mode=increments", "each 1000\n"),
        ):
            self.daemon.define("web", f"name=each data=reset {definition}")
            feeder.say("go")
            feeder.hear()
            self.assertEqual(self.daemon.data("web"), shown)
        self.daemon.define("web", "name=view of=each type=range")
        self.daemon.define("web", "data=reset")
        feeder.say("go")
        feeder.hear()
        self.assertEqual(self.daemon.data("web"), "each 1000\nview 1000 0 499.500 999\n")

    def test_another_daemon_gets_what_follows(self):
        feeder = self.feeder(f"""
{WEB}{INTO_CELLS}
into_cells(each)
say()
while True:
    count = int(hear() or 0)
    if not count: break
    for _ in range(count): each.inc(1)
    tally.statistic_sync(60000)
    say()
""")
        feeder.hear()
        self.daemon.kill()
        self.daemon.start()

        # What is counted before the feeder has noticed is lost.
        def has_cells():
            feeder.say(1)
            feeder.hear()
            return "\nlanes " in self.daemon.data("tallyfs") and self.lanes() == 1

        eventually(has_cells, "the feeder has a lane of the new daemon")
        before = self.daemon.total("web/each")
        feeder.say(100)
        feeder.hear()
        self.assertEqual(self.daemon.total("web/each"), before + 100)


class KilledTest(LaneCase):
    ROUNDS = 20

    def test_what_a_killed_feeder_counted_is_kept(self):
        """Each tells in a file that it maps how many calls it has begun and ended."""
        total = 0
        for _ in range(self.ROUNDS):
            with tempfile.NamedTemporaryFile(dir=self.directory) as file:
                os.ftruncate(file.fileno(), 4096)
                feeder = self.feeder(f"""
import mmap
with open({file.name!r}, "r+b") as file:
    told = memoryview(mmap.mmap(file.fileno(), 4096)).cast("Q")
{WEB}{INTO_CELLS}
told[0] = told[1] = into_cells(each)
say()
while True:
    told[0] += 1
    each.inc(1)
    told[1] += 1
""")
                self.assertEqual(feeder.hear(), "")
                told = memoryview(mmap.mmap(file.fileno(), 4096)).cast("Q")
                first = told[1]
                eventually(lambda: told[1] > first + 1000, "it counts")
                feeder.process.send_signal(signal.SIGKILL)
                feeder.process.wait()
                now = self.daemon.total("web/each")
                self.assertTrue(told[1] <= now - total <= told[0], (told[1], now - total, told[0]))
                feeder.close()
                total = now
        eventually(lambda: self.lanes() == 0, "all lanes are closed")
        self.assertEqual(self.daemon.total("web/each"), total)
        self.assertEqual(self.daemon.own("lane_bad"), 0)


class WithoutTest(WithCells, DaemonCase):
    def test_a_program_may_do_without(self):
        self.daemon.start()
        said = self.run_feeder(f"""
tally.statistic_configure(no_lane=True)
{WEB}
for round in range(20):
    for _ in range(100): each.inc(1)
    tally.statistic_sync(60000)
print(open({str(self.daemon.statistics)!r} + "/tallyfs/data").read())
""")
        self.assertRegex(said, r"(?m)^samples 2000$")
        self.assertEqual(self.daemon.total("web/each"), 2000)

    def test_a_quota_that_refuses_a_lane_leaves_the_socket(self):
        self.daemon.start("--uid-memory", "1048576")
        said = self.run_feeder(f"""
reports = []
tally.statistic_configure(report=reports.append)
{WEB}
added = 0
while not any("by the socket" in text for text in reports):
    each.inc(1)
    added += 1
    tally.statistic_sync(60000)
for _ in range(1000): each.inc(1)
tally.statistic_sync(60000)
print(added + 1000, reports[-1])
""")
        added, report = said.split(" ", 1)
        self.assertEqual(self.daemon.total("web/each"), int(added))
        self.assertIn("samples go by the socket: ", report)


if __name__ == "__main__":
    unittest.main()
