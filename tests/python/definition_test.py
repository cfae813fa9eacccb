"""Definitions: those of a feeder, and those of its users."""
import unittest
import weakref

from daemon_fixture import RunningDaemonCase, eventually

import tally


class BoundsTest(unittest.TestCase):
    """Arguments that are refused before a daemon is asked."""

    @classmethod
    def setUpClass(cls):
        tally.statistic_configure(socket="/nonexistent/socket")
        cls.interface = tally.Interface("bounds")
        cls.statistic = cls.interface.statistic("each")

    @classmethod
    def tearDownClass(cls):
        cls.interface.release()

    def refuses(self, call, *values, **named):
        with self.assertRaises(ValueError, msg=(values, named)):
            call(*values, **named)

    def test_names(self):
        for name in ("", "a b", "a/b", "a=b", "a\n", "\0", ".", "..", "ä" * 128, None, 7,
                     "\ud800"):  # fmt: skip
            self.refuses(tally.Interface, name)
            self.refuses(self.interface.statistic, name)
        self.refuses(self.interface.statistic, "units", "a=b")
        self.refuses(tally.Interface, "flags", 8)
        self.interface.statistic("ä" * 127, "µs/reads").release()

    def test_help(self):
        self.statistic.define_help("x" * 255)
        self.statistic.define_help(None)
        for text in ("x" * 256, "x " * 64, "\0", 7):
            self.refuses(self.statistic.define_help, text)

    def test_names_are_this_process_s_once(self):
        with self.assertRaises(FileExistsError):
            tally.Interface("bounds")
        with self.assertRaises(FileExistsError):
            self.interface.statistic("each")
        self.interface.statistic("again").release()
        self.interface.statistic("again").release()

    def test_ranges(self):
        each = self.statistic
        for define in (each.define_value, each.define_range, each.define_array, each.define_list,
                       each.define_raw, each.define_history):  # fmt: skip
            self.refuses(define, 1, 0)
            self.refuses(define, -(1 << 63) - 1, 0)
            self.refuses(define, 0, 1 << 63)
            self.refuses(define, 0.5, 1)
            define(-(1 << 63), (1 << 63) - 1)

    def test_attributes(self):
        each = self.statistic
        self.refuses(each.define_value, mode=tally.STATISTIC_MODE_RANGE)
        self.refuses(each.define_value, mode="many")
        self.refuses(each.define_array, scale="log10")
        for base_interval in (0, -1, 1 << 64):
            self.refuses(each.define_array, base_interval=base_interval)
        for entries_max in (0, 1048577):
            self.refuses(each.define_list, entries_max=entries_max)
            self.refuses(each.define_raw, entries_max=entries_max)
            self.refuses(each.define_history, entries_max=entries_max)
        self.refuses(each.define_history, period_us=0)
        self.refuses(each.define_history, period_us=3153600000000001)
        self.refuses(each.define_history, mode="none")

    def test_intervals(self):
        self.refuses(self.statistic.define_array, 0, 65535, 1, tally.STATISTIC_SCALE_LIN)
        self.statistic.define_array(0, 65534, 1, tally.STATISTIC_SCALE_LIN)

    def test_settings(self):
        for settings in (
            {"delay_us": -1}, {"delay_us": 10_000_001}, {"wait_ms": 60_001}, {"held_max": 1023},
            {"held_max": 1048577},
        ):  # fmt: skip
            self.refuses(tally.statistic_configure, **settings)
        with self.assertRaisesRegex(OSError, "longer than 107 bytes"):
            tally.statistic_configure(socket="/" + "x" * 107)
        with self.assertRaisesRegex(OSError, "already"):
            tally.statistic_configure()

    def test_what_is_released_takes_all_calls_and_does_nothing(self):
        interface = tally.Interface("released")
        each, view = interface.statistic("each"), None
        view = each.create_view("view")
        each.start()
        interface.release()
        for call in (each.start, each.stop, each.reset, each.define_last, each.release, each.remove,
                     view.start, view.remove, interface.release, interface.remove):  # fmt: skip
            call()
        each.inc(1)
        each.add_batch([1, 2])
        self.assertEqual((each.is_on(), each.dropped()), (False, 0))
        self.refuses(each.create_view, "another")
        self.refuses(interface.statistic, "another")
        self.refuses(tally.Statistic.__new__(tally.Statistic).create_view, "view")

    def test_objects_say_what_they_are_and_are_garbage_when_dropped(self):
        each = self.interface.statistic("shown")
        view = each.create_view("view")
        self.assertEqual(repr(self.interface), "<tally.Interface bounds>")
        self.assertEqual(repr(each), "<tally.Statistic bounds/shown>")
        self.assertEqual(repr(view), "<tally.View bounds/view>")
        self.assertIs(view.interface, self.interface)
        gone = weakref.ref(view)
        del view
        self.assertIsNone(gone())
        with self.assertRaises(FileExistsError):
            each.create_view("view")  # it is still registered

    def test_samples(self):
        """No call that feeds raises for a value, whether the statistic is on or off."""
        each = self.interface.statistic("samples")
        before = tally.statistic_count().invalid
        for on, each_is in (False, 0), (True, 1):
            if on:
                each.start()
            for x in (1 << 63, -(1 << 63) - 1, b"1", "1", None, 1 << 20000):
                each.inc(x)
                each.add(x, 1)
                each.add_at(x, 1, 1)
                each.add_batch([x])
            each.add(1, -1)
            each.add(1, 1 << 64)
            each.add_at(1, 1, 1.5)
            each.add_batch([1, 2], [1])
            each.add_batch([1], [-1])
            each.add_batch([1, 2], None, [1])
            each.add_batch(None)
            each.add_batch(iter(["2"]), 1.5)
            wanted = each_is * (6 * 4 + 3 + 2 + 1 + 2 + 1 + 1)
            self.assertEqual(tally.statistic_count().invalid - before, wanted)

    def test_the_functions_are_the_methods(self):
        self.assertIs(tally.statistic_inc, tally.Statistic.inc)
        self.assertIs(tally.statistic_create_interface, tally.Interface)
        self.assertEqual(tally.tally_version(), tally.__version__)


class DefinitionTest(RunningDaemonCase):
    def definition(self, path):
        """Without the words that are only to be read."""
        words = self.daemon.definition(path).split()
        return " ".join(
            word for word in words
            if not word.startswith(("data=", "started=", "stopped=", "hits_", "name="))
        )  # fmt: skip

    def test_help_is_said_in_plain_text(self):
        self.run_feeder("""
web = tally.Interface("web")
waits = web.statistic("waits", "us/requests")
waits.define_help("Time in \\"queue\\", 50 %")
by_value = waits.create_view("by_value")
tally.statistic_sync(60000)
tally.statistic_define_help(by_value, "µs")
waits.define_help("-")
tally.statistic_sync(60000)
""")
        self.assertTrue(self.daemon.definition("web/waits").endswith(" help=%2D"))
        self.assertTrue(self.daemon.definition("web/by_value").endswith(" help=µs"))

    def test_all_types_are_defined_as_they_were_called(self):
        self.run_feeder("""
web = tally.statistic_create_interface("web")
tally.statistic_define_value(web.statistic("value"), -5, 5, tally.STATISTIC_MODE_PRODUCTS)
tally.statistic_define_range(web.statistic("range"), 0, 9)
tally.statistic_define_array(web.statistic("array"), 0, 100, 10, tally.STATISTIC_SCALE_LIN)
tally.statistic_define_list(web.statistic("list"), 0, 9, 7)
tally.statistic_define_raw(web.statistic("raw"), 0, 9, 8)
history = tally.statistic_create(web, "history", "µs/requests")
tally.statistic_define_history(history, 0, 9, 60, 250000, tally.STATISTIC_MODE_RANGE)
tally.statistic_start(history)
tally.statistic_create(web, "untold")
tally.statistic_sync(60000)
""")
        for name, wanted in {
            "value": "on=0 type=value range_min=-5 range_max=5 mode=products units=",
            "range": "on=0 type=range range_min=0 range_max=9 units=",
            "array": "on=0 type=array range_min=0 range_max=100 base_interval=10 scale=lin units=",
            "list": "on=0 type=list range_min=0 range_max=9 entries_max=7 units=",
            "raw": "on=0 type=raw range_min=0 range_max=9 entries_max=8 units=",
            "history": "on=1 type=history range_min=0 range_max=9 entries_max=60 mode=range "
            "period=250000 units=µs/requests",
            "untold": "on=0 type=value range_min=-9223372036854775808 "
            "range_max=9223372036854775807 mode=increments units=",
        }.items():
            self.assertEqual(self.definition(f"web/{name}"), wanted)

    def test_all_types_count(self):
        said = self.run_feeder("""
web = tally.Interface("web")
def make(name):
    made = web.statistic(name)
    getattr(made, "define_" + name)(**DEFINED.get(name, {}))
    made.start()
    return made
DEFINED = {"history": dict(period_us=100000), "array": dict(range_min=0, range_max=4),
           "value": dict(mode="products")}
then = time.monotonic_ns() - 1_000_000_000
for name in ("value", "range", "array", "list", "raw"):
    each = make(name)
    each.inc(1)
    each.add(-3, 2)
    each.add_at(7, (1 << 64) - 1 if name == "raw" else 1, then)
make("history").add_batch([1, 2])
tally.statistic_sync(60000)
say(f"{then // 1000 / 1000000:.6f}")
""")
        data = self.daemon.data("web").splitlines()
        self.assertEqual([line for line in data if line.startswith(("value", "range"))],
                         ["value 2", "range 4 -3 0.500 7"])  # fmt: skip
        self.assertEqual(
            [line for line in data if line.startswith("array") and not line.endswith(" 0")],
            ["array <=0 2", "array <=1 1", "array >4 1"],
        )
        self.assertEqual(
            sorted(line for line in data if line.startswith("list")),
            ["list 0x1 1", "list 0x7 1", "list 0xfffffffffffffffd 2"],
        )
        raw = [line for line in data if line.startswith("raw")]
        self.assertEqual([line.split("] ")[1] for line in raw],
                         ["0 1 1", "1 -3 2", "2 7 18446744073709551615"])  # fmt: skip
        self.assertIn(f"[{said}]", raw[2])
        # The periods in which they came must be over.
        eventually(lambda: self.history_total() == 2, "the history shows both")

    def history_total(self):
        lines = self.daemon.data("web").splitlines()
        return sum(int(line.split()[-1]) for line in lines if line.startswith("history"))

    def test_what_users_have_defined_stays_when_a_feeder_comes_again(self):
        program = """
each = tally.Interface("web").statistic("each")
each.define_range(0, 9)
each.start()
each.inc(1)
tally.statistic_sync(60000)
each.define_range(0, 99)
each.start() if sys.stdin.readline().strip() == "start" else None
tally.statistic_sync(60000)
"""
        first = self.feeder(program)
        first.say()
        self.assertEqual(first.end(), (0, ""))
        self.assertIn("type=range range_min=0 range_max=99", self.daemon.definition("web/each"))
        self.daemon.define("web", "name=each on=0 type=raw entries_max=3")
        stays = self.feeder(program)
        stays.say()
        self.assertEqual(stays.end(), (0, ""))
        self.assertIn("on=0 type=raw", self.daemon.definition("web/each"))
        self.assertEqual(self.daemon.data("web"), "")
        starts = self.feeder(program)
        starts.say("start")  # its second word, which is carried out
        self.assertEqual(starts.end(), (0, ""))
        self.assertIn("on=1 type=raw", self.daemon.definition("web/each"))

    def test_changes_keep_their_order_with_the_samples(self):
        self.run_feeder("""
each = tally.Interface("web").statistic("each")
each.start()
each.inc(1)
each.stop()
each.inc(2)
each.start()
each.inc(3)
tally.statistic_sync(60000)
each.reset()
each.inc(4)
each.inc(5)
each.stop()
each.inc(6)
tally.statistic_sync(60000)
""")
        self.assertEqual(self.daemon.data("web"), "each 2\n")
        self.assertIn(" on=0 ", self.daemon.definition("web/each"))

    def test_a_reset_discards_what_no_daemon_has_heard_of_yet(self):
        said = self.run_feeder("""
each = tally.Interface("web").statistic("each")
each.start()
each.inc(1)
each.reset()
each.inc(2)
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        self.assertEqual(self.daemon.data("web"), "each 1\n")
        self.assertEqual(said, "2 0 1 1 0 1")

    def test_remove_takes_it_from_the_tree_and_release_leaves_it(self):
        feeder = self.feeder("""
web, gone = tally.Interface("web"), tally.Interface("gone")
kept, removed = web.statistic("kept"), web.statistic("removed")
for each in (kept, removed, gone.statistic("each")):
    each.start()
    each.inc(1)
tally.statistic_sync(60000)
removed.remove()
kept.inc(1)
kept.release()
kept.inc(1)
gone.remove()
tally.statistic_sync(60000)
say(web.statistic("kept").is_on(), kept.is_on())
""")
        self.assertEqual(feeder.hear(), "False False")
        self.assertEqual(feeder.end(), (0, ""))
        self.assertEqual(self.daemon.data("web"), "kept 2\n")
        self.assertFalse((self.daemon.statistics / "gone").exists())

    def test_a_released_interface_is_registered_and_its_samples_are_sent(self):
        self.assert_sent_at_the_end(1, """
with tally.Interface("web") as web:
    with web.statistic("each") as each:
        each.start()
        each.inc(1)
""")

    def test_percentiles_are_checked(self):
        self.run_feeder("""
each = tally.Interface("web").statistic("each")
for wrong in ("", "0", "100", "50,50", "1.23456", ["50"], None):
    try:
        each.define_quantiles(quantiles=wrong)
        raise SystemExit(f"{wrong!r} was taken")
    except ValueError:
        pass
each.define_quantile_history(entries_max=60, quantiles="50,99.9")
tally.statistic_sync(60000)
""")
        line = self.daemon.definition("web/each")
        self.assertIn("mode=quantiles period=1000000 precision=5 quantiles=50,99.9 ", line)

    def test_an_interface_of_a_feeder_s_lifetime_goes_with_it(self):
        feeder = self.feeder("""
for name, flags in (("stays", 0), ("goes", tally.STATISTIC_LIFETIME_FEEDER)):
    each = tally.Interface(name, flags).statistic("each")
    each.start()
    each.inc(1)
tally.statistic_sync(60000)
say()
hear()
""")
        feeder.hear()
        self.assertEqual(self.daemon.data("goes"), "each 1\n")
        feeder.process.kill()
        eventually(lambda: not (self.daemon.statistics / "goes").exists(), "it is gone")
        self.assertEqual(self.daemon.data("stays"), "each 1\n")

    def test_an_interface_that_was_removed_comes_back_with_its_next_sample(self):
        feeder = self.feeder("""
each = tally.Interface("web").statistic("each")
each.define_range()
each.start()
each.inc(1)
tally.statistic_sync(60000)
say()
while not hear():
    each.inc(5)
    tally.statistic_sync(60000)
    say()
say(*tally.statistic_count()[:6])
""")
        feeder.hear()
        (self.daemon.statistics / "web").rmdir()

        def is_back():
            feeder.say()
            feeder.hear()
            return (self.daemon.statistics / "web").exists()

        eventually(is_back, "the interface is there again")
        self.assertIn("type=range", self.daemon.definition("web/each"))
        feeder.say("enough")
        added, held, sent, confirmed, lost, dropped = map(int, feeder.hear().split())
        self.assertEqual((held, dropped, added), (0, 0, sent))
        self.assertEqual(confirmed + lost, sent)


if __name__ == "__main__":
    unittest.main()
