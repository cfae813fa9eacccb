"""Pictures of the page in each state, for people to look at: light and dark, 1440 and 375 pixels.

build/web-pictures/state-NAME-THEME-WIDTH.png. In none is a text pale, or the page too wide."""
import re
import subprocess
import unittest

from page_case import COLOURS, CONTRAST, PageCase
from page_fixture import BIN, Web, until

# Elements that are wider than the page, and do not scroll.
TOO_WIDE = """
const wide = e => e.getBoundingClientRect().right > innerWidth + 1;
const scrolls = e => e.closest('.scroll, table, svg, pre, textarea');
const faults = [...document.querySelectorAll('body *')]
  .filter(e => e.offsetParent && wide(e) && !scrolls(e)).map(e => `${e.tagName} ${e.id}`);
return document.documentElement.scrollWidth > innerWidth ? ['the page', ...faults] : faults;
"""


class StatesPageTest(PageCase):
    def look(self, name):
        for theme in ("light", "dark"):
            self.browser.choose("#theme", theme)
            for width in (1440, 375):
                self.browser.size(width, 900)
                self.browser.picture(f"state-{name}-{theme}-{width}")
                with self.subTest(state=name, theme=theme, width=width):
                    self.assertEqual([], self.browser.run(TOO_WIDE))
                    self.assertEqual([], self.browser.run(CONTRAST))
        self.browser.size(1440, 900)

    def with_store(self, name, *numbers):
        store = self.mount.folder / name
        subprocess.run([BIN / "changed_store", store, *numbers], check=True,
                       stdout=subprocess.DEVNULL)
        web = Web(self.mount, "--store", store)
        self.addCleanup(web.end)
        self.browser.open(web.page())
        self.browser.shows("#live", "live")
        return web

    def test_what_changed_most(self):
        self.with_store("unusual", "200", "1200")
        until(lambda: self.browser.texts("#changed-table tbody th"), "a row")
        self.browser.shows("#worst-name", "web/")
        self.look("changed")

    def test_what_is_silent_and_nothing_unusual(self):
        self.with_store("silent", "200", "1200", "0", "240")
        self.browser.shows("#silent-note", "Silent for a minute or longer: 5")
        self.look("silent")

    def test_no_store(self):
        web = Web(self.mount, "--store", self.mount.folder / "none")
        self.addCleanup(web.end)
        self.browser.open(web.page())
        self.browser.shows("#changed-note", "Nothing is ranked")
        self.browser.shows("#worst-name", "web/")
        self.look("no-store")

    def test_each_type(self):
        self.mount.send("create web/newest on=1 type=raw entries_max=20",
                        "create web/temperature on=1 type=last units=degrees",
                        "web/newest 7", "web/temperature 21")
        for name in ("latency_us", "slow_us", "codes", "by_second", "size", "hits", "newest",
                     "temperature"):
            self.open(f"web/{name}")
            self.browser.shows("#shown-name", f"web / {name}")
            if name in ("latency_us", "slow_us"):
                until(lambda: self.browser.run(COLOURS) >= 3, "the heat map")
            else:
                until(lambda: self.browser.texts("#statistic-table tbody th"), "the list")
            self.look(f"type-{name}")
        self.open("tcp/off")
        self.browser.shows("#shown-name", "tcp / off")
        self.look("off")

    def test_a_past_time_beside_another(self):
        self.mount.send("create web0/latency_us on=1 type=quantiles precision=4"
                        " quantiles=50,99 units=microseconds/requests")
        self.addCleanup((self.mount.mount / "statistics/web0").rmdir)
        web = self.with_store("span", "200", "0")
        end_us = web.api("changed")["changed"].get("to_us") or until(
            lambda: web.api("changed")["changed"].get("to_us"), "the end of the store")

        def iso(before_s):
            return self.browser.run("return new Date(arguments[0]).toISOString().slice(0, 19)"
                                    "+ 'Z'", end_us / 1000 - before_s * 1000)
        self.browser.open(web.page("web0/latency_us") +
                          f"&from={iso(60)}&to={iso(1)}&vs={iso(180)}..{iso(61)}")
        until(lambda: self.browser.text("#shown-name") == "web0 / latency_us" and
              self.browser.run(COLOURS) >= 3, "the map of the past")
        self.look("past")

    def test_what_is_refused_and_what_can_be_undone(self):
        self.expects_status(422)
        self.open("web/latency_us")
        self.browser.shows("#shown-name", "latency_us")
        self.browser.type("#line", "name=latency_us on=7")
        self.browser.click("#apply")
        self.browser.shows("#definition-fault", "^")
        self.look("refused")
        self.browser.size(375, 900)
        self.assertFalse(self.browser.run(
            "const e = document.querySelector('#definition-fault span');"
            "return e.scrollWidth > e.clientWidth;"), "the reason is cut")
        self.browser.size(1440, 900)
        self.open("db/query_us")
        self.browser.shows("#shown-name", "query_us")
        self.browser.run("document.getElementById('export').open = true")
        self.look("export")

    def test_what_is_not_there(self):
        self.expects_status(404)
        self.expects_status(401)
        self.open("web/latency_uz")
        until(lambda: re.search("did you mean", self.browser.run(
            "return document.body.innerText")), "a proposal")
        self.look("not-found")
        self.open("web/latency_us")
        self.browser.type("#filter", "nothing has this")
        self.browser.shows("#interface-note", "None of")
        self.look("filter")
        self.browser.open(f"{self.web.url}/#token={'0' * 64}")
        self.browser.shows("#token-fault", "This token is wrong")
        self.look("token")

    def test_no_answer(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 3, "the heat map")
        self.browser.run("window.fetch = () => Promise.reject(new TypeError('gone'))")
        self.browser.shows("#live", "no answer since")
        self.look("no-answer")


if __name__ == "__main__":
    unittest.main()
