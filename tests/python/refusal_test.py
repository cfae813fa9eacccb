"""Daemons that refuse, and removals."""
import errno
import os
import unittest

from programs import WEB
from stand import RunningDaemonCase, eventually


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
say(theirs.dropped(), mine.dropped(), *tally.statistic_count()[:6])
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
