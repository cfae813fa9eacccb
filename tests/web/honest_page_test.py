"""The page shows no number that misleads, and says what it does not know."""
import datetime
import time
import unittest

from page_case import PageCase
from page_fixture import Web, until


class HonestPageTest(PageCase):
    def test_live_is_a_page_whose_newest_answer_is_young(self):
        self.open("web/latency_us")
        # From now on no answer comes. What the page's timers are late by is the machine's.
        held = self.browser.driver.execute_async_script("""
            const done = arguments[0];
            const ask = window.fetch.bind(window);
            const start = performance.now();
            let last = start, late = 0;
            const pace = setInterval(() => {
              const now = performance.now();
              late += Math.max(0, now - last - 100);
              last = now;
            }, 100);
            window.fetch = (url, options) => new Promise(() => {});
            const live = document.getElementById('live');
            new MutationObserver((_, self) => {
              if (live.className !== 'lost') return;
              self.disconnect();
              clearInterval(pace);
              window.fetch = ask;
              const since = performance.now();
              done([since - start - late - Math.max(0, since - last - 100), live.textContent,
                    document.body.className]);
            }).observe(live, {attributes: true, childList: true});""")
        self.assertLess(held[0], 4000)
        self.assertRegex(held[1], r"^no answer since \d\d:\d\d:\d\d$")
        self.assertIn("frozen", held[2])
        # Nothing is changed by what is old.
        self.browser.shows("#definition-note", f"Closed: {held[1]}.")
        self.assertTrue(self.browser.run("return document.getElementById('apply').disabled"))

    def test_empty_rows_of_a_map_are_folded(self):
        self.mount.send("create folds/us on=1 type=array scale=log2 base_interval=1 range_min=0"
                        " range_max=1048576 units=microseconds/requests")
        self.addCleanup((self.mount.mount / "statistics/folds").rmdir)
        self.open("folds/us")

        def rows():
            self.mount.send("folds/us 3", "folds/us 60000", "folds/us 400000")
            return self.browser.driver.execute_async_script(
                "pageScript('statistic.js').then(({heat}) => arguments[0]("
                "(heat.heat?.bins ?? []).map(each => [each.text, !!each.isFolded])))")

        until(lambda: any(folded for _, folded in rows()), "a folded row")
        found = rows()
        self.assertIn(["4µs - 8µs to 16ms - 33ms", True], found)
        # What is less than four rows high stays as it is.
        self.assertEqual([["33ms - 66ms", False], ["66ms - 131ms", False],
                          ["131ms - 262ms", False], ["262ms - 524ms", False]],
                         found[-5:-1], found)
        self.assertLess(len(found), 10)
        self.browser.picture("heat-folded")

    def test_bars_do_not_glide(self):
        self.open("web/latency_us")
        until(lambda: self.browser.texts("#bars .count"), "bars")
        self.assertEqual(["0s"], self.browser.run(
            "return [...new Set([...document.querySelectorAll('#bars .bar div')]"
            ".map(e => getComputedStyle(e).transitionDuration))]"))

    def test_an_interval_after_a_change_is_not_rated(self):
        self.mount.send("create steady/us on=1 type=range", "create steady/other on=1")
        self.addCleanup((self.mount.mount / "statistics/steady").rmdir)
        self.open("steady/us")
        for _ in range(2):
            self.web.post("definition/steady", {"line": "name=other on=1"})
            shown = self.web.api("statistics/steady?statistic=us")["statistics"][0]["view"]
            self.assertGreaterEqual(shown.get("interval_us") or 1e6, 500_000)
            self.assertNotIn("last 0", self.browser.text("#interval") or "")

    def test_times_of_other_days_have_their_date(self):
        self.open()
        texts = self.browser.driver.execute_async_script("""
            const done = arguments[0];
            pageScript('charts.js').then(({clock, isoTime, timeTicks}) => {
              const now = new Date();
              const noon = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 3, 12, 0, 7);
              const x = d3.scaleTime().domain([new Date(noon - 60000), noon]);
              const {ticks, text} = timeTicks(x, 5);
              done([clock(now * 1000), clock(noon * 1000), isoTime(noon * 1000), text(ticks[0]),
                    noon / 1000]);
            });""")
        noon = time.localtime(texts.pop())
        self.assertEqual(12, noon.tm_hour)
        self.assertRegex(texts[0], r"^\d\d:\d\d:\d\d$")
        self.assertEqual(time.strftime("%Y-%m-%d 12:00:07", noon), texts[1])
        self.assertRegex(texts[2], time.strftime(r"^%Y-%m-%dT12:00:07[+-]\d{4}$", noon))
        self.assertRegex(texts[3], time.strftime("^%d %b 1[12]:", noon))

    def test_a_daemon_is_started_anew_under_the_page(self):
        self.open("web/latency_us")
        self.mount.stop_feeding()
        self.mount.daemon.terminate()
        self.mount.daemon.wait()
        ended = time.time()
        self.browser.shows("#live", "no answer since")
        filter_of_facts = "return getComputedStyle(document.querySelector('.facts')).filter"
        until(lambda: self.browser.run(filter_of_facts) == "grayscale(1)", "numbers that are grey")
        self.expects_status(404)  # the new daemon has the statistic from create() on
        self.mount.start()
        self.mount.create()
        self.mount.feed()
        self.browser.shows("#live", "live")
        self.browser.shows("#shown-name", "web / latency_us")
        self.assertEqual("none", self.browser.run(filter_of_facts))
        since = self.web.api("statistics")["view"]["counts_since_us"]
        self.assertAlmostEqual(self.mount.started_at, since / 1e6, delta=5)
        self.assertGreaterEqual(since / 1e6, ended)
        # Times of another day have their date: the test may run across midnight.
        shown = r"((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d)"
        self.assertRegex(self.browser.text("#notice-text"),
                         rf"^The daemon ended between {shown} and (?P<to>{shown}): nothing is known"
                         rf" of that time\. A new one counts since (?P=to), from 0 or from .*\.$")
        title = self.browser.run("return document.getElementById('notice-text').title")
        last, began = (datetime.datetime.strptime(each, "%Y-%m-%dT%H:%M:%S%z").timestamp()
                       for each in title.split(" to "))
        self.assertLessEqual(last, ended)
        self.assertEqual(since // 1_000_000, began)
        self.browser.click("#notice-close")
        self.assertIsNone(self.browser.text("#notice"))
        self.expects_status(503)

    def test_a_tally_web_is_killed_and_started_anew_under_the_page(self):
        self.statuses.append("net::ERR_")
        self.mount.send("create gone/us on=1 type=range", "gone/us 7")
        self.addCleanup((self.mount.mount / "statistics/gone").rmdir)
        web = Web(self.mount, "--allow-changes")
        address = web.url.removeprefix("http://")
        try:
            self.browser.open(web.page("gone/us"))
            self.browser.shows("#percentiles", "7")
            self.browser.click("#reset")
            self.browser.click("#confirm-yes")
            self.browser.shows("#undo", "Undo")
            # The times of requests while nothing answers.
            self.browser.run("""
                const ask = window.fetch.bind(window);
                window.failed = [];
                window.fetch = (...of) => {
                  const at = performance.now();
                  return ask(...of).catch(error => { window.failed.push(at); throw error; });
                };""")
        finally:
            web.kill()
        until(lambda: self.browser.run("return window.failed.length") >= 8, "eight requests")
        times = self.browser.run("return window.failed")
        pauses = [after - before for before, after in zip(times, times[1:])]
        # It asks less often, but on loopback each 2 s. Of the first cycle other requests had answers.
        self.assertGreater(min(pauses[1:]), 1900, pauses)
        self.assertLess(min(pauses[2:]), 3000, pauses)
        self.browser.shows("#live", "no answer since")
        self.assertTrue(self.browser.run("return document.getElementById('undo').disabled"))
        web = Web(self.mount, "--allow-changes", listen=address)
        try:
            self.browser.shows("#live", "live")
            self.browser.shows("#shown-name", "gone / us")
            # What is kept for undo is in the daemon.
            until(lambda: self.browser.run("return !document.getElementById('undo').disabled"),
                  "the form is open")
            self.browser.click("#undo")
            self.browser.shows("#definition-done", "Undo brought back")
            self.assertTrue((self.mount.mount / "statistics/gone/data").read_text()
                            .startswith("us 1 "))
            self.browser.open("about:blank")
        finally:
            web.end()

    def test_nothing_is_undone_after_a_restart_of_the_daemon(self):
        self.mount.stop_feeding()
        self.mount.send("create once/us on=1 type=range", "once/us 7")
        self.open("once/us")
        self.browser.click("#reset")
        self.browser.click("#confirm-yes")
        self.browser.shows("#undo", "Undo")
        self.expects_status(503)
        self.expects_status(404)
        self.mount.restart()
        self.mount.create()
        self.mount.send("create once/us on=1 type=range", "once/us 9")
        self.addCleanup((self.mount.mount / "statistics/once").rmdir)
        self.browser.shows("#notice-text", "The daemon ended between")
        self.browser.shows("#percentiles", "9")
        until(lambda: self.browser.text("#undo") is None, "no Undo")


if __name__ == "__main__":
    unittest.main()
