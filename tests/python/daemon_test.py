"""Daemons that are not there, come later, hang or are replaced, as a Python program sees them."""
import re
import signal
import unittest

from daemon_fixture import (CALL_MAX_S, INTO_CELLS, WEB, DaemonCase, RunningDaemonCase,
                            eventually)


class AbsentDaemonTest(DaemonCase):
    def test_samples_are_held_until_a_daemon_comes_and_a_report_says_so(self):
        feeder = self.feeder("""
tally.statistic_configure(report=say)
""" + WEB + """
each.define_range(0, 1000)
hear()
for i in range(1000): each.inc(i)
say("added")
hear()
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        self.assertRegex(feeder.hear(), "no daemon yet: .*No such file")
        feeder.say()
        self.assertEqual(feeder.hear(), "added")
        self.daemon.start()
        self.assertEqual(feeder.hear(), f"sending to {self.daemon.socket}")
        feeder.say()
        self.assertEqual(feeder.hear(), "1000 0 1000 1000 0 0")
        self.assertEqual(self.daemon.data("web"), "each 1000 0 499.500 999\n")
        self.assertIn(" units=us/requests", self.daemon.definition("web/each"))

    def test_held_max_samples_are_held_and_further_ones_are_dropped_and_told(self):
        feeder = self.feeder("tally.statistic_configure(held_max=2048, wait_ms=60000)" + WEB + """
for i in range(3000): each.inc(i)
each.add_batch(range(1000))
say(each.dropped(), *tally.statistic_count()[:6])
hear()
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        dropped, *counts = map(int, feeder.hear().split())
        self.assertEqual(counts, [4000, 2048, 0, 0, 0, dropped])
        self.assertEqual(dropped, 4000 - 2048)
        self.daemon.start()
        feeder.say()
        self.assertEqual(feeder.hear(), f"4000 0 2048 2048 0 {dropped}")
        self.assertEqual(self.daemon.total("web/each"), 2048)
        self.assertEqual(self.daemon.own("dropped"), dropped)

    def test_flush_and_sync_say_that_there_is_none_and_the_process_ends(self):
        said = self.run_feeder(WEB + """
import errno
for i in range(100000): each.inc(i)
for call in (tally.statistic_flush, lambda: tally.statistic_sync(10)):
    try:
        call()
    except OSError as error:
        say(errno.errorcode[error.errno])
""")
        self.assertEqual(said.split(), ["ENOTCONN", "ENOTCONN"])

    def test_ctrl_c_ends_a_sync(self):
        # A test that is started in the background inherits that SIGINT is ignored.
        feeder = self.feeder(WEB + """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    say("waits")
    tally.statistic_sync(60000)
except KeyboardInterrupt:
    say("interrupted")
""")
        self.assertEqual(feeder.hear(), "waits")
        feeder.process.send_signal(signal.SIGINT)
        self.assertEqual(feeder.hear(), "interrupted")


class HangingDaemonTest(RunningDaemonCase):
    def test_flush_and_sync_and_the_end_take_bounded_time_and_a_report_counts_what_is_lost(self):
        feeder = self.feeder("""
import errno
tally.statistic_configure(report=lambda text: say("told", text), no_lane=True)
""" + WEB + """
tally.statistic_sync(60000)
say()
hear()
longest = 0
for i in range(500000):
    begun = time.perf_counter()
    each.inc(i)
    longest = max(longest, time.perf_counter() - begun)
say("longest", longest)
for call in (tally.statistic_flush, lambda: tally.statistic_sync(50)):
    try:
        call()
    except OSError as error:
        say(errno.errorcode[error.errno])
say("held", tally.statistic_count().held)
""")
        self.assertEqual({feeder.hear(), feeder.hear()},
                         {"", f"told sending to {self.daemon.socket}"})  # fmt: skip
        self.daemon.hang()
        feeder.say()
        status, said = feeder.end()
        self.assertEqual(status, 0, said)
        self.assertLess(float(re.search("longest (.*)", said)[1]), CALL_MAX_S)
        self.assertRegex(said, "(?s)EAGAIN\n.*ETIMEDOUT\n")
        held = re.search("held (.*)", said)[1]
        self.assertIn(f"told {held} samples could not be sent before the end, and are lost: the "
                      "daemon does not take them", said)  # fmt: skip

    def test_other_threads_run_while_a_call_waits_for_room_and_may_release_its_statistic(self):
        feeder = self.feeder("""
tally.statistic_configure(held_max=1024, wait_ms=60000, no_lane=True)
""" + WEB + """
tally.statistic_sync(60000)
say()
hear()
added = 0
def run():
    global added
    while each.is_on():
        each.inc(1)
        added += 1
thread = threading.Thread(target=run)
thread.start()
seen = -1
while seen != added:  # until the thread waits in a call
    seen = added
    time.sleep(0.1)
each.release()
say("released")
thread.join()
say("joined", added)
""")
        feeder.hear()
        self.daemon.hang()
        feeder.say()
        self.assertEqual(feeder.hear(), "released")
        self.daemon.go_on()
        joined, added = feeder.hear().split()
        self.assertEqual((joined, feeder.end()[0]), ("joined", 0))
        self.assertEqual(self.daemon.total("web/each"), int(added))

    def test_threads_that_wait_lose_nothing_to_a_slow_daemon(self):
        feeder = self.feeder("""
tally.statistic_configure(held_max=1024, wait_ms=60000, no_lane=True)
""" + WEB + """
tally.statistic_sync(60000)
say()
hear()
def run():
    for i in range(200000): each.inc(i)
    each.add_batch(range(50000))
threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads: thread.start()
while tally.statistic_count().held < 4000: time.sleep(0.001)
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
        self.assertEqual(feeder.hear(), "1000000 0 1000000 1000000 0 0")
        self.assertEqual(self.daemon.total("web/each"), 1000000)


class ReplacedDaemonTest(RunningDaemonCase):
    def test_the_next_daemon_is_told_all_again_and_every_sample_is_accounted_for(self):
        feeder = self.feeder(f"""
reports = []
tally.statistic_configure(report=reports.append)
{WEB}{INTO_CELLS}
each.define_range(0, 1000)
added = into_cells(each)
say(added)
while hear():
    for i in range(100): each.inc(i)
    tally.statistic_sync(60000)
    lost = sum("may be lost" in each for each in reports)
    say(*tally.statistic_count()[:6], lost)
""")
        added = int(feeder.hear())
        for daemon in range(1, 4):
            self.daemon.kill()
            self.daemon.start()
            eventually(lambda: self.daemon.own("datagrams"), "the feeder sends to it")
            feeder.say("add")
            counts = list(map(int, feeder.hear().split()))
            self.assertEqual(counts[0], added + 100 * daemon)
            self.assertEqual((counts[1], counts[5]), (0, 0))
            self.assertEqual(counts[3] + counts[4], counts[2])
            self.assertIn("on=1 type=range range_min=0 range_max=1000",
                          self.daemon.definition("web/each"))  # fmt: skip


class RefusalTest(RunningDaemonCase):
    def test_what_belongs_to_another_user_is_refused_told_and_dropped(self):
        import os
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.run_feeder(WEB + "tally.statistic_sync(60000)")
        said = self.run_feeder("""
os.setuid(65534)
tally.statistic_configure(report=lambda text: say("told", text))
theirs = tally.Interface("web").statistic("other")
theirs.start()
theirs.inc(2)
try:
    tally.statistic_sync(60000)
except PermissionError as error:
    say(error)
theirs.inc(4)
try:
    tally.statistic_flush()
except OSError: pass
say(theirs.dropped())
""")
        self.assertRegex(said, r"\[Errno 1\] .*web/other.*")
        self.assertRegex(said, "told the daemon refused web/other: .*")
        self.assertRegex(said, "(?m)^2$")
        self.assertEqual(self.daemon.data("web"), "each 0\n")


if __name__ == "__main__":
    unittest.main()
