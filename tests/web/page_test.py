"""The page of tally-web in a real Chromium."""
import os
import re
import subprocess
import unittest
import urllib.request

from page_case import COLOURS, CONTRAST, PageCase
from page_fixture import BIN, PATIENCE, ROOT, Web, until


class PageTest(PageCase):
    def test_shows_interfaces_and_what_a_click_leads_to(self):
        self.open()
        names = [row["interface"] for row in self.web.api("statistics")["interfaces"]]
        until(lambda: sorted(self.browser.texts("#interface-table tbody button")) == sorted(names),
              "all interfaces")
        until(lambda: "off" in self.browser.texts("#interface-table td.number"), "tcp is off")
        until(lambda: self.browser.run("return [...document.querySelectorAll('.spark path')]"
                                       ".some(e => e.getAttribute('d'))"), "a sparkline")
        self.browser.run("[...document.querySelectorAll('#interface-table button')]"
                         ".find(e => e.textContent === 'web').click()")
        self.browser.shows("#shown-name", "web / latency_us")
        self.assertEqual("#s=web/latency_us", self.browser.run("return location.hash"))
        rows = [row["name"] for row in self.web.api("statistics/web")["view"]["rows"]]
        self.assertEqual(rows, self.browser.texts("#statistic-table tbody button"))

    def test_numbers_are_those_of_the_api(self):
        self.mount.stop_feeding()
        self.open("db/query_us")
        self.browser.click("#counted-choice [value=total]")
        until(self.has_numbers_of_the_api, "the numbers of the API")

    def has_numbers_of_the_api(self):
        view = self.web.api("statistics/db?statistic=query_us")["statistics"][0]["view"]["total"]
        since = self.browser.text("#since")
        percentiles = [f"p{each['q']} · since {since}\n{each['text'].replace('-', '–')}"
                       for each in view["percentiles"]]
        bars = [bar["text"] for bar in view["bars"] if bar["count"]]
        shown = [each for each in self.browser.texts("#bars .count") if each != "0"]
        return (percentiles, bars) == (self.browser.texts("#percentiles div"), shown)

    def test_draws_a_heat_map_and_shows_one_column_of_it(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 5, "five colours of the heat map")
        self.browser.shows("#legend", "counts:")
        until(lambda: "requests, most of them in" in self.browser.run(
            "return document.getElementById('heat').getAttribute('aria-label')"), "its name")
        self.browser.press("ArrowLeft", "#heat")
        until(lambda: self.browser.text("#bars-title").count(":") == 2, "the time of a column")
        self.assertIsNone(self.browser.text("#counted-choice"))
        self.browser.press("Escape")
        self.browser.shows("#bars-title", "Distribution")
        self.browser.click("#heat-as-table")
        until(lambda: self.browser.texts("#heat-table td"), "the heat map as a table")
        self.browser.click("#heat-as-table")

    def test_the_pointer_is_on_a_bin_in_both_charts(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 5, "five colours of the heat map")
        label, tip = until(lambda: self.browser.run("""
            const heat = document.getElementById('heat');
            const box = heat.getBoundingClientRect();
            for (let y = box.top; y < box.bottom; y += 3) {
              heat.dispatchEvent(new PointerEvent('pointermove',
                                                  {clientX: box.right - 4, clientY: y}));
              const row = document.querySelector('#bars .pointed');
              if (row) return [row.cells[0].textContent,
                               document.getElementById('heat-tip').textContent];
            }"""), "a bar that is marked")
        self.assertRegex(tip, f"^[0-9:]+   {re.escape(label)}   [0-9,]+ requests(  =  [0-9.]+ %)?$")
        self.assertTrue(self.browser.run("""
            const heat = document.getElementById('heat');
            const before = heat.toDataURL();
            document.querySelector('#bars td').dispatchEvent(
              new PointerEvent('pointerover', {bubbles: true}));
            return heat.toDataURL() !== before;"""), "its bin is framed")

    def test_nothing_is_asked_while_the_page_is_hidden(self):
        driver = self.browser.driver
        script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            Object.defineProperty(document, 'hidden', {get: () => window.isHidden ?? false});
            window.rounds = window.asked = window.under = window.most = 0;
            const later = window.setTimeout.bind(window);
            window.setTimeout = (call, time) => { ++window.rounds; return later(call, 1); };
            const ask = window.fetch.bind(window);
            window.fetch = async (...all) => {
              ++window.asked;
              window.most = Math.max(window.most, ++window.under);
              try { return await ask(...all); } finally { --window.under; }
            };"""})
        self.addCleanup(driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", script)
        self.open("web/latency_us")
        until(lambda: self.browser.run("return window.rounds") > 5, "some rounds")
        # What was asked before it was hidden is answered first.
        rounds, asked = self.browser.run("window.isHidden = true;"
                                         "return [window.rounds, window.asked];")
        until(lambda: self.browser.run("return window.rounds") > rounds + 10, "more rounds")
        self.assertLessEqual(self.browser.run("return window.asked"), asked + 4)
        self.assertEqual(1, self.browser.run("return window.most"), "one request at a time")

    def test_scales_and_windows_are_those_that_are_chosen(self):
        self.open("web/slow_us")
        until(lambda: self.browser.run(COLOURS) >= 3, "the heat map")
        before = self.browser.text("#legend")
        self.browser.choose("#scale", "linear")
        until(lambda: self.browser.text("#legend") != before, "another legend")
        self.browser.click("#window-choice [value='600']")
        until(lambda: self.browser.texts("#window-choice [aria-pressed=true]") == ["10m"],
              "ten minutes")

    def test_draws_a_history_and_bars_of_a_list(self):
        self.open("web/by_second")
        until(lambda: self.browser.run(
            "return document.querySelector('#series .curve')?.getAttribute('d')"), "a line")
        self.assertIn("0µs", self.browser.run(
            "return [...document.querySelectorAll('#series text')].map(e => e.textContent)"))
        self.assertEqual("line: avg, shade: min to max", self.browser.text("#series-legend"))
        self.browser.click("#series-as-table")
        until(lambda: self.browser.texts("#series-table td"), "the history as a table")
        self.browser.click("#series-as-table")
        self.open("web/codes")
        until(lambda: "200" in self.browser.texts("#bars th"), "the value 200")
        self.assertIsNone(self.browser.text("#heat-panel"))
        self.open("web/size")
        self.browser.shows("#percentiles", "average")

    def test_times_of_axes_are_round_and_differ(self):
        self.open()
        for seconds in (3, 60, 600, 7200, 90_000, 864_000):
            labels = self.browser.driver.execute_async_script("""
                const [seconds, done] = arguments;
                pageScript('charts.js').then(({timeTicks}) => {
                  const end = new Date(2026, 2, 4, 10, 0, 7);
                  const x = d3.scaleTime().domain([new Date(end - seconds * 1000), end]);
                  const {ticks, text} = timeTicks(x, 5);
                  done(ticks.map(text));
                });""", seconds)
            self.assertEqual(len(set(labels)), len(labels), labels)
            self.assertIn(len(labels), range(2, 12), labels)

    def test_keys_and_filter(self):
        self.open()
        self.browser.press("/")
        self.assertEqual("filter", self.browser.run("return document.activeElement.id"))
        self.browser.type("#filter", "d")
        until(lambda: self.browser.texts("#interface-table tbody button") == ["db"], "db alone")
        self.browser.press("Enter", "#filter")
        self.browser.shows("#shown-name", "db / query_us")
        self.browser.press("Escape", "#filter")
        until(lambda: len(self.browser.texts("#interface-table tbody button")) == 4, "all again")
        self.browser.click("#by-name")
        names = ["db", "tallyfs", "tcp", "web"]
        until(lambda: self.browser.texts("#interface-table tbody button") == names, "by name")

    def test_statistics_are_filtered_by_tag(self):
        names = ["hits{code:200,host:a}", "hits{code:404,host:a}", "hits{code:200,host:b}"]
        self.mount.send(*(f"create tags/{name} on=1" for name in names))
        self.addCleanup((self.mount.mount / "statistics/tags").rmdir)
        self.open("tags/" + names[1])

        def shown():
            return self.browser.texts("#statistic-table tbody button")

        until(lambda: shown() == names, "all of them")
        self.browser.type("#statistic-filter", "code:200")
        until(lambda: shown() == [names[0], names[2]], "those of code:200")
        self.browser.shows("#shown-name", "tags / " + names[1])
        self.browser.press("Escape", "#statistic-filter")
        until(lambda: shown() == names, "all again")
        self.browser.type("#statistic-filter", "host:b")
        until(lambda: shown() == [names[2]], "those of host:b")
        self.browser.run("[...document.querySelectorAll('#interface-table button')]"
                         ".find(e => e.textContent === 'web').click()")
        until(lambda: "latency_us" in shown(), "another interface has no filter")

    def test_shows_percentiles_of_a_log_by_route(self):
        log = self.mount.folder / "access.log"
        log.write_text("".join(
            f'::1 - - [26/Nov/2026:14:30:00 +0000] "GET /cart/{n} HTTP/1.1" 200 9 "-" "-" 0.{n}\n'
            for n in range(100, 300)))
        subprocess.run([BIN / "tally-feed-log", "--socket", self.mount.socket, "--format", "nginx",
                        "--from", "start", "--once", log], check=True, capture_output=True)
        self.addCleanup((self.mount.mount / "statistics/nginx").rmdir)
        name = "latency{route:/cart/*,status:200}"
        self.open("nginx/requests{status:200}")
        until(lambda: name in self.browser.texts("#statistic-table tbody button"), "the route")
        self.browser.run("[...document.querySelectorAll('#statistic-table button')]"
                         f".find(e => e.textContent === '{name}').click()")
        self.browser.shows("#shown-name", "nginx / " + name)
        until(lambda: any(each.startswith("p99") and "297" in each
                          for each in self.browser.texts("#percentiles div")), "p99 of 297 ms")

    def test_a_definition_is_changed_and_refused(self):
        self.mount.send("create form/us on=1 type=range units=microseconds/requests", "form/us 7")
        self.addCleanup((self.mount.mount / "statistics/form").rmdir)
        self.open("form/us")
        until(lambda: self.browser.run("return document.getElementById('line').value")
              .startswith("name=us"), "the line")
        self.browser.type("#line", "name=us type=array scale=log2")
        self.apply()
        self.browser.shows("#definition-fault", "this type also needs: base_interval")
        _, line, caret, *_ = self.browser.text("#definition-fault").splitlines()
        self.assertEqual("  name=us type=array scale=log2", line)
        self.assertEqual("^", caret.strip())
        self.expects_status(422)
        self.browser.type("#line", "name=us type=list entries_max=10")
        self.apply()
        self.browser.shows("#shown-about", "list")
        self.assertIsNone(self.browser.text("#definition-fault"))
        self.assertIn("type=list",
                      (self.mount.mount / "statistics/form/definition").read_text())
        self.browser.choose("#type", "range")
        self.browser.click("#apply")
        self.browser.shows("#shown-about", "range")
        self.mount.send("form/us 9")
        self.browser.shows("#percentiles", "9")
        self.browser.click("#reset")
        self.browser.click("#confirm-yes")
        self.browser.shows("#definition-done", "reset")
        self.assertTrue((self.mount.mount / "statistics/form/data").read_text()
                        .startswith("us 0 "))

    def test_a_reset_is_undone_once(self):
        self.mount.send("create undo/us on=1 type=range", "undo/us 7")
        self.addCleanup((self.mount.mount / "statistics/undo").rmdir)
        self.open("undo/us")
        self.browser.shows("#percentiles", "7")
        hidden = "return document.getElementById('undo').hidden"
        self.assertTrue(self.browser.run(hidden), "there is nothing to undo")
        self.browser.click("#reset")
        self.browser.click("#confirm-yes")
        until(lambda: not self.browser.run(hidden), "the button")
        self.browser.click("#undo")
        self.browser.shows("#definition-done", "Undo brought back")
        self.assertTrue((self.mount.mount / "statistics/undo/data").read_text()
                        .startswith("us 1 "))
        until(lambda: self.browser.run(hidden), "no button")

    def test_a_reset_of_all_is_undone_in_one_step(self):
        self.mount.send("create both/us on=1 type=range", "create both/hits on=1", "both/us 7",
                        "both/hits 1")
        self.addCleanup((self.mount.mount / "statistics/both").rmdir)
        self.open("both/us")
        self.browser.shows("#percentiles", "7")
        self.browser.type("#line", "data=reset")
        self.browser.click("#apply")
        self.browser.shows("#confirm", "Discard the data of all 2 statistics of both")
        self.browser.click("#confirm-yes")
        self.browser.shows("#undo", "Undo for all")
        data = self.mount.mount / "statistics/both/data"
        self.assertEqual("us 0 0 0.000 0\nhits 0\n", data.read_text())
        self.browser.click("#undo")
        self.browser.shows("#definition-done", "back the data of all 2 statistics of both.")
        self.assertEqual("us 1 7 7.000 7\nhits 1\n", data.read_text())

    def apply(self):
        self.browser.click("#apply")
        self.browser.shows("#confirm", "Discard 1 requests of us, counted since")
        self.browser.click("#confirm-yes")

    def test_names_are_text(self):
        hostile, statistic, units = "<plaintext>", "a'b\"c", "</title><b>"
        self.mount.send(f"create {hostile}/{statistic} on=1 type=range units={units}"
                        " help=%3Cb%3E%20is%20%22bold%22%1B",
                        f"{hostile}/{statistic} 7")
        self.addCleanup((self.mount.mount / "statistics" / hostile).rmdir)
        self.open(f"%3Cplaintext%3E/{statistic}")
        self.browser.shows("#shown-name", f"{hostile} / {statistic}")
        self.browser.shows("#shown-about", units)
        self.browser.shows("#shown-help", '<b> is "bold"%1B')
        until(lambda: hostile in self.browser.texts("#interface-table tbody button"), "the row")
        self.assertEqual(0, self.browser.run(
            "return document.querySelectorAll('plaintext, article b, nav b').length"))

    def test_a_wrong_token_is_asked_for(self):
        self.browser.open(f"{self.web.url}/#token=00")
        self.browser.shows("#token-form", "needs the token")
        self.browser.shows("#token-form", f"sudo cat {self.mount.folder / 'web-token'} shows it")
        self.browser.shows("#token-fault", "Read the file again")
        self.assertNotIn("token", self.browser.run("return location.href"))
        self.browser.type("#token", self.web.token)
        self.browser.run("document.querySelector('#token-form form').requestSubmit()")
        self.browser.shows("#live", "live")
        self.assertIsNone(self.browser.text("#token-form"))
        self.assertEqual("", self.browser.run("return document.cookie"))
        self.expects_status(401)

    def test_read_only_is_said_and_forms_are_closed(self):
        web = Web(self.mount)
        self.addCleanup(web.end)
        self.browser.open(web.page("web/latency_us"))
        self.browser.shows("#rights", "read only")
        self.browser.shows("#definition-note", "--allow-changes")
        self.assertEqual([True] * 5, self.browser.run(
            "return ['apply', 'reset', 'type', 'is-on', 'revert']"
            ".map(id => document.getElementById(id).disabled)"))
        self.assertTrue(self.browser.run("return document.getElementById('line').readOnly"))
        self.assertTrue(self.browser.run(
            "return document.getElementById('definition-note').getBoundingClientRect().top <"
            "document.getElementById('line').getBoundingClientRect().top"), "the reason is above")
        status = self.browser.driver.execute_async_script(
            "const done = arguments[0]; fetch('api/1/definition/web', {method: 'POST', headers: "
            "{'Content-Type': 'application/json', Authorization: 'Bearer ' + "
            "sessionStorage.getItem('tally-token')}, body: '{\"line\":\"on=0\"}'})"
            ".then(answer => done(answer.status));")
        self.assertEqual(403, status)
        self.expects_status(403)

    def test_other_sites_cannot_ask(self):
        other = Web(self.mount)
        self.addCleanup(other.end)
        self.browser.open(other.page())
        self.browser.shows("#live", "live")
        asked = self.browser.driver.execute_async_script(
            "const done = arguments[1]; fetch(arguments[0], {mode: 'no-cors'})"
            ".then(() => done('answered'), () => done('refused'));", self.web.url + "/healthz")
        self.assertEqual("refused", asked)
        self.assertTrue(any("Content Security Policy" in each or "connect-src" in each
                            for each in self.browser.faults()))

    def test_pictures_in_both_themes_and_widths(self):
        for width, height in ((1280, 800), (320, 640)):
            for theme in ("dark", "light"):
                with self.subTest(width=width, theme=theme):
                    self.look(width, height, theme)

    def look(self, width, height, theme):
        self.browser.size(width, height)
        self.open("web/latency_us")
        self.browser.choose("#theme", theme)
        until(lambda: self.browser.run(COLOURS) >= 5, "five colours of the heat map")
        least = self.web.api("heat/web/latency_us")[theme][0]
        wanted = f"rgb({', '.join(str(each) for each in bytes.fromhex(least[1:]))})"
        self.assertEqual(wanted, self.browser.run(
            "return document.querySelector('#legend i').style.backgroundColor"))
        self.browser.picture(f"heat-{theme}-{width}")
        self.assertEqual([], self.browser.run(CONTRAST))
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        self.open("web/by_second")
        until(lambda: self.browser.run("return document.querySelector('#series .curve')"), "a line")
        self.browser.picture(f"history-{theme}-{width}")

    def test_the_heap_does_not_grow(self):
        """From a tenth of TALLY_WEB_UPDATES updates to all of them, one after the other, each with
        answers in full; 10,000 take half an hour."""
        updates = int(os.environ.get("TALLY_WEB_UPDATES", "500"))
        driver = self.browser.driver
        # chromedriver keeps the result of each script in the page's heap: so the page says when it
        # is done, and is not asked again and again.
        script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const later = window.setTimeout.bind(window);
            window.setTimeout = (call, time) => later(call, Math.min(time ?? 0, 1));
            let updates = 0, wanted = Infinity, onDone = null;
            window.afterUpdates = (count, done) => { wanted = count; onDone = done; };
            const ask = window.fetch.bind(window);
            window.fetch = (url, options) => {
              if (/\\/heat\\//.test(url) && ++updates >= wanted) { wanted = Infinity; onDone(); }
              delete options.headers['If-None-Match'];
              return ask(url, options);
            };"""})
        self.addCleanup(driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", script)
        self.addCleanup(driver.set_script_timeout, PATIENCE)
        driver.set_script_timeout(PATIENCE + updates)
        self.open("web/latency_us")
        heaps = []
        for wanted in (updates // 10, updates):
            driver.execute_async_script("afterUpdates(...arguments)", wanted)
            heaps.append(self.browser.heap())
        print(f"heap: {heaps[0] / 1e6:.2f} MB after {updates // 10} updates,"
              f" {heaps[1] / 1e6:.2f} MB after {updates}")
        self.assertLess(heaps[1], 30e6)
        self.assertLess(heaps[1] - heaps[0], 1e6)

    def test_a_page_that_is_opened_again_asks_for_nothing_but_itself_and_data(self):
        self.open("web/latency_us")
        self.open("web/latency_us")
        asked = self.browser.run(
            "return performance.getEntriesByType('resource').filter(e => e.transferSize > 0)"
            ".map(e => new URL(e.name).pathname)")
        self.assertEqual([], [each for each in asked if not each.startswith("/api/1/")])

    def test_the_page_is_small(self):
        names = ["", "d3.js"] + [each.name for each in
                                 (ROOT / "exporters/web/page").iterdir()
                                 if each.name != "index.html"]
        size = 0
        for name in names:
            request = urllib.request.Request(f"{self.web.url}/{name}",
                                             headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request) as answer:
                self.assertEqual("gzip", answer.headers["Content-Encoding"])
                size += len(answer.read())
        print(f"page: {size} bytes as gzip")
        self.assertLess(size, 90_000)


if __name__ == "__main__":
    unittest.main()
