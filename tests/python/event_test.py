"""Events of a Python program."""
import unittest

from daemon_fixture import RunningDaemonCase


class EventTest(RunningDaemonCase):
    def test_records_have_the_values_of_their_fields(self):
        said = self.run_feeder("""
event = tally.Event("py", "done", "u8 a; s64 b; char[] path; u16 c; char comm[16]; bool d; pid_t e")
tally.statistic_sync(60000)
assert not event.enabled()
events = "%s"
open(events + "/py/done/enable", "w").write("1")
assert event.enabled()
event.write(255, -5, "/a/long/path", 65535, "longer than sixteen bytes", True, -1)
event.write(0, 1 << 62, b"bytes", 0, bytearray(b"own"), 0, 7)
tally.statistic_sync(60000)
print(open(events + "/../trace").read())
say(repr(event))
""" % (self.daemon.mount / "tracing/events"))
        self.assertIn("a=255 b=-5 path=/a/long/path c=65535 comm=longer than sixt d=1 e=-1", said)
        self.assertIn("a=0 b=4611686018427387904 path=bytes c=0 comm=own d=0 e=7", said)
        self.assertIn("<tally.Event py/done>", said)

    def test_values_that_do_not_fit_raise_nothing_and_are_counted(self):
        feeder = self.feeder("""
reports = []
tally.statistic_configure(report=reports.append)
event = tally.Event("py", "done", "u8 a; s16 b; char comm[4]")
tally.statistic_sync(60000)
say(event.write("off", "is", "not looked at"))
hear()
for wrong in ((256, 0, ""), (-1, 0, ""), (0, 32768, ""), (0, 1.5, ""), (0, 0, 5), (0, 0), ("x",)):
    event.write(*wrong)
event.write(1, 2, "ok")
tally.statistic_sync(60000)
while not any("invalid" in text for text in reports): time.sleep(0.001)
say(tally.statistic_count().invalid, [text for text in reports if "invalid" in text])
event.release()
event.write(1, 2, "ok")
say(event.enabled())
""")
        self.assertEqual(feeder.hear(), "None")
        (self.daemon.mount / "tracing/events/py/done/enable").write_text("1")
        feeder.say()
        told = "<tally.Event py/done> cannot take 256, 0, '': it is counted as invalid"
        self.assertEqual(feeder.hear(), f"7 {[told]}")
        self.assertEqual(feeder.hear(), "False")

    def test_what_is_no_event_is_refused(self):
        self.run_feeder("""
for wrong in (("a b", "c", "u8 a"), ("a", "", "u8 a"), ("a", "c", ""), ("a", "c", "u8"),
              ("a", "c", "long[] stack"), ("a", "c", "float a"), (1, "c", "u8 a")):
    try:
        tally.Event(*wrong)
        raise SystemExit(f"{wrong} was taken")
    except ValueError:
        pass
with tally.Event("a", "c", "u8 a"):
    try:
        tally.Event("a", "c", "u8 a")
        raise SystemExit("twice")
    except FileExistsError:
        pass
""")


if __name__ == "__main__":
    unittest.main()
