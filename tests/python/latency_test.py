"""Latencies that a Python program measures, in tracing/latency_hist."""
import errno
import re
import unittest

from daemon_fixture import DaemonCase, RunningDaemonCase, eventually


class LatencyCase(DaemonCase):
    def read(self, path):
        return (self.daemon.mount / "tracing/latency_hist" / path).read_text()


class LatencyTest(LatencyCase, RunningDaemonCase):
    def test_a_latency_is_seen_at_once_with_the_task_that_suffered(self):
        feeder = self.feeder("""
tally.latency_record("my_section", 0, 25999, 4711, 80, "worker")
say("sent")
hear()
""")
        self.assertEqual(feeder.hear(), "sent")
        self.assertEqual(self.read("my_section/max_latency-CPU0"), "4711 80 25 worker\n")

    def test_a_name_is_kept_as_far_as_it_fits(self):
        self.run_feeder("""
tally.latency_record("a", 0, -1000, 1, -21, "sixteen bytes ab")
tally.latency_record("b", 0, 1, 1, -21)
""")
        below = self.read("a/CPU0").splitlines()[4]
        self.assertEqual(below, "#There are 1 samples lower than 0 microseconds.")
        self.assertTrue(self.read("a/top").endswith(" sixteen bytes a\n"), self.read("a/top"))
        self.assertEqual(self.read("b/max_latency-CPU0"), "1 -21 0 \n")

    def test_a_section_is_measured_on_its_thread(self):
        thread = self.run_feeder("""
mark = tally.latency_begin()
time.sleep(0.02)
tally.latency_end("my_section", mark)
say(threading.get_native_id())
""")
        top = self.read("my_section/top")
        found = re.fullmatch(rf"CPU\d+ {thread} -(\d+) (\d+) python3?.*\n", top)
        self.assertTrue(found, top)
        self.assertGreaterEqual(int(found.group(2)), 20_000)

    def test_what_makes_no_sense_is_refused(self):
        said = self.run_feeder("""
for wrong in (("a/b", 0, 1, 1, 1), ("", 0, 1, 1, 1), ("a", -1, 1, 1, 1), ("a", 0, 1 << 63, 1, 1),
              ("a", 0, 1, -1, 1), ("a", 0, 1, 1, 100), ("a", 0, 1.5, 1, 1)):
    try:
        tally.latency_record(*wrong)
        say(*wrong)
    except ValueError:
        pass
""")
        self.assertEqual(said, "")

    def test_a_forked_child_records_too(self):
        self.run_feeder("""
tally.latency_record("a", 0, 1000, 1, 1)
child = os.fork()
if child == 0:
    tally.latency_record("a", 0, 2000, 1, 1)
    os._exit(0)
os.waitpid(child, 0)
""")
        self.assertTrue(self.read("a/summary").startswith("samples 2\n"))


class BurstTest(LatencyCase, RunningDaemonCase):
    def lost_of(self, at_the_end):
        feeder = self.feeder(f"""
def fills():
    try:
        tally.latency_record("one", 0, 1000, 1, 1)
        return False
    except BlockingIOError:
        return True
hear()
sent = 0
while not fills():
    sent += 1
fills()
say(sent)
hear()
{at_the_end}
say("told")
""")
        self.daemon.hang()
        feeder.say("fill")
        sent = feeder.hear()
        self.daemon.go_on()
        # Flush and the end wait for room for a tenth of a second only.
        eventually(lambda: self.read("one/summary").startswith(f"samples {sent}\n"),
                   "the daemon has taken all in")  # fmt: skip
        feeder.say("tell")
        self.assertEqual(feeder.hear(), "told")
        feeder.process.wait()
        return re.search(r"\nlost (\d+)\n", self.read("one/summary"))[1]

    def test_what_the_last_have_dropped_is_told_by_flush(self):
        self.assertEqual(self.lost_of("tally.statistic_flush(); tally.statistic_flush()"), "2")

    def test_what_the_last_have_dropped_is_told_at_the_end(self):
        self.assertEqual(self.lost_of(""), "2")


class ReplacedDaemonTest(LatencyCase):
    def test_latencies_without_a_daemon_are_dropped_and_told_of_later(self):
        feeder = self.feeder("""
def record():
    try:
        tally.latency_record("one", 0, 1000, 1, 1)
        say("sent")
    except OSError as error:
        say(error.errno)
while hear() == "record":
    record()
""")

        def record():
            feeder.say("record")
            return feeder.hear()

        self.daemon.start()
        self.assertEqual(record(), "sent")
        self.daemon.stop()
        self.assertEqual(record(), str(errno.ENOTCONN))
        self.assertEqual(record(), str(errno.ENOTCONN))
        self.daemon.start()
        eventually(lambda: record() == "sent", "the next daemon gets one")
        self.assertGreaterEqual(self.daemon.own("dropped"), 2)
        self.assertTrue(self.read("one/summary").startswith("samples 1\n"))
        self.assertRegex(self.read("one/summary"), r"\nlost ([2-9]|\d\d+)\n")


if __name__ == "__main__":
    unittest.main()
