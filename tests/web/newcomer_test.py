"""What a new user, with the documents alone, ran into on the page of tally-web."""
import unittest

from page_case import COLOURS, PageCase
from page_fixture import Web, until

TYPES = ["range", "list", "array", "quantiles", "last", "history", "raw", "value"]


class NewcomerTest(PageCase):
    def make(self, interface, line):
        self.mount.send(f"create {interface}/{line}")
        self.addCleanup((self.mount.mount / "statistics" / interface).rmdir)

    def value(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).value", selector)

    def interfaces(self):
        return self.browser.texts("#interface-table tbody button")

    def statistics(self):
        return self.browser.texts("#statistic-table tbody button")

    def test_each_type_of_the_menu_is_accepted(self):
        self.make("menu", "us on=1 units=microseconds/requests")
        self.open("menu/us")
        for wanted in TYPES:
            with self.subTest(type=wanted):
                until(lambda: self.value("#line").startswith("name=us"), "the line")
                self.browser.choose("#type", wanted)
                line = self.value("#line")
                self.assertIn(f" type={wanted}", line)
                self.browser.click("#apply")
                self.browser.shows("#definition-done", "Applied.")
                self.browser.shows("#shown-about", wanted)
                self.assertIsNone(self.browser.text("#definition-fault"))
                definition = (self.mount.mount / "statistics/menu/definition").read_text()
                for key in line.split():
                    self.assertIn(key, definition)
                # Until the daemon's line is there, which has all keys.
                until(lambda: " units=" in self.value("#line"), "the line as it became")

    def test_data_is_discarded_after_a_second_click_only(self):
        self.make("loss", "us on=1 type=range units=microseconds/requests")
        self.mount.send("loss/us 7", "loss/us 8")
        data = self.mount.mount / "statistics/loss/data"
        self.open("loss/us")
        self.browser.shows("#percentiles", "8µs")
        self.browser.choose("#type", "list")
        self.browser.shows("#definition-loss", "Apply discards 2 requests of us, counted since ")
        self.browser.click("#apply")
        self.browser.shows("#confirm", "Discard 2 requests of us, counted since ")
        self.browser.click("#confirm-no")
        self.assertIsNone(self.browser.text("#confirm"))
        self.browser.click("#revert")
        self.assertIsNone(self.browser.text("#definition-loss"))
        self.browser.click("#reset")
        self.browser.shows("#confirm", "Discard 2 requests of us, counted since ")
        # What is edited meanwhile is not what was asked about.
        self.browser.type("#line", self.value("#line") + " ")
        self.assertIsNone(self.browser.text("#confirm"))
        self.assertTrue(data.read_text().startswith("us 2 7 "))
        # A switch and this type's range discard nothing, and are not asked about.
        self.browser.type("#line", self.value("#line").strip() + " range_min=5")
        self.assertIn(" range_min=5", self.value("#line"))
        self.browser.click("#is-on")
        self.browser.click("#apply")
        self.browser.shows("#definition-done", "Applied.")
        self.assertTrue(data.read_text().startswith("us 2 7 "))

    def test_an_end_that_an_array_gets_discards(self):
        self.make("ends", "us on=1 type=array scale=lin base_interval=4611686018427387904")
        self.mount.send("ends/us 7")
        self.open("ends/us")
        until(lambda: "base_interval=" in self.value("#line"), "the line")
        self.assertNotIn("range_max", self.value("#line"))
        self.browser.type("#line", self.value("#line").strip() + " range_max=100")
        self.browser.shows("#definition-loss", "Apply discards 1 sample of us, counted since ")

    def test_numbers_say_of_which_time_they_are(self):
        self.open("web/latency_us")
        self.browser.shows("#percentiles", "p99 · last second")
        self.assertEqual(["Name", "Samples", "Since reset"],
                         self.browser.texts("#statistic-table thead th"))
        self.browser.click("#counted-choice [value=total]")
        self.browser.shows("#percentiles", "p99 · since ")
        self.open("web/size")
        self.browser.shows("#percentiles", "average · since ")

    def test_nothing_in_the_lists_is_cut(self):
        self.make("timer", "lateness_percentiles{cpu:10} on=1 type=quantiles precision=5"
                           " quantiles=50,99 units=microseconds/wakeups")
        self.mount.send("timer/lateness_percentiles{cpu:10} 19000")
        for shown in ("web/latency_us", "timer/lateness_percentiles{cpu:10}"):
            self.open(shown)
            for width in (1280, 1440):
                self.browser.size(width, 800)
                until(lambda: any("p99" in each for each in
                                  self.browser.texts("#statistic-table td:nth-child(3)")), "a p99")
                self.assertEqual([], self.browser.run("""
                    return [...document.querySelectorAll('.list tbody :is(td, th, button)')]
                      .filter(e => e.offsetParent && (e.scrollWidth > e.clientWidth ||
                                                      e.scrollHeight > e.clientHeight + 1))
                      .map(e => e.textContent);"""), shown)

    def test_names_of_255_bytes_break_no_layout(self):
        name, statistic = "i" * 255, "s" * 255
        array = "type=array scale=log2 base_interval=1 range_min=0 range_max=4096"
        self.mount.send(f"create {name}/{statistic} on=1 {array}", f"{name}/{statistic} 7")
        self.addCleanup((self.mount.mount / "statistics" / name).rmdir)
        for shown in (f"{name}/{statistic}", "&q=sss"):
            self.open(shown)
            until(lambda: self.browser.text("#shown-name" if name in shown else "#found-list"),
                  "its name")
            for width in (1440, 375):
                self.browser.size(width, 800)
                self.browser.run("document.body.classList.add('lists-open')")
                with self.subTest(shown=shown[:3], width=width):
                    # What sticks out to the right, and is not cut with its whole name as a title.
                    self.assertEqual([], self.browser.run("""
                        const width = document.documentElement.clientWidth;
                        return [...document.querySelectorAll('body *')]
                          .filter(e => e.offsetParent && !e.closest('.unseen, svg, textarea'))
                          .filter(e => e.getBoundingClientRect().right > width + 1 ||
                            (getComputedStyle(e).textOverflow === 'ellipsis' &&
                             e.scrollWidth > e.clientWidth + 1 &&
                             !e.closest('[title]') && !e.querySelector('[title]')))
                          .map(e => `${e.tagName} ${e.id} ${e.textContent.length}`);"""))
                    self.assertLessEqual(
                        self.browser.run("return document.documentElement.scrollWidth"), width)

    def test_no_share_of_a_distribution_is_cut(self):
        self.make("wide", "us on=1 type=array scale=log2 base_interval=64 range_min=0"
                          " range_max=1048576 units=microseconds/requests")
        self.mount.send(*(f"wide/us {64 * 2 ** i} {12345678 // (i + 1)}" for i in range(12)))
        self.open("wide/us")
        self.browser.click("#counted-choice [value=total]")
        until(lambda: len(self.browser.texts("#bars tr")) == 12, "the bars")
        for width in (1280, 1180, 768, 320):
            self.browser.size(width, 800)
            with self.subTest(width=width):
                box, table, shares = self.browser.run("""
                    const table = document.getElementById('bars');
                    return [table.parentElement.clientWidth, table.offsetWidth,
                            [...table.rows].map(row => row.cells[3].textContent)];""")
                self.assertLessEqual(table, box)
                self.assertTrue(all(share.endswith(" %") for share in shares), shares)

    def test_tags_are_seen_whole_and_match_in_any_order(self):
        names = [f"http_requests{{code:{code},host:web-{host},route:api-users}}"
                 for code in (200, 404) for host in "ab"]
        for name in names:
            self.mount.send(f"create tagged/{name} on=1")
        self.addCleanup((self.mount.mount / "statistics/tagged").rmdir)
        self.open(f"tagged/{names[1]}")
        self.browser.shows("#shown-name", f"tagged / {names[1]}")
        until(lambda: self.statistics() == names, "all of them")
        self.assertEqual([], self.browser.run("""
            return [...document.querySelectorAll('#statistic-table tbody button')]
              .filter(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth)
              .map(e => e.textContent);"""))
        for words in ("code:404 host:web-b", "host:web-b code:404", "{host:web-b,code:404}"):
            self.browser.type("#statistic-filter", words)
            until(lambda: self.statistics() == [names[3]], f"that of {words}")
        self.browser.type("#statistic-filter", "host:c")
        self.browser.shows("#statistic-note", "None of 4 statistics has 'host:c' in its name.")
        self.browser.type("#filter", "nowhere")
        self.browser.shows("#interface-note", "interfaces has 'nowhere' in its name.")
        self.browser.press("Escape", "#filter")
        until(lambda: self.browser.text("#interface-note") in (None, ""), "no note")

    def test_the_chosen_panel_is_seen_at_once_on_a_narrow_screen(self):
        self.browser.size(320, 640)
        self.open()
        until(lambda: "web" in self.interfaces(), "the lists")
        self.assertLess(self.browser.run(
            "return document.querySelector('header').getBoundingClientRect().height"), 64)
        self.browser.run("[...document.querySelectorAll('#interface-table button')]"
                         ".find(e => e.textContent === 'web').click()")
        self.browser.shows("#shown-name", "web / latency_us")
        until(lambda: self.browser.run(COLOURS) >= 3, "the heat map")
        top = self.browser.run(
            "return document.getElementById('heat').getBoundingClientRect().top")
        self.assertLess(top, 400)
        self.assertEqual([], self.interfaces())
        self.browser.click("#lists-button")
        until(lambda: "slow_us" in self.statistics(), "the lists again")
        self.browser.run("[...document.querySelectorAll('#statistic-table button')]"
                         ".find(e => e.textContent === 'slow_us').click()")
        self.browser.shows("#shown-name", "web / slow_us")
        self.assertEqual([], self.statistics())

    def test_the_slowest_interface_is_found(self):
        self.mount.send("create calm/us on=1 type=array scale=log2 base_interval=1 range_min=0"
                        " range_max=1048576 units=microseconds/requests")
        self.addCleanup((self.mount.mount / "statistics/calm").rmdir)
        self.open()
        until(lambda: "calm" in self.interfaces(), "another interface")

        def find():
            self.mount.send("calm/us 900000")
            return self.browser.run("""
            const row = [...document.querySelectorAll('#interface-table tbody tr')]
              .find(e => e.cells[0].textContent === 'calm');
            return row?.cells[2].title;""")
        found = until(lambda: (lambda title: title.startswith("us") and title)(find() or ""), "p99")
        self.assertEqual("us: p99 of the last minute 1.0s (0.5-1.1)", found)
        self.browser.click("#by-p99")
        until(lambda: self.interfaces()[:1] == ["calm"], "the slowest first")
        self.assertEqual("descending", self.browser.run(
            "return document.getElementById('by-p99').parentElement.getAttribute('aria-sort')"))

    def test_what_was_not_observed_is_told(self):
        web = Web(self.mount)
        self.addCleanup(web.end)
        self.browser.open(web.page("web/latency_us"))
        self.browser.shows("#live", "live")
        self.browser.shows("#heat-note", "tally-web did not read before the first column")
        self.assertRegex(self.browser.run(
            "return document.getElementById('heat').getAttribute('aria-label')"),
            r"; 5\d s before were not observed$")
        tip = self.browser.run("""
            const heat = document.getElementById('heat');
            const box = heat.getBoundingClientRect();
            heat.dispatchEvent(new PointerEvent('pointermove',
              {clientX: box.left + 90, clientY: box.top + 60}));
            return document.getElementById('heat-tip').textContent;""")
        self.assertIn("not observed", tip)
        # Its ground is not that of seconds in which nothing was counted.
        grounds = self.browser.run("""
            const heat = document.getElementById('heat');
            const pixels = heat.getContext('2d').getImageData(80, 8, 60, 60).data;
            const found = new Set();
            for (let i = 0; i < pixels.length; i += 4) found.add(pixels.slice(i, i + 3).join());
            return found.size;""")
        self.assertGreater(grounds, 1)
        self.browser.faults()

    def test_a_latency_histogram_says_that_it_has_no_past(self):
        self.mount.send("latency fresh_section ns=25999 cpu=0")
        self.open("tracing/latency_hist/fresh_section/fresh_section")
        self.browser.shows("#shown-name", "Latency histogram fresh_section")
        self.browser.shows("#heat-note", "no past from before it was chosen")

    def test_a_heat_map_is_there_as_soon_as_its_table_is_left(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 4, "the heat map")
        self.browser.click("#heat-as-table")
        self.assertTrue(self.browser.texts("#heat-table td"), "the table, at once")
        # In one turn of the browser: no reading can come in between.
        self.browser.run("window.before = performance.now();"
                         "document.getElementById('heat-as-table').click()")
        self.assertGreaterEqual(self.browser.run(COLOURS), 4)

    def test_a_period_without_neighbours_is_a_point(self):
        self.make("alone", "us on=1 type=history mode=range period=200000 entries_max=2000"
                           " units=microseconds/requests")
        data = self.mount.mount / "statistics/alone/data"
        for periods in (6, 12, 18):
            # One sample, then periods without any.
            self.mount.send(f"alone/us {100 * periods}")
            until(lambda wanted=periods: len(data.read_text().splitlines()) >= wanted,
                  f"{periods} periods")
        self.open("alone/us")
        points = until(lambda: self.browser.run(
            "return document.querySelector('#series .points')?.getAttribute('d')"), "points")
        self.assertGreaterEqual(points.count("M"), 2)
        drawn = self.browser.run("""
            const box = document.querySelector('#series .points').getBBox();
            return [box.width, document.querySelector('#series .spans').getAttribute('d')];""")
        self.assertGreater(drawn[0], 1)
        self.assertIn("V", drawn[1])

    def test_a_table_of_a_history_has_each_number_once_and_its_unit(self):
        self.make("table", "us on=1 type=history mode=quantiles period=100000 entries_max=40"
                           " precision=5 quantiles=50,99 units=microseconds/requests")
        self.mount.send("table/us 1000", "table/us 2000")
        self.open("table/us")
        self.browser.click("#series-as-table")
        until(lambda: self.browser.texts("#series-table th[scope=col]") ==
              ["End", "p99 (microseconds)", "p50 (microseconds)"], "three columns")

    def test_what_a_list_misses_is_seen(self):
        self.make("full", "codes on=1 type=list entries_max=2 units=/responses")
        self.mount.send(*(f"full/codes {code}" for code in range(1, 6)))
        self.open("full/codes")
        self.browser.shows("#left-out", "3 missed · since ")

    def test_counts_that_are_left_out_are_told_apart(self):
        self.make("left", "x on=1 type=array scale=lin base_interval=10 range_min=0 range_max=20")
        self.mount.send("left/x 5", "left/x 90", "left/x -4")
        self.open("left/x")
        self.browser.shows("#left-out", "1 above 20 · 2 out of range (in the end rows) · since ")

    def test_what_a_line_hits_is_named(self):
        self.make("hit", "a_us on=1 type=range units=microseconds/requests")
        self.mount.send("create hit/b on=1", "hit/a_us 7", "hit/b 3", "hit/b 3")
        data = self.mount.mount / "statistics/hit/data"
        self.open("hit/a_us")
        until(lambda: self.value("#line").startswith("name=a_us"), "the line")
        for line, note, question in (
                ("data=reset", "Without name= the line is for all 2 statistics of hit.",
                 "Discard the data of all 2 statistics of hit?"),
                ("type=range", "Without name= the line is for all 2 statistics of hit.",
                 "Discard what it changes in all 2 statistics of hit?"),
                ("name=b data=reset", "The line is for b, not for a_us.",
                 "Discard a total of 2 of b, counted since "),
                ("name=a_us data=reset", "Apply discards 1 requests of a_us, counted since ",
                 "Discard 1 requests of a_us, counted since ")):
            with self.subTest(line=line):
                self.browser.type("#line", line)
                self.browser.shows("#definition-loss", note)
                self.browser.click("#apply")
                self.browser.shows("#confirm", question)
                self.browser.click("#confirm-no")
        self.assertRegex(data.read_text(), r"^a_us 1 7 [^\n]*\nb 2\n")
        # A view discards nothing, and is not asked about.
        self.browser.type("#line", "name=seen of=b type=range")
        self.browser.shows("#definition-loss", "The line is for seen, not for a_us.")
        self.browser.click("#apply")
        self.browser.shows("#definition-done", "Applied to seen.")
        self.assertIn("name=seen of=b", (self.mount.mount /
                                         "statistics/hit/definition").read_text())
        # What was said of that line is not said of another one.
        self.browser.type("#line", " ")
        self.assertIsNone(self.browser.text("#definition-done") or None)
        self.browser.click("#apply")
        self.browser.shows("#definition-fault", "The line is empty")
        self.browser.type("#line", "name=a_us type=nonsense")
        self.assertIsNone(self.browser.text("#definition-fault"))
        self.browser.click("#apply")
        self.browser.click("#confirm-yes")
        self.browser.shows("#definition-fault", "refused, nothing changed")
        self.browser.type("#line", "name=a_us on=1")
        self.assertIsNone(self.browser.text("#definition-fault"))
        self.expects_status(422)

    def test_a_filter_finds_statistics_of_any_interface(self):
        self.make("deep", "total_errors{code:500} on=1")
        self.open()
        self.browser.type("#filter", "errors DEEP")
        until(lambda: self.browser.texts("#found-list button") == ["deep/total_errors{code:500}"],
              "the statistic")
        self.browser.shows("#found-note", "Statistics that match the filter: 1")
        self.browser.click("#found-list button")
        self.browser.shows("#shown-name", "deep / total_errors{code:500}")
        self.browser.press("Escape", "#filter")
        until(lambda: self.browser.text("#found") is None, "nothing to find")

    def test_a_filter_takes_capitals_and_counts(self):
        self.open()
        self.browser.type("#filter", "WE")
        until(lambda: self.interfaces() == ["web"], "web alone")
        self.browser.shows("#interface-note", "1 of 4 interfaces")
        self.browser.press("Escape", "#filter")

    def test_a_tip_under_a_resting_pointer_goes_with_the_time(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 4, "the heat map")
        tip = self.browser.run("""
            const heat = document.getElementById('heat');
            const box = heat.getBoundingClientRect();
            heat.dispatchEvent(new PointerEvent('pointermove',
              {clientX: box.right - 3, clientY: box.top + box.height / 2}));
            return document.getElementById('heat-tip').textContent;""")
        self.assertRegex(tip, "^[0-9]+:[0-9]+:[0-9]+")
        until(lambda: (self.browser.text("#heat-tip") or tip)[:8] != tip[:8], "another time")

    def test_a_statistic_that_is_gone_leaves_its_neighbours(self):
        self.make("less", "a on=1")
        self.mount.send("create less/b of=a type=range")
        self.open("less/b")
        self.browser.shows("#shown-name", "less / b")
        (self.mount.mount / "statistics/less/definition").write_text("name=b of=\n")
        self.browser.shows("#nothing-text", "less has no statistic b")
        until(lambda: self.statistics() == ["a"], "the other one")
        self.browser.shows("#live", "live")
        self.browser.open("about:blank")
        self.expects_status(404)

    def test_a_gap_between_percentiles_has_its_rows(self):
        self.make("gap", "us on=1 type=quantiles precision=5 quantiles=50,99"
                         " units=microseconds/requests")
        self.open("gap/us")
        self.mount.send("gap/us 10", "gap/us 10000")

        def bins():
            heat = self.web.api("heat/gap/us?seconds=60")
            return heat["bins"] if any(map(any, heat["counts"])) else None
        self.assertEqual(11, len(until(bins, "both samples")))
        self.browser.click("#counted-choice [value=total]")
        until(lambda: len(self.browser.texts("#bars tr")) == 11, "a bar for each octave")

    def test_a_counter_shows_how_fast_it_grows(self):
        self.open("web/hits")
        until(lambda: "requests/s" in (self.browser.text("#percentiles") or ""), "its growth")
        self.browser.shows("#percentiles", "growth · last second")
        self.browser.shows("#percentiles", "total · since ")
        # Of a sample that adds 1000 the one is what the other is not.
        self.make("grow", "bytes on=1 units=bytes")
        self.open("grow/bytes")

        def growing():
            self.mount.send("grow/bytes 0 1000")
            return "samples/s" in (self.browser.text("#shown-about") or "")
        until(growing, "its samples in a second")


if __name__ == "__main__":
    unittest.main()
