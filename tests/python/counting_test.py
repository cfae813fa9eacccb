"""Samples that a Python program counts in memory that it shares with the daemon."""
import mmap
import os
import signal
import tempfile
import unittest

from daemon_fixture import INTO_CELLS, WEB, RunningDaemonCase, eventually


class CountingTest(RunningDaemonCase):
    def lanes(self):
        return int(self.daemon.data("tallyfs").split("\nlanes ")[1].split("\n")[0].split()[-1])

    def test_samples_of_types_with_cells_are_counted_without_being_sent(self):
        feeder = self.feeder(f"""
{INTO_CELLS}
web = tally.Interface("web")
all = [web.statistic(name) for name in ("value", "range", "array")]
for each in all:
    getattr(each, "define_" + each.name)()
    each.start()
    into_cells(each)
    open({str(self.daemon.statistics)!r} + "/web/definition", "w").write("data=reset\\n")
for each in all: into_cells(each)
counts = tally.statistic_count()
say(*(each.dropped() for each in all))
hear()
for each in all:
    for x in range(1000): each.inc(x)
    for x in range(1000): each.add(x, 3)
    each.add_batch(range(1000))
say(tally.statistic_count().added - counts.added)
hear()
""")
        feeder.hear()
        before, samples = self.daemon.data("web"), self.daemon.own("samples")
        feeder.say()
        self.assertEqual(feeder.hear(), "9000")
        added = self.daemon.total("web/value")
        self.assertEqual(added - int(before.split("value ")[1].split()[0]), 5000)
        self.assertEqual(self.daemon.own("samples"), samples)
        self.assertEqual((self.lanes(), self.daemon.own("lane_bad")), (1, 0))
        feeder.say()
        self.assertEqual(feeder.end()[0], 0)
        eventually(lambda: self.lanes() == 0, "the lane is closed")
        self.assertEqual(self.daemon.total("web/value"), added)

    def test_what_is_no_plain_int_counts_as_what_it_stands_for(self):
        feeder = self.feeder(f"""
class Five:
    def __index__(self): return 5
class Fault:
    def __index__(self): raise KeyError
class Interrupted:
    def __index__(self): raise KeyboardInterrupt
{WEB}{INTO_CELLS}
each.define_value(range_min=-10, range_max=10)
say(into_cells(each))
each.inc(True)                # 1
each.inc(Five())              # 1
each.add(5, Five())           # 5
each.add(y=2, x=5)            # 2
each.add_at(5, 3, 0)          # 3
each.inc(11)                  # out of range
each.add(-11, 7)              # out of range
for x in (b"1", "x", 1 << 63, Fault()): each.inc(x)
for y in (-1, 1 << 64, None): each.add(1, y)
for call in (each.inc, each.add, lambda x: each.add_batch([1, x])):
    try:
        call(Interrupted())
        say("lost")
    except KeyboardInterrupt: pass
for wrong in ((), (1, 2, 3)):
    try:
        each.add(*wrong)
        say("taken")
    except TypeError: pass
tally.statistic_sync(60000)
counts = tally.statistic_count()
say(counts.added, counts.invalid)
hear()
""")
        added = int(feeder.hear())
        self.assertEqual(feeder.hear(), f"{added + 7} 7")
        self.assertEqual(self.daemon.total("web/each"), added + 12)
        self.assertIn("hits_out_of_range=2", self.daemon.definition("web/each"))

    def test_threads_and_signal_handlers_count_exactly(self):
        said = self.run_feeder(f"""
import signal
{WEB}{INTO_CELLS}
added = into_cells(each)
def handle(*_):
    global added
    each.inc(1)
    added += 1
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
def add():
    for _ in range(20000): each.inc(1)
threads = [threading.Thread(target=add) for _ in range(8)]
for thread in threads: thread.start()
add()
for thread in threads: thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
tally.statistic_sync(60000)
counts = tally.statistic_count()
assert counts.added == counts.confirmed == added + 180000, (counts, added)
print(added)
""")
        self.assertEqual(self.daemon.total("web/each"), int(said) + 180000)

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
status = os.waitpid(child, 0)[1]
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

    def test_a_killed_program_loses_nothing(self):
        """It says in a file that it maps how many calls it has begun and ended."""
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
            feeder.hear()
            told = memoryview(mmap.mmap(file.fileno(), 4096)).cast("Q")
            first = told[1]
            eventually(lambda: told[1] > first + 1000, "it counts")
            feeder.process.send_signal(signal.SIGKILL)
            feeder.process.wait()
            total = self.daemon.total("web/each")
            self.assertTrue(told[1] <= total <= told[0], (told[1], total, told[0]))


if __name__ == "__main__":
    unittest.main()
