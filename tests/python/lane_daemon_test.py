"""What a Python program has counted in cells of a daemon that is gone."""
import unittest

from lane_test import INTO_CELLS, LaneCase
from programs import WEB, Sum
from stand import eventually


class DaemonEndTest(LaneCase):
    PROGRAM = f"""
reports = []
tally.statistic_configure(report=reports.append)
{WEB}{INTO_CELLS}
into_cells(each)
for _ in range(100): each.inc(1)
say(*tally.statistic_count()[:6])
while hear():
    tally.statistic_sync(60000)
    say(*tally.statistic_count()[:6], sum("may be lost" in each for each in reports))
"""

    def count(self, feeder):
        """Its Sum, and how often it was reported that samples may be lost."""
        feeder.say("count")
        *numbers, reports = feeder.hear().split()
        return Sum(" ".join(numbers)), int(reports)

    def has_another_daemon(self, feeder):
        """The feeder has noticed, and been answered."""
        daemon = self.daemon.own("datagrams")
        eventually(lambda: self.daemon.own("datagrams") > daemon + 1, "the feeder sends to it")
        return self.count(feeder)

    def test_of_a_killed_daemon_it_counts_as_lost(self):
        feeder = self.feeder(self.PROGRAM)
        before = Sum(feeder.hear())
        self.assertEqual((before.lost, before.confirmed), (0, before.sent))
        self.daemon.kill()
        self.daemon.start()
        for _ in range(2):  # and no more than once
            after, reports = self.has_another_daemon(feeder)
            self.assertEqual((after.lost, reports), (101, 1))
            self.assertEqual(after.confirmed, before.confirmed - 101)
            self.assertEqual((after.added, after.sent), (before.added, before.sent))

    def test_what_cells_held_before_another_way_is_lost_with_a_killed_daemon(self):
        feeder = self.feeder(self.PROGRAM)
        before = Sum(feeder.hear())
        self.daemon.define("web", "name=each type=list entries_max=9")
        self.daemon.kill()
        self.daemon.start()
        after, reports = self.has_another_daemon(feeder)
        self.assertEqual((after.lost, reports), (101, 1))
        self.assertEqual((after.added, after.sent), (before.added, before.sent))

    def test_a_daemon_that_ends_in_order_has_read_it(self):
        feeder = self.feeder(self.PROGRAM)
        before = Sum(feeder.hear())
        self.daemon.stop()
        self.daemon.start()
        after, reports = self.has_another_daemon(feeder)
        self.assertEqual((after.lost, reports), (0, 0))
        self.assertEqual((after.added, after.confirmed), (before.added, before.confirmed))

    def test_what_is_added_without_a_daemon_is_for_the_next(self):
        feeder = self.feeder(f"""
reports = []
tally.statistic_configure(report=reports.append)
{WEB}{INTO_CELLS}
into_cells(each)
say()
while not any("is gone" in text for text in reports): time.sleep(0.01)
for _ in range(100): each.inc(1)
say(tally.statistic_count().held)
hear()
tally.statistic_sync(60000)
say()
""")
        feeder.hear()
        self.daemon.kill()
        self.assertEqual(feeder.hear(), "100")
        self.daemon.start()
        feeder.say()
        feeder.hear()
        self.assertEqual(self.daemon.total("web/each"), 100)


if __name__ == "__main__":
    unittest.main()
