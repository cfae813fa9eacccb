"""Views: what a feeder makes of its statistics beside them."""
import unittest

from daemon_fixture import RunningDaemonCase


class ViewTest(RunningDaemonCase):
    def test_a_view_gets_what_its_source_gets(self):
        self.run_feeder("""
web = tally.Interface("web")
latency = web.statistic("latency")
latency.define_value()
last, slow = latency.create_view("last"), latency.create_view("slow")
last.define_last()
slow.define_quantiles(range_min=100, precision=8, quantiles="50")
latency.create_view("off").stop()
latency.start()
for x in (7, 300, 100):
    latency.inc(x)
tally.statistic_sync(60000)
""")
        data = self.daemon.data("web")
        self.assertRegex(data, r"(?m)^latency 3$")
        self.assertRegex(data, r"(?m)^last \[[0-9.]+\] 100$")
        self.assertIn("slow count 2\nslow min 100\nslow avg 200.000\nslow p50 100\n", data)
        self.assertIn("name=off of=latency on=0 type=value", self.daemon.definition("web/off"))

    def test_a_view_of_a_source_that_is_off_has_all_since_its_creation(self):
        self.run_feeder("""
each = tally.Interface("web").statistic("each")
each.inc(1)
view = each.create_view("view")
each.inc(2)
each.stop()
each.inc(3)
tally.statistic_sync(60000)
each.start()
each.inc(4)
each.stop()
each.inc(5)
tally.statistic_sync(60000)
""")
        self.assertEqual(self.daemon.data("web"), "each 1\nview 4\n")

    def test_a_view_of_a_source_that_the_daemon_knows_has_all_since_its_creation(self):
        self.run_feeder("""
each = tally.Interface("web").statistic("each")
tally.statistic_sync(60000)
assert not each.is_on()
each.create_view("first")
each.inc(1)
each.inc(2)
tally.statistic_sync(60000)
each.start()
tally.statistic_sync(60000)
each.inc(3)
each.create_view("second")
each.inc(4)
tally.statistic_sync(60000)
""")
        self.assertEqual(self.daemon.data("web"), "each 2\nfirst 4\nsecond 1\n")

    def test_samples_given_to_a_view_are_ignored_and_hold_nothing_back(self):
        self.run_feeder("""
each = tally.Interface("web").statistic("each")
each.start()
view = tally.statistic_create_view(each, "view")
tally.statistic_add(view, 1)
for x in range(100):
    each.inc(x)
tally.statistic_start(view)
tally.statistic_add_batch(view, [1, 2])
tally.statistic_sync(60000)
tally.statistic_inc(view, 2)
each.inc(7)
tally.statistic_sync(60000)
assert not tally.statistic_is_on(view)
counts = tally.statistic_count()
assert counts.added == counts.confirmed == 101 and not counts.held, counts
""")
        self.assertEqual(self.daemon.data("web"), "each 101\nview 101\n")


if __name__ == "__main__":
    unittest.main()
