"""Daemons that are not there, and come later."""
import re
import unittest

from programs import CALL_MAX_S, LONGEST, WEB, Sum
from stand import DaemonCase, eventually


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

    def test_what_a_program_has_changed_before_a_fork_is_not_done_again_by_its_child(self):
        feeder = self.feeder(WEB + """
each.reset()
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.read(read, 1)
    for i in range(40): each.inc(i)
    os._exit(tally.statistic_sync(60000) or 0)
say("forked")
hear()
for i in range(300): each.inc(i)
tally.statistic_sync(60000)
os.write(write, b".")
say(os.waitpid(child, 0)[1])
""")
        self.assertEqual(feeder.hear(), "forked")
        self.daemon.start()
        feeder.say()
        self.assertEqual(feeder.hear(), "0")
        self.assertEqual(self.daemon.total("web/each"), 340)

    def test_a_round_that_fails_is_told_and_tried_again(self):
        self.daemon.start()
        feeder = self.feeder("""
from tally.feeder import feeder
tally.statistic_configure(report=say)
keep_up, failures = feeder.keeper._keep_up, [MemoryError("short"), ValueError("bad")]
def fail_at_first():
    if failures: raise failures.pop(0)
    return keep_up()
feeder.keeper._keep_up = fail_at_first
""" + WEB + """
for i in range(10): each.inc(i)
""")
        told = [feeder.hear(), feeder.hear()]
        self.assertIn("a round of sending has failed, and is tried again: MemoryError('short')",
                      told)
        self.assertIn(f"sending to {self.daemon.socket}", told)
        eventually(lambda: self.daemon.total("web/each") == 10, "10 samples")
        feeder.end()

    def test_held_max_samples_are_held_and_further_ones_are_dropped_and_told(self):
        feeder = self.feeder("""
tally.statistic_configure(held_max=2000, wait_ms=60000)
""" + WEB + LONGEST + """
say(longest(3000))
each.add_batch(range(1000))
say(*tally.statistic_count()[:6])
say(each.dropped())
hear()
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
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

    def test_a_daemon_that_ends_and_still_has_its_socket_is_reported_once(self):
        said = self.run_feeder("""
import socket
daemon = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
daemon.bind(os.environ["TALLY_SOCKET"])
told = []
tally.statistic_configure(report=told.append)
""" + WEB + """
def flush():
    each.inc(1)
    try:
        tally.statistic_flush()
    except OSError:
        pass
while not told: flush()
daemon.shutdown(socket.SHUT_RD)
while "the daemon is gone" not in told: flush()
for _ in range(5): flush()
os.unlink(os.environ["TALLY_SOCKET"])
say("\\n".join(each for each in told if "no answer" not in each))
""")
        self.assertEqual(said.splitlines(),
                         [f"sending to {self.daemon.socket}", "the daemon is gone"])

    def test_a_process_ends_without_one(self):
        self.run_feeder(WEB + "for i in range(100000): each.inc(i)")


if __name__ == "__main__":
    unittest.main()
