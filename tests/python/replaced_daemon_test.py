"""Daemons that end, die, and are replaced by others."""
import unittest

from programs import CALL_MAX_S, LONGEST, WEB, Sum
from stand import DaemonCase, RunningDaemonCase, bound_socket, eventually


class ReplacedDaemonTest(RunningDaemonCase):
    PROGRAM = WEB + """
each.define_range(0, 1000)
while not hear():
    for i in range(100): each.inc(i)
    tally.statistic_sync(60000)
    say(*tally.statistic_count()[:6])
"""

    def test_the_next_daemon_is_told_all_again_and_every_sample_is_accounted_for(self):
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
        # The feeder's last call was start(); on=0 was for the other daemon.
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

    def test_a_daemon_that_ends_and_comes_again_meanwhile_holds_up_no_call(self):
        feeder = self.feeder(WEB + LONGEST + """
tally.statistic_sync(60000)
say("ready")
while not os.path.exists(hear_path): say(longest(2000))
tally.statistic_sync(60000)
say("counts", *tally.statistic_count()[:6])
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
        # This line may come before the feeder's or after it: in the end users decide.
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


if __name__ == "__main__":
    unittest.main()
