"""Samples on their way to a daemon: switches, batches, delay, threads, forks, ends."""
import unittest

from daemon_fixture import WEB, DaemonCase, RunningDaemonCase, eventually


class SwitchTest(RunningDaemonCase):
    def test_what_is_off_sends_nothing(self):
        feeder = self.feeder(WEB + """
each.stop()
tally.statistic_sync(60000)
say(each.is_on())
hear()
for i in range(1000): each.inc(i)
each.add(1, 2)
each.add_at(1, 2, 3)
each.add_batch(range(1000))
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
hear()
""")
        self.assertEqual(feeder.hear(), "False")
        before = self.daemon.own("samples")
        feeder.say()
        self.assertEqual(feeder.hear(), "0 0 0 0 0 0")
        self.assertEqual(self.daemon.own("samples"), before)

    def test_users_switch_a_feeder_on_and_off(self):
        feeder = self.feeder(WEB + """
tally.statistic_sync(60000)
while not hear():
    each.inc(1)
    tally.statistic_sync(60000)
    say(each.is_on(), tally.statistic_count().added)
""")

        def add():
            feeder.say()
            return feeder.hear()

        self.assertEqual(add(), "True 1")
        self.daemon.define("web", "on=0")
        self.assertEqual(add(), "False 1")
        self.daemon.define("web", "on=1")
        self.assertEqual(add(), "True 2")
        self.assertEqual(self.daemon.data("web"), "each 2\n")


class BatchTest(RunningDaemonCase):
    def sum_of(self, batch, define="each.define_value(mode='products')"):
        self.run_feeder(f"{WEB}{define}\nfrom array import array\n{batch}\n"
                        "tally.statistic_sync(60000)")  # fmt: skip
        return self.daemon.total("web/each")

    def test_takes_numbers_as_python_has_them(self):
        total = self.sum_of("""
each.add_batch([1, 2])                                # 3
each.add_batch(x for x in (3, True))                  # 4
each.add_batch(array("q", [5]))                       # 5
each.add_batch(array("B", [200, 1]), [2, 3])          # 403
each.add_batch(bytes([1, 2, 3, 4, 5, 6, 7, 8]))       # 36
each.add_batch(memoryview(array("q", [1, 2, 3]))[::2], 10)  # 40
each.add_batch((1, 2), array("Q", [1, 1 << 40]))      # 1 + 2^41
each.add_batch([])
""")
        self.assertEqual(total, 3 + 4 + 5 + 403 + 36 + 40 + 1 + 2**41)

    def test_adds_the_samples_among_wrong_values(self):
        said = self.run_feeder(f"""
reports = []
tally.statistic_configure(report=reports.append)
{WEB}
each.define_value(mode="products")
each.add_batch([1, "x", 2, None, 1 << 63])            # 3
each.add_batch((x for x in (3, "1", 4)), [1, 1, -1])  # 3
each.add_batch([1, 2, 3], [1, 2])                     # nothing
each.inc("x")
each.inc(5)
tally.statistic_sync(60000)
counts = tally.statistic_count()
while not any("invalid" in text for text in reports): time.sleep(0.001)
print(counts.added, counts.invalid, [text for text in reports if "invalid" in text])
""")
        self.assertEqual(self.daemon.total("web/each"), 11)
        told = "<tally.Statistic web/each> cannot take 'x', 1, 0: it is counted as invalid"
        self.assertEqual(said, f"4 9 {[told]}")

    def test_on_does_not_end_a_feeder_of_wrong_values(self):
        feeder = self.feeder("""
each = tally.Interface("web").statistic("each")
event = tally.Event("web", "done", "u64 lat; char comm[16]")
tally.statistic_sync(60000)
while True:
    each.inc("x")
    event.write("x", 5)
    say(tally.statistic_count().invalid)
    if not hear(): break
""")
        self.assertEqual(feeder.hear(), "0")
        self.daemon.define("web", "on=1")
        (self.daemon.mount / "tracing/events/web/done/enable").write_text("1")
        feeder.say("go on")
        self.assertEqual(feeder.hear(), "2")
        feeder.say()
        self.assertEqual(feeder.end()[0], 0)

    def test_carries_all_of_y(self):
        total = self.sum_of("each.add_batch([1], [(1 << 64) - 2])", define="")
        self.assertEqual(total, (1 << 64) - 2)

    def test_carries_times_and_takes_zero_for_now(self):
        said = self.run_feeder(WEB + """
each.define_raw(entries_max=3)
before = time.monotonic_ns()
past = before - 3_000_000_000, before - 2_000_000_000
each.add_batch([1, 2, 3], 1, [past[0], 0, past[1]])
tally.statistic_sync(60000)
say(*(each // 1000 for each in (past[0], before, past[1])))
""")
        said = [int(each) for each in said.split()]
        lines = self.daemon.data("web").splitlines()
        times = [round(float(line.split()[1].strip("[]")) * 1e6) for line in lines]
        self.assertEqual((times[0], times[2]), (said[0], said[2]))
        self.assertGreaterEqual(times[1], said[1])

    def test_a_batch_larger_than_all_bounds_arrives_whole_if_its_feeder_waits(self):
        said = self.run_feeder("""
tally.statistic_configure(held_max=1024, wait_ms=60000)
""" + WEB + """
tally.statistic_sync(60000)
each.add_batch(range(300000))
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        self.assertEqual(said, "300000 0 300000 300000 0 0")
        self.assertEqual(self.daemon.total("web/each"), 300000)

    def test_keeps_its_order_with_single_samples(self):
        self.run_feeder(WEB + """
each.define_raw(entries_max=2000)
each.inc(0)
each.add_batch(range(1, 1001))
each.inc(1001)
tally.statistic_sync(60000)
""")
        xs = [int(line.split()[3]) for line in self.daemon.data("web").splitlines()]
        self.assertEqual(xs, list(range(1002)))


class DatagramTest(RunningDaemonCase):
    def test_samples_leave_after_the_delay(self):
        feeder = self.feeder(WEB + "each.inc(1)\nhear()\n")
        eventually(lambda: self.daemon.total("web/each") == 1, "the sample is there")
        feeder.say()
        self.assertEqual(feeder.end(), (0, ""))

    def test_without_a_delay_each_sample_leaves_in_its_call(self):
        feeder = self.feeder("tally.statistic_configure(delay_us=0, no_lane=True)" + WEB + """
tally.statistic_sync(60000)
while not hear():
    each.inc(1)
    say()
""")
        before = self.daemon.own("datagrams")
        for count in range(1, 11):
            feeder.say()
            feeder.hear()
            self.assertEqual(self.daemon.total("web/each"), count)
        self.assertGreaterEqual(self.daemon.own("datagrams") - before, 10)

    def test_ten_thousand_statistics_are_registered(self):
        self.run_feeder("""
web = tally.Interface("web")
all = [web.statistic(f"each-{i}", "units" * 40) for i in range(10000)]
for each in all: each.start()
for each in all: each.inc(1)
tally.statistic_sync(60000)
assert tally.statistic_count().confirmed == 10000, tally.statistic_count()
""")
        lines = self.daemon.data("web").splitlines()
        self.assertEqual(lines, [f"each-{i} 1" for i in range(10000)])


class ProcessTest(RunningDaemonCase):
    def test_samples_of_all_threads_arrive_also_of_those_that_have_ended(self):
        said = self.run_feeder(WEB + """
def run():
    for i in range(20000): each.inc(i)
    each.add_batch(range(1000))
tally.statistic_sync(60000)
threads = [threading.Thread(target=run) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        self.assertEqual(self.daemon.total("web/each"), 126000)
        self.assertEqual(said, "126000 0 126000 126000 0 0")

    def test_nothing_is_lost_at_the_end_of_the_process(self):
        for end in "pass", "sys.exit(3)", "raise KeyError", "os.kill(0, 2)":
            with self.subTest(end):
                program = WEB + "for i in range(700): each.inc(i)\n"
                self.assert_sent_at_the_end(700, program, end, stderr=-3, start_new_session=True)
                self.daemon.define("web", "data=reset")

    def test_what_is_added_after_the_end_is_sent_when_the_process_ends(self):
        self.assert_sent_at_the_end(3, """
import atexit
atexit._clear()
atexit.register(lambda: each.inc(2))  # runs after the package's own
atexit.register(tally._tally.finish)
""" + WEB + """
class Last:
    def __del__(self): each.inc(3)
last = Last()
each.inc(1)
""")

    def test_a_child_sends_its_own_samples_and_none_of_its_parent_s(self):
        said = self.run_feeder("tally.statistic_configure(delay_us=10_000_000)" + WEB + """
tally.statistic_sync(60000)
for i in range(300): each.inc(i)
child = os.fork()
if child == 0:
    say(*tally.statistic_count()[:6])
    each.inc(1)
    tally.statistic_sync(60000)
    say(*tally.statistic_count()[:6])
    os._exit(0)
os.waitpid(child, 0)
say(*tally.statistic_count()[:6])
""")
        self.assertEqual(said.splitlines(), ["0 0 0 0 0 0", "1 0 1 1 0 0", "300 300 0 0 0 0"])
        self.assertEqual(self.daemon.total("web/each"), 301)

    def test_children_forked_while_threads_add_samples_work(self):
        self.run_feeder(WEB + """
ending = False
def run():
    while not ending: each.inc(1)
threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads: thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        mine = tally.Interface(f"child-{os.getpid()}").statistic("each")
        mine.start()
        mine.inc(1)
        tally.statistic_sync(60000)
        os._exit(0 if tally.statistic_count().confirmed == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
ending = True
""")
        children = [path for path in self.daemon.statistics.iterdir() if path.name != "tallyfs"]
        self.assertEqual(len(children), 21)

    def test_nothing_is_lost_at_the_end_of_a_multiprocessing_child(self):
        program = "import multiprocessing" + WEB + """
def run():
    for i in range(700): each.inc(i)
context = multiprocessing.get_context("fork")
children = [context.Process(target=run) for _ in range(3)]
"""
        self.assert_sent_at_the_end(2100, program, """
for child in children: child.start()
for child in children: child.join()
""")

    def test_signal_handlers_may_add_samples(self):
        said = self.run_feeder("import signal" + WEB + """
handled = 0
def handle(*_):
    global handled
    for i in range(100): each.inc(i)
    each.add_batch(range(50))
    handled += 1
    signal.setitimer(signal.ITIMER_REAL, 0.0005)  # not before: each would interrupt the one before
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005)
added = 0
while handled < 300:
    each.add(1)
    added += 1
    if added % 100 == 0:
        each.add_batch(range(100))
        added += 100
signal.setitimer(signal.ITIMER_REAL, 0)
tally.statistic_sync(60000)
counts = tally.statistic_count()
say(added + 150 * handled, counts.added, counts.confirmed, counts.dropped)
""")
        calls, added, confirmed, dropped = map(int, said.split())
        # Handlers that take all the time there is, as on a busy machine, leave none to send in.
        self.assertEqual((calls, added), (added, confirmed + dropped), said)
        self.assertEqual(self.daemon.total("web/each"), confirmed)

    def test_a_program_may_close_descriptors_that_are_not_its_own(self):
        said = self.run_feeder(WEB + """
each.inc(1)
tally.statistic_sync(60000)
os.closerange(3, 100)
kept = [os.open(sys.argv[1] + "/tally/__init__.py", os.O_RDONLY) for _ in range(20)]
each.inc(1)
tally.statistic_sync(60000)
say(sum(os.fstat(fd).st_size > 0 for fd in kept))
""")
        self.assertEqual(said, "20")
        self.assertEqual(self.daemon.total("web/each"), 2)


class IdleTest(DaemonCase):
    def test_a_program_that_creates_nothing_starts_nothing(self):
        said = self.run_feeder("""
tally.statistic_configure(socket="/nonexistent")
say(threading.active_count(), len(os.listdir("/proc/self/fd")))
""")
        self.assertEqual(said.split()[0], "1")


if __name__ == "__main__":
    unittest.main()
