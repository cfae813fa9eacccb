"""The landing page: what changed most, the worst p99, and the way back to it."""
import json
import re
import subprocess
import unittest

from page_case import CONTRAST, PageCase
from page_fixture import BIN, Web, need_store, record, until


class ChangedPageTest(PageCase):
    def open_with(self, store):
        web = Web(self.mount, "--store", store)
        self.addCleanup(web.end)
        self.browser.open(web.page())
        self.browser.shows("#live", "live")
        return web

    def make_store(self):
        need_store()
        store = self.mount.folder / "changed"
        if not store.exists():
            # Its times lie ahead, so that it is as fresh in the last test.
            subprocess.run([BIN / "changed_store", store, "200", "1200"], check=True,
                           stdout=subprocess.DEVNULL)
        return store

    def names(self):
        return self.browser.texts("#changed-table tbody th")

    def test_what_changed_most_comes_first_with_its_reason(self):
        web = self.open_with(self.make_store())
        until(lambda: self.names()[:1], "a row")
        rows = web.api("changed")["changed"]["rows"]
        self.assertEqual("unusual", web.api("changed")["changed"]["state"])
        names = self.names()
        self.assertIn("web0/latency_us", names[:2])
        self.assertIn("web1", names[:2])
        why = dict(zip(names, self.browser.texts("#changed-table .why")))
        self.assertRegex(why["web0/latency_us"], r"^slower x[5-7]")
        self.assertRegex(why["web1"], r"^5 of 10 statistics: silent")
        self.assertEqual([each["why"] for each in rows],
                         self.browser.texts("#changed-table .why"))
        since = {each["interface"]: each["since_us"] for each in rows}
        end = web.api("changed")["changed"]["to_us"]
        for name in ("web0", "web1"):
            self.assertLessEqual(abs(end - since[name] - 30e6), 6e6, name)
        self.browser.shows("#changed-note", "compared with the 9 min before, of 200 statistics.")
        # The time, which changes with each reading, is not announced.
        self.assertNotRegex(self.browser.text("#changed-note"), r"\d\d:\d\d")
        self.browser.shows("#changed-time", "(until ")
        host = re.escape(web.api("statistics")["view"]["host"])
        until(lambda: re.match(rf"\(!\) p99 \S+ web/\S+ - {host}$",
                               self.browser.run("return document.title")), "the title")
        lines = self.browser.run("return [...document.querySelectorAll('#changed-table .spark')]"
                                 ".map(each => each.firstChild.getAttribute('d').length)")
        self.assertTrue(all(each > 500 for each in lines), lines)
        for theme in ("light", "dark"):
            self.browser.choose("#theme", theme)
            for width in (1280, 400):
                self.browser.size(width, 800)
                self.browser.picture(f"changed-{theme}-{width}")
                self.assertEqual([], self.browser.run(CONTRAST))
                self.assertEqual(width, self.browser.run(
                    "return Math.max(innerWidth, document.documentElement.scrollWidth)"))

    def test_what_has_been_silent_for_longer_is_listed_apart(self):
        need_store()
        store = self.mount.folder / "silent"
        # After four minutes a silence is usual, and no row any more.
        subprocess.run([BIN / "changed_store", store, "200", "1200", "0", "240"], check=True,
                       stdout=subprocess.DEVNULL)
        web = self.open_with(store)
        self.browser.shows("#silent-note", "Silent for a minute or longer: 5")
        item, = self.browser.texts("#silent-list li")
        self.assertRegex(item, r"^web1 5 of 10 statistics: silent, before [\d.]+/s, since \d\d:")
        changed = web.api("changed")["changed"]
        silent, = changed["silent"]
        self.assertLessEqual(abs(changed["to_us"] - silent["since_us"] - 240e6), 6e6)
        self.assertFalse([each for each in changed["rows"] if "silent" in each["why"]])
        shown = json.loads(subprocess.run(
            [BIN / "tallyctl", "show", "--changed", "--store", store, "--last", "1m", "--json"],
            check=True, capture_output=True).stdout)
        self.assertEqual([set(silent["statistics"])],
                         [set(each["statistics"]) for each in shown["silent"]])
        self.assertEqual([], self.browser.run(CONTRAST))

    def test_a_row_leads_to_its_statistic_and_the_name_of_the_page_back(self):
        self.mount.send("create web0/latency_us on=1 type=quantiles precision=4"
                        " quantiles=50,99 units=microseconds/requests")
        self.addCleanup((self.mount.mount / "statistics/web0").rmdir)
        self.open_with(self.make_store())
        until(lambda: "web0/latency_us" in self.names(), "the row")
        at = self.names().index("web0/latency_us")
        self.browser.click(f"#changed-table tbody tr:nth-child({at + 1}) button")
        self.browser.shows("#shown-name", "web0 / latency_us")
        self.assertIsNone(self.browser.text("#changed-note"))
        self.browser.click("#home")
        until(lambda: "web0/latency_us" in self.names(), "the row again")
        self.assertIsNone(self.browser.text("#shown-name"))
        self.assertEqual("", self.browser.run("return location.hash"))

    def test_rows_stand_still_under_the_pointer(self):
        self.open_with(self.make_store())
        until(lambda: self.names()[:1], "a row")
        before, held, after = self.browser.driver.execute_async_script("""
            const done = arguments[0];
            const table = document.getElementById('changed-table');
            const names = () => [...table.tBodies[0].rows].map(e => e.cells[0].textContent);
            const row = {interface: 'other', statistics: ['us'], channel: 'rate', score: 9,
                         unusual: true, since_us: 1e15, why: 'slower', line: [1, 2]};
            pageScript('changed.js').then(({showChanged}) => {
              const show = () => showChanged({changed: {state: 'unusual', to_us: 1e15, ranked: 1,
                                                        baseline_s: 540, rows: [row]}});
              const seen = [names()];
              table.dispatchEvent(new PointerEvent('pointerenter'));
              show();
              seen.push(names());
              table.dispatchEvent(new PointerEvent('pointerleave'));
              const end = performance.now() + 3000;
              // The page's own answers come meanwhile: only what is shown at once is looked at.
              const again = () => {
                if (performance.now() < end) return setTimeout(again, 50);
                show();
                done([...seen, names()]);
              };
              again();
            });""")
        self.assertGreater(len(before), 1)
        self.assertEqual(before, held)
        self.assertEqual(["other/us"], after)

    def test_a_line_below_0_is_seen_and_what_is_not_known_is_a_gap(self):
        self.open_with(self.mount.folder / "none")
        filled = self.browser.driver.execute_async_script("""
            const done = arguments[0];
            pageScript('charts.js').then(({makeSpark, drawSpark}) => {
              const svg = document.body.appendChild(makeSpark(4));
              drawSpark(svg, [-4, null, -2, -4], 4);
              const has = (x, y) => svg.firstChild.isPointInFill(new DOMPoint(x, y));
              const seen = [[.5, 10], [1.5, 1.5], [2.5, 8], [2.5, 16], [3.5, 16]]
                .map(([x, y]) => has(x, y));
              svg.remove();
              done(seen);
            });""")
        self.assertEqual([True, False, True, False, True], filled)

    def test_a_last_minute_is_drawn_around_its_mean(self):
        self.open_with(self.mount.folder / "none")
        filled = self.browser.driver.execute_async_script("""
            const done = arguments[0];
            pageScript('charts.js').then(({makeSpark, drawSparkAround}) => {
              const svg = document.body.appendChild(makeSpark(4));
              drawSparkAround(svg, [100, 100, 120, 80], 4);
              const has = (x, y) => svg.firstChild.isPointInFill(new DOMPoint(x, y));
              const seen = [[.5, 8], [.5, 13], [2.5, 5], [2.5, 13], [3.5, 5], [3.5, 13]]
                .map(([x, y]) => has(x, y));
              svg.remove();
              done(seen);
            });""")
        self.assertEqual([False, False, True, False, False, True], filled)

    def test_without_a_store_it_says_so_and_shows_the_worst_p99(self):
        need_store()
        self.open_with(self.mount.folder / "none")
        self.browser.shows("#changed-note", "Nothing is ranked: there is no store of the past in")
        self.browser.shows("#changed-note", "systemctl enable --now tally-record")
        until(lambda: self.browser.text("#worst-name") in ("web/latency_us", "web/slow_us"),
              "the worst p99")
        self.browser.picture("changed-no-store")
        self.browser.click("#worst-name")
        self.browser.shows("#shown-name", "web / ")

    def test_a_young_store_ranks_nothing(self):
        store = self.mount.folder / "young"
        record(self.mount, store, 4)
        self.open_with(store)
        self.browser.shows("#changed-note", "Too little past: the store has 0 min")
        self.assertEqual([], self.names())


if __name__ == "__main__":
    unittest.main()
