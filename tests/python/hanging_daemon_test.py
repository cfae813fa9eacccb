"""Daemons that hang, or are slow."""
import unittest

from programs import CALL_MAX_S, LONGEST, WEB, Sum
from stand import RunningDaemonCase


class HangingDaemonTest(RunningDaemonCase):
    def test_it_holds_up_no_call_and_samples_without_room_are_dropped_and_told(self):
        feeder = self.feeder("tally.statistic_configure(held_max=5000)" + WEB + LONGEST + """
tally.statistic_sync(60000)
say()
hear()
say(longest(500000))
begun = time.perf_counter()
each.stop(); each.start(); web.statistic("another").start(); tally.Interface("another")
say(time.perf_counter() - begun)
say(*tally.statistic_count()[:6])
hear()
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        feeder.hear()
        self.daemon.hang()
        feeder.say()
        self.assertLess(float(feeder.hear()), CALL_MAX_S)
        self.assertLess(float(feeder.hear()), CALL_MAX_S)
        before = Sum(feeder.hear())
        self.assertEqual(before.added, 500000)
        self.assertGreater(before.dropped, 0)
        self.assertLessEqual(before.held, 5000)
        self.daemon.go_on()
        feeder.say()
        after = Sum(feeder.hear())
        self.assertEqual(after.confirmed + after.dropped, 500000)
        self.assertEqual(self.daemon.total("web/each"), after.confirmed)
        self.assertEqual(self.daemon.own("dropped"), after.dropped)
        self.assertTrue((self.daemon.statistics / "another").exists())

    def told_while_it_hangs(self, feeds):
        """A feeder that says each report. It has said where it sends to."""
        self.daemon.hang()
        feeder = self.feeder("""
tally.statistic_configure(report=lambda text: say("told", text))
web = tally.Interface("web")
each = web.statistic("each")
each.start()
""" + feeds + "\n")
        self.assertIn("sending to", feeder.hear())
        return feeder

    def test_a_daemon_that_does_not_answer_is_reported(self):
        feeder = self.told_while_it_hangs("while True: each.inc(1); time.sleep(0.01)")
        self.assertIn("no answer from the daemon", feeder.hear())
        self.daemon.go_on()

    def test_what_is_held_at_the_end_is_reported(self):
        feeder = self.told_while_it_hangs("for i in range(5): each.inc(i)")
        self.assertIn("5 samples could not be sent before the end, and are lost: the daemon does",
                      feeder.hear())  # fmt: skip
        self.daemon.go_on()

    def test_a_feeder_that_chose_to_wait_does_so_once(self):
        configure = "tally.statistic_configure(held_max=1024, wait_ms=3000)"
        feeder = self.feeder(configure + WEB + LONGEST + """
tally.statistic_sync(60000)
say()
hear()
say(longest(500000))
say(longest(10000))
say(*tally.statistic_count()[:6])
hear()
say(longest(10000))
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")  # fmt: skip
        feeder.hear()
        self.daemon.hang()
        feeder.say()
        waited = float(feeder.hear())
        self.assertGreaterEqual(waited, 3)
        self.assertLess(waited, 3 + CALL_MAX_S)
        self.assertLess(float(feeder.hear()), CALL_MAX_S)
        self.assertGreater(Sum(feeder.hear()).dropped, 0)
        self.daemon.go_on()
        feeder.say()
        feeder.hear()
        after = Sum(feeder.hear())
        self.assertEqual(after.confirmed + after.dropped, after.added)
        self.assertEqual(self.daemon.total("web/each"), after.confirmed)

    def test_a_feeder_that_waits_loses_nothing_to_a_slow_daemon(self):
        feeder = self.feeder("tally.statistic_configure(held_max=1024, wait_ms=60000)" + WEB + """
tally.statistic_sync(60000)
say()
hear()
def run():
    for i in range(100000): each.inc(i)
threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads: thread.start()
while tally.statistic_count().held < 1000: time.sleep(0.001)
say("full")
for thread in threads: thread.join()
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        feeder.hear()
        self.daemon.hang()
        feeder.say()
        self.assertEqual(feeder.hear(), "full")
        self.daemon.go_on()
        counts = Sum(feeder.hear())
        self.assertEqual((counts.confirmed, counts.dropped), (400000, 0))
        self.assertEqual(self.daemon.total("web/each"), 400000)

    def test_flush_and_sync_and_the_end_take_bounded_time(self):
        feeder = self.feeder(WEB + """
import errno
tally.statistic_sync(60000)
say()
hear()
for i in range(1000000): each.inc(i)
for call in (tally.statistic_flush, lambda: tally.statistic_sync(50)):
    try:
        call()
    except OSError as error:
        say(errno.errorcode[error.errno])
""")
        feeder.hear()
        self.daemon.hang()
        feeder.say()
        self.assertEqual(feeder.hear(), "EAGAIN")
        self.assertEqual(feeder.hear(), "ETIMEDOUT")
        self.assertEqual(feeder.end(), (0, ""))


if __name__ == "__main__":
    unittest.main()
