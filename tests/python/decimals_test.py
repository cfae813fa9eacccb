"""Statistics with decimals=: floats are samples."""
import unittest

from daemon_fixture import INTO_CELLS, RunningDaemonCase


class DecimalsTest(RunningDaemonCase):
    def test_floats_are_kept_exactly_and_shown_as_decimals(self):
        said = self.run_feeder("""
from array import array
each = tally.Interface("web").statistic("s", "seconds/requests")
each.define_decimals(6)
each.define_array(range_min=0, range_max=2500000, base_interval=500000, scale="lin")
each.start()
tally.statistic_sync(60000)
each.inc(0.25)
each.add(1.75, 2)
each.add_at(0.5, 1, 0)
each.add_batch([2.25, 1000000, 3])
each.add_batch(array("d", [0.75]), 3)
tally.statistic_sync(60000)
say(tally.statistic_count().invalid)
""")
        self.assertEqual(said, "0")
        self.assertEqual(
            self.daemon.data("web"),
            "s <=0.000000 0\ns <=0.500000 3\ns <=1.000000 4\ns <=1.500000 0\n"
            "s <=2.000000 2\ns <=2.500000 1\ns >2.500000 0\n")
        line = self.daemon.definition("web/s")
        self.assertIn("range_max=2.500000 base_interval=0.500000 ", line)
        self.assertIn(" decimals=6 units=seconds/requests", line)

    def test_a_float_that_is_no_x_is_an_error(self):
        said = self.run_feeder("""
web = tally.Interface("web")
whole, some = web.statistic("whole"), web.statistic("some")
some.define_decimals(2)
for each in (whole, some): each.start()
tally.statistic_sync(60000)
def fails(call, *values):
    try:
        call(*values)
        say("taken")
    except ValueError as error: say(error)
fails(whole.inc, 0.5)
fails(whole.add_batch, [1, 2, 0.5, 4])
for x in (float("nan"), float("-inf"), 1e300): fails(some.add, x)
fails(some.add_at, float("inf"), 1, 0)
fails(some.define_decimals, 10)
some.define_range()
fails(some.define_decimals, 2)
tally.statistic_sync(60000)
""")
        no_decimals = "whole numbers only: the statistic has no decimals"
        self.assertEqual(said.split("\n"), [
            no_decimals, no_decimals, "X is no finite number", "X is no finite number",
            "X does not fit into 64 bits", "X is no finite number",
            "decimals must be a number from 0 to 9, not 10",
            "decimals come before all else that defines the statistic"])  # fmt: skip
        self.assertIn("whole 2\n", self.daemon.data("web"))

    def test_floats_go_by_what_users_have_made_of_the_decimals(self):
        feeder = self.feeder(f"""
{INTO_CELLS}
each = tally.Interface("web").statistic("s")
each.define_decimals(1)
each.define_range()
each.start()
into_cells(each)
while True:
    say("ready")
    hear()
    each.inc(0.25)
    tally.statistic_sync(60000)
""")
        for decimals, data in (1, "s 1 0.2 0.2000 0.2\n"), (3, "s 1 0.250 0.250000 0.250\n"):
            self.assertEqual(feeder.hear(), "ready")
            self.daemon.define("web", f"name=s decimals={decimals} data=reset")
            feeder.say()
            self.assertEqual(feeder.hear(), "ready")
            self.assertEqual(self.daemon.data("web"), data)
            feeder.say()  # another, which the next reset discards


if __name__ == "__main__":
    unittest.main()
