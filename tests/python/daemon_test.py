"""Daemons that are absent, come, hang, die and are replaced, and refuse."""
import errno
import os
import re
import unittest

from stand import DaemonCase, RunningDaemonCase, bound_socket, eventually

WEB = """
web = tally.Interface("web")
each = web.statistic("each", "us/requests")
each.start()
"""
# The longest call, in seconds, of as many as there are.
LONGEST = """
def longest(count):
    found = 0
    for i in range(count):
        begun = time.perf_counter()
        each.inc(i)
        found = max(found, time.perf_counter() - begun)
    return found
"""
# No call waits for a daemon that is not there; but a machine with other things to do may keep any
# of them waiting.
CALL_MAX_S = 2


class Sum:
    def __init__(self, said):
        numbers = map(int, said.split())
        self.added, self.held, self.sent, self.confirmed, self.lost, self.dropped = numbers


class AbsentDaemonTest(DaemonCase):
    def test_samples_are_held_until_a_daemon_comes(self):
        feeder = self.feeder("""
tally.statistic_configure(report=say)
""" + WEB + """
each.define_range(0, 1000)
hear()
for i in range(1000): each.inc(i)
say("added")
hear()
tally.statistic_sync(60000)
say(*tally.statistic_count())
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

    def test_as_many_are_held_as_was_said_and_further_ones_are_dropped_and_told(self):
        feeder = self.feeder("""
tally.statistic_configure(held_max=2000, wait_ms=60000)
""" + WEB + LONGEST + """
say(longest(3000))
each.add_batch(range(1000))
say(*tally.statistic_count())
say(each.dropped())
hear()
tally.statistic_sync(60000)
say(*tally.statistic_count())
""")
        self.assertLess(float(feeder.hear()), CALL_MAX_S)
        before = Sum(feeder.hear())
        self.assertEqual(before.added, 4000)
        self.assertEqual(before.held + before.dropped, 4000)
        self.assertLessEqual(before.held, 2000)
        self.assertGreater(before.held, 1000)
        self.assertEqual(int(feeder.hear()), before.dropped)
        self.daemon.start()
        feeder.say()
        after = Sum(feeder.hear())
        self.assertEqual((after.confirmed, after.dropped), (before.held, before.dropped))
        self.assertEqual(self.daemon.total("web/each"), before.held)
        self.assertEqual(self.daemon.own("dropped"), before.dropped)
        dropped_by = re.search(r"^dropped_by (\S+) (\d+)$", self.daemon.data("tallyfs"), re.M)
        self.assertEqual(int(dropped_by.group(1), 16), feeder.process.pid)
        self.assertEqual(int(dropped_by.group(2)), before.dropped)

    def test_flush_and_sync_say_that_there_is_none(self):
        said = self.run_feeder(WEB + """
import errno
each.inc(1)
for call in (tally.statistic_flush, lambda: tally.statistic_sync(10)):
    try:
        call()
    except OSError as error:
        say(errno.errorcode[error.errno])
""")
        self.assertEqual(said.split(), ["ENOTCONN", "ENOTCONN"])

    def test_a_process_ends_without_one(self):
        self.run_feeder(WEB + "for i in range(100000): each.inc(i)")


class ReplacedDaemonTest(RunningDaemonCase):
    PROGRAM = WEB + """
each.define_range(0, 1000)
while not hear():
    for i in range(100): each.inc(i)
    tally.statistic_sync(60000)
    say(*tally.statistic_count())
"""

    def test_the_next_daemon_is_told_all_again_and_nothing_is_unaccounted(self):
        feeder = self.feeder(self.PROGRAM)
        for round in range(1, 4):
            feeder.say()
            counts = Sum(feeder.hear())
            self.assertEqual(counts.added, 100 * round)
            self.assertEqual((counts.held, counts.dropped), (0, 0))
            self.assertEqual(counts.confirmed + counts.lost, counts.sent)
            self.assertIn(
                "on=1 type=range range_min=0 range_max=1000", self.daemon.definition("web/each")
            )
            self.daemon.kill()
            self.daemon.start()

    def test_an_idle_feeder_registers_by_itself(self):
        feeder = self.feeder(self.PROGRAM)
        feeder.say()
        feeder.hear()
        self.daemon.define("web", "on=0")
        self.daemon.kill()
        self.daemon.start()
        eventually(lambda: (self.daemon.statistics / "web").exists(), "the interface is there")
        eventually(lambda: self.daemon.definition("web/each"), "the statistic is there")
        # Its feeder's last word was start(), and another daemon's users said otherwise.
        self.assertIn("on=1 type=range", self.daemon.definition("web/each"))
        feeder.say()
        feeder.hear()
        self.assertEqual(self.daemon.data("web"), "each 100 0 49.500 99\n")

    def test_a_child_whose_statistics_are_off_hears_of_the_next_daemon(self):
        feeder = self.feeder("""
web = tally.Interface("web")
each, other = web.statistic("each"), web.statistic("other")
tally.statistic_sync(60000)
for _ in range(2):  # a child of a child that did nothing
    child = os.fork()
    if child:
        os._exit(1 if os.waitpid(child, 0)[1] else 0)
say("forked")
hear()
each.inc(1)
other.add_batch([1, 2, 3])
say(tally.statistic_count().added)
deadline = time.monotonic() + 60
while not tally.statistic_count().confirmed:
    if time.monotonic() > deadline: os._exit(1)
    each.inc(1)
    other.inc(1)
    time.sleep(0.001)
say(other.is_on())
""")
        self.assertEqual(feeder.hear(), "forked")
        self.daemon.kill()
        self.daemon.start()
        feeder.say()
        self.assertEqual(feeder.hear(), "0")
        eventually((self.daemon.statistics / "web").exists, "the interface is there")
        eventually(lambda: self.daemon.definition("web/each"), "the statistic is there")
        self.daemon.define("web", "name=each on=1")
        self.assertEqual(feeder.end(), (0, "False"))
        self.assertGreater(self.daemon.total("web/each"), 0)
        self.assertEqual(self.daemon.total("web/other"), 0)

    def test_a_daemon_that_ends_and_comes_again_meanwhile_holds_up_nobody(self):
        feeder = self.feeder(WEB + LONGEST + """
tally.statistic_sync(60000)
say("ready")
while not os.path.exists(hear_path): say(longest(2000))
tally.statistic_sync(60000)
say("counts", *tally.statistic_count())
""".replace("hear_path", repr(f"{self.directory}/enough")))
        self.assertEqual(feeder.hear(), "ready")
        longest = [float(feeder.hear())]
        for end in (self.daemon.kill, self.daemon.stop):
            end()
            longest += [float(feeder.hear()) for _ in range(50)]
            self.daemon.start()
            longest += [float(feeder.hear()) for _ in range(50)]
        open(f"{self.directory}/enough", "w").close()
        said = feeder.hear()
        while not said.startswith("counts"):
            self.assertTrue(said, "the feeder has ended")
            longest.append(float(said))
            said = feeder.hear()
        self.assertLess(max(longest), CALL_MAX_S)
        counts = Sum(said[len("counts"):])
        self.assertEqual(counts.added, 2000 * len(longest))
        self.assertEqual((counts.held, counts.sent), (0, counts.confirmed + counts.lost))

    def test_the_first_to_register_decides_and_the_others_do_not_undo_it(self):
        feeder = self.feeder(self.PROGRAM)
        feeder.say()
        feeder.hear()
        self.daemon.kill()
        self.daemon.start()
        # Somebody was faster, or the feeder was: what is there is as users have it in the end.
        self.daemon_text("create web/each type=raw entries_max=5")
        eventually(lambda: self.daemon.definition("web/each"), "the statistic is there")
        self.daemon.define("web", "name=each on=1 type=raw entries_max=5")
        feeder.say()
        feeder.hear()
        self.assertIn("on=1 type=raw", self.daemon.definition("web/each"))

    def daemon_text(self, line):
        with bound_socket("") as sender:
            sender.sendto(line.encode(), self.daemon.socket)


class TakenOverSocketTest(DaemonCase):
    def test_a_daemon_that_takes_over_the_socket_is_told_all_again(self):
        bound = bound_socket(self.daemon.socket)
        self.addCleanup(bound.close)
        self.daemon.start_on(bound)
        feeder = self.feeder(ReplacedDaemonTest.PROGRAM)
        for round in range(1, 4):
            feeder.say()
            counts = Sum(feeder.hear())
            self.assertEqual((counts.added, counts.held), (100 * round, 0))
            self.assertEqual(counts.sent, counts.confirmed + counts.lost)
            self.daemon.kill()
            self.daemon.start_on(bound)
        eventually(lambda: (self.daemon.statistics / "web").exists(), "an idle feeder has noticed")
        self.assertIn("type=range", eventually(
            lambda: self.daemon.definition("web/each"), "the statistic is there"))  # fmt: skip


class HangingDaemonTest(RunningDaemonCase):
    def test_it_holds_up_nobody_and_what_it_cannot_take_is_dropped_and_told(self):
        feeder = self.feeder("tally.statistic_configure(held_max=5000)" + WEB + LONGEST + """
tally.statistic_sync(60000)
say()
hear()
say(longest(500000))
begun = time.perf_counter()
each.stop(); each.start(); web.statistic("another").start(); tally.Interface("another")
say(time.perf_counter() - begun)
say(*tally.statistic_count())
hear()
tally.statistic_sync(60000)
say(*tally.statistic_count())
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

    def test_who_chose_to_wait_does_so_once(self):
        feeder = self.feeder("tally.statistic_configure(held_max=1024, wait_ms=300)" + WEB + LONGEST
                             + """
tally.statistic_sync(60000)
say()
hear()
say(longest(500000))
say(longest(10000))
say(*tally.statistic_count())
hear()
say(longest(10000))
tally.statistic_sync(60000)
say(*tally.statistic_count())
""")  # fmt: skip
        feeder.hear()
        self.daemon.hang()
        feeder.say()
        waited = float(feeder.hear())
        self.assertGreaterEqual(waited, 0.3)
        self.assertLess(waited, 0.3 + CALL_MAX_S)
        self.assertLess(float(feeder.hear()), 0.3)
        self.assertGreater(Sum(feeder.hear()).dropped, 0)
        self.daemon.go_on()
        feeder.say()
        feeder.hear()
        after = Sum(feeder.hear())
        self.assertEqual(after.confirmed + after.dropped, after.added)
        self.assertEqual(self.daemon.total("web/each"), after.confirmed)

    def test_who_waits_loses_nothing_to_a_daemon_that_is_slow(self):
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
say(*tally.statistic_count())
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


class RefusalTest(RunningDaemonCase):
    def test_what_belongs_to_another_user_is_refused_told_and_dropped(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        os.chmod(self.directory, 0o755)
        self.run_feeder(WEB + "tally.statistic_sync(60000)")
        said = self.run_feeder("""
import pathlib
os.setuid(65534)
tally.statistic_configure(report=lambda text: say("told", text))
mine = tally.Interface("mine").statistic("each")
mine.start()
mine.inc(1)
theirs = tally.Interface("web").statistic("other")
theirs.start()
theirs.inc(2)
try:
    tally.statistic_sync(60000)
except PermissionError as error:
    say(error)
mine.inc(3)
theirs.inc(4)
try:
    tally.statistic_flush()
except OSError: pass
say(theirs.dropped(), mine.dropped(), *tally.statistic_count())
""")
        self.assertRegex(said, r"\[Errno 1\] .*web/other.*")
        self.assertRegex(said, "told the daemon refused web/other: .*")
        self.assertRegex(said, "(?m)^2 0 4 0 2 [012] 0 2$")
        self.assertEqual(self.daemon.data("mine"), "each 2\n")
        self.assertEqual(self.daemon.data("web"), "each 0\n")

    def test_a_refused_change_is_told_by_sync_beside_what_was_taken_in(self):
        said = self.run_feeder(WEB + """
each.start()
tally.statistic_sync(60000)
many = [web.statistic(f"big_{i}") for i in range(40)]
tally.statistic_sync(60000)
for big in many:
    big.define_raw(entries_max=1048576)
each.inc(7)
try:
    tally.statistic_sync(60000)
except OSError as error:
    say(error.errno)
say(tally.statistic_count().confirmed)
""")
        self.assertEqual(said.split(), [str(errno.ENOSPC), "1"])

    def test_what_is_removed_before_a_daemon_is_found_is_removed_there(self):
        self.run_feeder("web = tally.Interface('old')\ntally.statistic_sync(60000)")
        self.assertTrue((self.daemon.statistics / "old").exists())
        self.run_feeder("tally.Interface('old').remove()\ntally.statistic_sync(60000)")
        gone = lambda: not (self.daemon.statistics / "old").exists()  # noqa: E731
        eventually(gone, "the interface is gone")


if __name__ == "__main__":
    unittest.main()
