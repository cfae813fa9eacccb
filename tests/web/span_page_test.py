"""Times of the past are selected, compared, and led to by an address."""
import calendar
import re
import time
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from page_case import COLOURS, PageCase
from page_fixture import Web, record, until

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


class SpanPageTest(PageCase):
    def hash(self):
        return self.browser.run("return location.hash")

    def drag(self, begin, end, selector="#heat", modifiers=0):
        """With the mouse, from and to so many pixels left of the right edge."""
        right, top = self.browser.run(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'nearest'});"
            "const box = e.getBoundingClientRect(); return [box.right, box.top + box.height / 2];",
            selector)
        places = (("mousePressed", begin), ("mouseMoved", (begin + end) / 2),
                  ("mouseMoved", end), ("mouseReleased", end))
        for kind, place in places:
            self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": kind, "x": right - place, "y": top, "button": "left", "buttons": 1,
                "clickCount": 1, "modifiers": modifiers})

    def wait_for_past(self, seconds):
        """Until the page has seen so many seconds of latency_us."""
        until(lambda: sum(self.web.api("heat/web/latency_us?seconds=60")["seconds"]) >= seconds,
              f"{seconds} seconds of the past")

    def api_span(self, statistic):
        begin, end = [int(time_of(each)) for each in re.findall(TIME, self.hash())[:2]]
        return self.web.api(f"span/web?from={begin}&to={end}&statistic={statistic}")

    def test_dragging_in_a_map_selects_its_time_and_back_leaves_it(self):
        self.open("web/latency_us")
        self.wait_for_past(8)
        until(lambda: self.browser.run(COLOURS) >= 4, "the heat map")
        self.drag(40, 10)
        self.assertRegex(self.hash(), f"^#s=web/latency_us&from=({TIME})&to=({TIME})$")
        self.browser.shows("#span-note", "from what tally-web keeps")
        view = self.api_span("latency_us")["statistics"][0]["view"]
        wanted = [each["text"].replace("-", "–") for each in view["total"]["percentiles"]]
        until(lambda: [each.split("\n")[1] for each in self.browser.texts("#percentiles div")[1:]]
              == wanted, "the percentiles of the span")
        counts = [bar["text"] for bar in view["total"]["bars"] if bar["count"]]
        self.assertEqual(counts, [each for each in self.browser.texts("#bars .count")
                                  if each != "0"])
        until(lambda: "In this time" in self.browser.texts("#statistic-table th"), "the list")
        # What was counted then stays as it is.
        shown = self.browser.text("#percentiles")
        later = self.browser.text("#rate")
        until(lambda: self.browser.text("#rate") != later, "a later reading")
        self.assertEqual(shown, self.browser.text("#percentiles"))
        self.browser.run("history.back()")
        until(lambda: self.hash() == "#s=web/latency_us", "the address before")
        self.browser.shows("#percentiles", "last second")

    def test_dragging_in_a_last_minute_selects_of_its_interface(self):
        self.open("web/latency_us")
        until(lambda: "db" in self.browser.texts("#interface-table tbody button"), "db")
        until(lambda: sum(self.web.api("heat/db/query_us?seconds=60")["seconds"]) >= 5, "a past")
        at = self.browser.texts("#interface-table tbody button").index("db")
        self.drag(25, 2, f"#interface-table tbody tr:nth-child({at + 2}) .spark")
        # The page adds the statistic that it shows when it has the interface's.
        self.assertRegex(self.hash(), f"^#s=db(/query_us)?&from=({TIME})&to=({TIME})$")
        self.browser.shows("#span-note", "from what tally-web keeps")
        self.browser.shows("#shown-name", "db / query_us")

    def test_a_second_time_is_shown_beside_the_first(self):
        self.open("web/latency_us")
        self.wait_for_past(8)
        until(lambda: self.browser.run(COLOURS) >= 4, "the heat map")
        self.drag(30, 10)
        self.browser.shows("#span-note", "from what tally-web keeps")
        self.browser.click("#span-before")
        self.assertRegex(self.hash(), f"&vs=({TIME})\\.\\.({TIME})$")
        self.browser.shows("#percentiles", "was ")
        until(lambda: self.browser.run(
            "return document.querySelectorAll('#bars .before:not([hidden])').length"), "both bars")
        until(lambda: any("×" in each for each in
                          self.browser.texts("#statistic-table td:nth-child(2)")), "rates of both")
        # The address alone leads to all of it.
        address = self.hash()
        self.browser.open(f"{self.web.url}/#token={self.web.token}&{address[1:]}")
        self.browser.shows("#percentiles", "was ")
        self.assertEqual(address, self.hash())
        self.browser.click("#span-live")
        until(lambda: self.hash() == "#s=web/latency_us", "now")

    def test_keys_select_a_time_of_a_map(self):
        self.open("web/latency_us")
        self.wait_for_past(5)
        until(lambda: self.browser.run(COLOURS) >= 4, "the heat map")
        seconds = self.browser.driver.execute_async_script("""
            const done = arguments[0];
            pageScript('statistic.js').then(({heat}) => {
              const seconds = heat.heat.seconds.slice(-3).reduce((sum, each) => sum + each, 0);
              for (let i = 0; i < 3; ++i) {
                heat.canvas.dispatchEvent(new KeyboardEvent('keydown',
                  {key: 'ArrowLeft', shiftKey: true, bubbles: true, cancelable: true}));
              }
              heat.canvas.dispatchEvent(new KeyboardEvent('keyup',
                                                          {key: 'Shift', bubbles: true}));
              done(seconds);
            });""")
        begin, end = [time_of(each) for each in re.findall(TIME, self.hash())]
        # Its ends are whole seconds.
        self.assertIn((end - begin) / 1e6 - seconds, (0, 1, 2))
        self.browser.shows("#span-note", "from what tally-web keeps")
        # Up and down go to a bin of the column.
        self.browser.press("ArrowUp", "#heat")
        self.assertRegex(self.browser.text("#heat-tip"), r"[0-9,]+ requests")

    def test_keys_select_a_time_of_a_line(self):
        self.open("web/hits")
        until(lambda: len(self.browser.driver.execute_async_script(
            "pageScript('statistic.js').then(({line}) => arguments[0](line.series?.end_us ?? []))"))
              > 5, "five seconds of a line")
        self.browser.run("document.getElementById('series').focus()")
        keys = ActionChains(self.browser.driver).key_down(Keys.SHIFT)
        for _ in range(3):
            keys = keys.send_keys(Keys.ARROW_LEFT)
        keys.perform()
        self.assertRegex(self.browser.text("#series-tip"), r"^\d\d:\d\d:\d\d\s+growth in a second \d")
        self.assertTrue(self.browser.run("return document.querySelector('#series .chosen-span')"))
        ActionChains(self.browser.driver).key_up(Keys.SHIFT).perform()
        self.browser.shows("#span-note", "from what tally-web keeps")
        begin, end = [time_of(each) for each in re.findall(TIME, self.hash())]
        self.assertGreaterEqual(end - begin, 3e6)

    def test_a_time_that_is_being_selected_is_left(self):
        self.open("web/hits")
        until(lambda: len(self.browser.driver.execute_async_script(
            "pageScript('statistic.js').then(({line}) => arguments[0](line.series?.end_us ?? []))"))
              > 2, "two seconds of a line")
        before = self.hash()
        marked = "return !!document.querySelector('#series .chosen-span')"
        for leave in ("document.activeElement.blur()",
                      "document.activeElement.dispatchEvent("
                      "new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"):
            self.browser.run("document.getElementById('series').focus()")
            ActionChains(self.browser.driver).key_down(Keys.SHIFT).send_keys(
                Keys.ARROW_LEFT).perform()
            self.assertTrue(self.browser.run(marked))
            self.browser.run(leave)
            self.assertFalse(self.browser.run(marked), leave)
            self.browser.run("document.getElementById('series').focus()")
            ActionChains(self.browser.driver).key_up(Keys.SHIFT).send_keys(Keys.ENTER).perform()
            self.assertEqual(before, self.hash(), leave)

    def test_a_line_that_is_of_another_statistic_has_no_points(self):
        self.open("web/hits")
        until(lambda: self.browser.run(
            "return document.querySelector('.panel:not(.stale) .curve')?.getAttribute('d')"),
              "a line")
        # What the console has of it is a fault of this test.
        self.assertTrue(self.browser.run("""
            const svg = document.getElementById('series');
            const box = svg.getBoundingClientRect();
            const point = kind => svg.dispatchEvent(new PointerEvent(kind,
              {clientX: box.x + box.width / 2, clientY: box.y + 20, bubbles: true}));
            point('pointermove');
            [...document.querySelectorAll('#statistic-table button')]
              .find(e => e.textContent === 'latency_us').click();
            const isOld = !!svg.querySelector('.curve');
            point('pointermove');
            point('pointerleave');
            return isOld && document.getElementById('series-tip').hidden;"""))

    def test_exact_times_are_written_into_fields(self):
        self.open("web/latency_us")
        self.browser.type("#span-from", "half past")
        self.browser.run("document.getElementById('span-form').requestSubmit()")
        self.browser.shows("#span-fault", "Write times as 12:03")
        for field, text in (("from", "12:04"), ("to", "12:03")):
            self.browser.type(f"#span-{field}", text)
        self.browser.run("document.getElementById('span-form').requestSubmit()")
        self.browser.shows("#span-fault", "must be later")
        self.wait_for_past(4)
        now = time.time()
        for field, seconds in (("from", 3), ("to", 1)):
            self.browser.type(f"#span-{field}",
                              time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now - seconds)))
        self.browser.run("document.getElementById('span-form').requestSubmit()")
        self.browser.shows("#span-note", "(2 s)")
        self.assertIn(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 3)), self.hash())

    def test_since_reset_ends_now_whatever_the_clock_of_the_browser(self):
        for hours in (2, -2):
            with self.subTest(hours=hours):
                self.open("web/latency_us")
                self.wait_for_past(4)
                self.browser.run("const real = Date.now;"
                                 "Date.now = () => real() + arguments[0] * 3600e3", hours)
                self.browser.type("#span-from", "since reset")
                self.browser.run("document.getElementById('span-form').requestSubmit()")
                until(lambda: "&to=" in self.hash(), "a span")
                end = self.browser.run("return Date.parse(/&to=([^&]*)/.exec(location.hash)[1])")
                self.assertLess(abs(end / 1e3 - time.time()), 600)

    def test_an_address_that_means_nothing_says_what_is_wrong(self):
        for words, fault in (("from=2026-11-27T11:03:00Z&to=soon", "from= and to= of the address"),
                             ("from=2001-01-01T00:00:00Z&to=2001-01-01T01:00:00Z&vs=before",
                              "vs= of the address must be two times"),
                             ("order=size", "order= of the address must be defined or name"),
                             ("axis=sqrt", "axis= of the address must be linear or log")):
            with self.subTest(words=words):
                self.open(f"web/latency_us&{words}")
                self.browser.shows("#address-fault", fault)
                self.browser.open(f"{self.web.page()}&{words}")
                self.browser.shows("#address-fault", fault)
                until(lambda: self.browser.texts("#interface-table tbody button"), "the list")
                self.browser.click("#interface-table tbody button")
                until(lambda: self.browser.text("#address-fault") is None, "no fault")
        self.expects_status(404)

    def test_lists_of_a_time_are_of_it_or_say_that_they_are_of_now(self):
        self.open("web/latency_us")
        self.assertIsNone(self.browser.text("#of-now"))
        self.browser.run("location.hash = 's=web/latency_us&from=2001-01-01T00:00:00Z"
                         "&to=2001-01-01T01:00:00Z'")
        self.browser.shows("#of-now", "of now, not of the selected time")
        self.browser.shows("#statistic-note", "No statistic of this interface is known")
        self.assertEqual([], self.browser.texts("#statistic-table tbody button"))
        self.browser.click("#span-live")
        until(lambda: self.browser.texts("#statistic-table tbody button"), "the list of now")
        self.assertIsNone(self.browser.text("#of-now"))
        self.expects_status(404)

    def test_another_interface_is_shown_of_the_selected_time(self):
        self.open("web/latency_us")
        self.wait_for_past(8)
        self.drag(200, 20)
        until(lambda: "from=" in self.hash(), "a time")
        times = re.findall(TIME, self.hash())
        until(lambda: self.browser.run("return [...document.querySelectorAll("
              "'#interface-table .spark .chosen-span')].every(e => +e.getAttribute('width') >= 1)"),
              "the time in the last minutes")
        self.browser.run("[...document.querySelectorAll('#interface-table tbody button')]"
                         ".find(e => e.textContent === 'db').click()")
        self.browser.shows("#shown-name", "db / query_us")
        self.assertEqual(times, re.findall(TIME, self.hash()))
        self.browser.shows("#percentiles", "p99 · ")
        self.browser.shows("#order-value", "In this time")
        self.browser.click("#span-live")
        until(lambda: self.browser.run("return [...document.querySelectorAll("
              "'#interface-table .spark .chosen-span')].every(e => e.getAttribute('width') === '0')"
              ), "no time in the last minutes")

    def test_a_late_answer_is_not_shown_of_the_next_interface(self):
        self.open("web/latency_us")
        self.wait_for_past(8)
        self.browser.run("""
            window.asked = [];
            const ask = window.fetch.bind(window);
            window.fetch = async (url, options) => {
              window.asked.push(url);
              const answer = await ask(url, options);
              if (url.includes('/span/web')) {
                window.holds = true;
                await new Promise(release => { window.release = release; });
              }
              return answer;
            };""")
        self.drag(200, 20)
        until(lambda: self.browser.run("return window.holds"), "an answer that is late")
        self.browser.run("[...document.querySelectorAll('#interface-table tbody button')]"
                         ".find(e => e.textContent === 'db').click(); window.release()")
        self.browser.shows("#shown-name", "db / query_us")
        until(lambda: self.browser.run("return window.asked.some(e => /heat.db.query_us/.test(e))"),
              "the map")
        self.assertEqual([], self.browser.run("return window.asked.filter(e => /null/.test(e))"))

    def test_a_copied_link_leads_to_the_same(self):
        self.open("web/codes&sort=name&q=e&order=name&find=o&counted=1&axis=log")
        self.browser.run("location.hash += '&from=2001-01-01T00:00:00Z&to=2001-01-01T01:00:00Z"
                         "&vs=2001-01-01T01:00:00Z..2001-01-01T02:00:00Z'")
        self.expects_status(404)
        self.browser.shows("#of-now", "of now, not of the selected time")
        self.browser.run("navigator.clipboard.writeText = async text => { window.copied = text; }")
        self.browser.click("#copy-link")
        self.browser.shows("#span-done", "The link is copied; it has no token.")
        copied = self.browser.run("return window.copied")
        self.assertNotIn(self.web.token, copied)
        values = "return ['span-from', 'span-to', 'versus-from', 'versus-to', 'filter', 'axis'," \
                 "'statistic-filter', 'only-counted'].map(each => { const e =" \
                 "document.getElementById(each); return e.type === 'checkbox' ? e.checked" \
                 ": e.value; }).concat([...document.querySelectorAll('th[aria-sort]')]" \
                 ".map(e => e.getAttribute('aria-sort')))"
        shown = self.browser.run(values)
        self.assertEqual(["e", "log", "o", True], shown[4:8])
        # The token lies in the memory of this tab.
        self.browser.open(copied)
        self.browser.shows("#of-now", "of now, not of the selected time")
        self.assertEqual(shown, self.browser.run(values))
        self.browser.shows("#shown-name", "web / codes")

    def test_what_was_before_the_page_comes_from_the_store(self):
        store = self.mount.folder / "store"
        begin = time.time()
        record(self.mount, store, 4)
        end = time.time()
        for web, note in ((Web(self.mount, "--store", store), "from the store"),
                          (Web(self.mount, "--store", self.mount.folder / "none"),
                           "there is no store of the past")):
            self.addCleanup(web.end)
            span = "&".join(f"{key}=" + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
                            for key, at in (("from", begin), ("to", end + 1)))
            with self.subTest(note=note):
                self.browser.open(f"{web.page('web/latency_us')}&{span}")
                self.browser.shows("#span-note", note)
        self.expects_status(404)

    def test_a_statistic_that_is_gone_has_its_own_name_in_a_span(self):
        self.mount.send("create gone/left type=range units=metres/jumps on=1", "gone/left 7")
        store = self.mount.folder / "gone"
        begin = time.time()
        record(self.mount, store, 4)
        (self.mount.mount / "statistics/gone").rmdir()
        web = Web(self.mount, "--store", store)
        self.addCleanup(web.end)
        self.browser.open(web.page("web/latency_us"))
        self.browser.shows("#shown-name", "web / latency_us")
        span = "&".join(f"{key}=" + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
                        for key, at in (("from", begin), ("to", begin + 5)))
        self.browser.run(f"location.hash = 's=gone/left&{span}'")
        self.browser.shows("#span-note", "from the store")
        self.browser.shows("#shown-name", "gone / left")
        self.browser.shows("#shown-about", "range · metres/jumps · not there now")
        self.expects_status(404)

    def test_a_time_without_anything_has_no_map_and_is_read_again(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 4, "the heat map")
        self.browser.run("location.hash = 's=web/latency_us&from=2001-01-01T00:00:00Z"
                         "&to=2001-01-01T01:00:00Z'")
        self.browser.shows("#span-note", "nothing of web was observed")
        until(lambda: self.browser.run(COLOURS) == 0, "an empty map")
        self.assertIsNone(self.browser.driver.execute_async_script(
            "pageScript('statistic.js').then(({heat}) => arguments[0](heat.whole));"))
        # There is something in the time later.
        span = "&".join(f"{key}=" + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
                        for key, at in (("from", time.time()), ("to", time.time() + 60)))
        self.browser.run(f"location.hash = 's=later/x&{span}'")
        self.browser.shows("#span-note", "nothing of later was observed")
        self.mount.send("create later/x on=1", "later/x 0 5")
        self.addCleanup((self.mount.mount / "statistics/later").rmdir)
        self.browser.shows("#span-note", "from what tally-web keeps")
        self.expects_status(404)

    def test_each_type_has_a_line_with_a_crosshair(self):
        for name, title in (("hits", "growth in a second"), ("size", "average"),
                            ("codes", "growth in a second, of 200, 404")):
            with self.subTest(name=name):
                self.open(f"web/{name}")
                until(lambda: self.browser.run(
                    "return document.querySelector('#series .curve')?.getAttribute('d')"), "a line")
                self.browser.shows("#series-legend", title)
                tip = self.browser.run("""
                    const line = document.getElementById('series');
                    const box = line.getBoundingClientRect();
                    line.dispatchEvent(new PointerEvent('pointermove',
                      {clientX: box.right - 16, clientY: box.top + 60}));
                    return [document.getElementById('series-tip').innerText,
                            document.querySelector('.cross').getAttribute('visibility')];""")
                self.assertRegex(tip[0], r"^\d\d:\d\d:\d\d")
                self.assertEqual("visible", tip[1])
        stacks = self.browser.run("return document.querySelectorAll('#series .stack').length")
        self.assertEqual(2, stacks)

    def ticks(self):
        return self.browser.run("return [...document.querySelectorAll('#series g.axis:last-of-type"
                                " text')].map(e => e.textContent)")

    def short_ticks(self):
        """1s, where a tick is 1.00s."""
        return [re.sub(r"\.0+(?=\D)", "", each) for each in self.ticks()]

    def test_a_logarithmic_axis_has_decades_and_no_place_for_0(self):
        self.mount.send("create spread/us on=1 type=history mode=range period=100000"
                        " entries_max=200 units=microseconds/requests")
        self.addCleanup((self.mount.mount / "statistics/spread").rmdir)
        self.open("spread/us")
        data = self.mount.mount / "statistics/spread/data"
        # Two values in one period are shown as their mean: data has the periods that are over.
        for value in [0, 3, 70, 900, 40_000, 2_000_000]:
            self.mount.send(f"spread/us {value}")
            until(lambda: f" {value} " in data.read_text().replace("\n", " "),
                  f"{value} in a period")
        self.browser.choose("#axis", "log")
        until(lambda: self.mount.send("spread/us 0") or "logarithmic" in
              (self.browser.text("#series-legend") or ""), "values that have no place")
        self.assertRegex(self.browser.text("#series-legend"),
                         r"a logarithmic axis cannot show values of 0 or below: \d+$")
        # The page may show the first values before the last one has come to it.
        until(lambda: "1s" in self.short_ticks(), "the largest value on the axis")
        self.assertEqual(["1µs", "10µs", "100µs", "1ms", "10ms", "100ms", "1s"],
                         self.short_ticks()[:7])
        self.assertIn("&axis=log", self.hash())
        self.browser.picture("line-log")
        self.assertNotIn("NaN", self.browser.run(
            "return document.getElementById('series').innerHTML"))
        self.browser.run("history.back()")
        until(lambda: "0µs" in self.ticks(), "a linear axis")
        self.assertEqual("linear", self.browser.run(
            "return document.getElementById('axis').value"))

    def test_outliers_beyond_the_top_are_marked_and_named(self):
        self.mount.send("create far/us on=1 type=history mode=range period=100000"
                        " entries_max=60 units=microseconds/requests")
        self.addCleanup((self.mount.mount / "statistics/far").rmdir)
        self.open("far/us")

        def points():
            return self.browser.driver.execute_async_script(
                "pageScript('statistic.js').then(({line}) => arguments[0]("
                "(line.series?.value ?? []).filter(each => each !== null).length))")

        until(lambda: self.mount.send("far/us 100") or points() >= 10, "ten points")
        self.mount.send("far/us 90000")
        until(lambda: self.mount.send("far/us 100") or "beyond the top" in
              (self.browser.text("#series-legend") or ""), "the outlier's name")
        self.assertRegex(self.browser.text("#series-legend"),
                         r"^line: avg, shade: min to max; beyond the top: (avg|max) [0-9.]+ms at "
                         r"\d\d:\d\d:\d\d")
        self.assertTrue(self.browser.run(
            "return document.querySelector('#series .beyond').getAttribute('d')"), "its mark")
        self.browser.picture("line-outlier")
        # A logarithmic axis has room for it.
        self.browser.choose("#axis", "log")
        until(lambda: "beyond" not in self.browser.text("#series-legend"), "all in it")

    def test_statistics_are_sorted_by_each_column_and_only_those_with_samples(self):
        self.mount.send("create sorted/b on=1", "create sorted/a on=1", "create sorted/c on=1",
                        "sorted/a 0 5", "sorted/b 0 9")
        self.addCleanup((self.mount.mount / "statistics/sorted").rmdir)
        self.open("sorted/a")

        def shown():
            return self.browser.texts("#statistic-table tbody button")

        until(lambda: shown() == ["b", "a", "c"], "as they were defined")
        self.browser.click("#order-name")
        until(lambda: shown() == ["a", "b", "c"], "by name")
        self.browser.click("#order-value")
        until(lambda: shown() == ["b", "a", "c"], "by their totals")
        self.assertEqual("descending", self.browser.run(
            "return document.getElementById('order-value').parentElement"
            ".getAttribute('aria-sort')"))
        self.browser.click("#only-counted")
        until(lambda: shown() == ["b", "a"], "those with samples")
        self.assertEqual("#s=sorted/a&order=value&counted=1", self.hash())
        self.browser.run("history.back()")
        until(lambda: shown() == ["b", "a", "c"], "all again")


def time_of(text):
    """Microseconds since 1970."""
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) * 1e6


if __name__ == "__main__":
    unittest.main()
