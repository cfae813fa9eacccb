"""The page for keyboards and screen readers: axe-core finds nothing, few stops lead to the map."""
import hashlib
import os
import pathlib
import subprocess
import tarfile
import unittest

from selenium.webdriver.common.keys import Keys

from page_case import COLOURS, PageCase
from page_fixture import ROOT, until

AXE = "axe-core-4.10.3"
AXE_SHA512 = ("5e6edba515e70d25f6604d9815f064d859c5d1ea7ab661bbc4f87c88779ef0c2"
              "1cae0abbeb636471ef39e9d62d2582e4b88a1866f19f4ecfcf6d986275e4dc12")
FOLDER = pathlib.Path(os.environ.get("TALLY_AXE", ROOT / "build/axe"))
STOPS_MAX = 14
# What axe-core says is wrong, and where.
AXE_RUN = """
const done = arguments[0];
axe.run(document, {resultTypes: ['violations']}).then(
  ({violations}) => done(violations.flatMap(each => each.nodes.map(node =>
    `${each.id}: ${node.target.join(' ')}: ${node.failureSummary}`))),
  error => done([String(error)]));
"""


def axe():
    """The text of axe-core, of one version; None without a network."""
    script = FOLDER / AXE / "axe.min.js"
    if script.exists():
        return script.read_text()
    FOLDER.mkdir(parents=True, exist_ok=True)
    # A network that drops all takes as long as the timeout: it is none, too.
    fetch = ["npm", "pack", "--silent", "--fetch-retries=0", AXE.replace("-4", "@4")]
    try:
        subprocess.run(fetch, cwd=FOLDER, timeout=60, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    packed = FOLDER / f"{AXE}.tgz"
    found = hashlib.sha512(packed.read_bytes()).hexdigest()
    assert found == AXE_SHA512, f"{packed} has the SHA-512 {found}"
    with tarfile.open(packed) as files:
        text = files.extractfile("package/axe.min.js").read()
    script.parent.mkdir(exist_ok=True)
    script.write_bytes(text)
    return text.decode()


class AccessPageTest(PageCase):
    def violations(self, script):
        # As the console would: the page's own policy keeps scripts of others out.
        self.browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
        return self.browser.driver.execute_async_script(AXE_RUN)

    def test_axe_finds_no_violation(self):
        script = axe()
        if script is None:
            print("   ACCESS WAS NOT TESTED: npm could not fetch axe-core")
            self.skipTest("npm could not fetch axe-core")
        for theme in ("light", "dark"):
            for statistic in ("web/latency_us", "web/codes", "web/by_second"):
                with self.subTest(theme=theme, statistic=statistic):
                    self.open(statistic)
                    self.browser.choose("#theme", theme)
                    until(lambda: self.browser.texts("#statistic-table tbody button"), "the list")
                    self.assertEqual([], self.violations(script))
        for table in ("heat", "series"):
            self.browser.run(f"document.getElementById('{table}-as-table').click()")
        self.browser.press("ArrowLeft", "#heat")
        self.browser.click("#reset")
        self.browser.run("document.getElementById('export').open = true")
        self.assertEqual([], self.violations(script))
        self.open()
        self.browser.shows("#worst-name", "web/")
        self.assertEqual([], self.violations(script))

    def test_axe_finds_no_violation_in_what_is_refused_or_past(self):
        script = axe()
        if script is None:
            print("   ACCESS WAS NOT TESTED: npm could not fetch axe-core")
            self.skipTest("npm could not fetch axe-core")
        self.expects_status(422)
        self.expects_status(401)
        self.expects_status(404)
        for theme in ("light", "dark"):
            self.open("web/latency_us")
            self.browser.choose("#theme", theme)
            self.browser.shows("#shown-name", "latency_us")
            self.browser.type("#line", "name=latency_us on=7")
            self.browser.click("#apply")
            self.browser.shows("#definition-fault", "^")
            self.browser.type("#filter", "nothing has this")
            self.browser.shows("#interface-note", "None of")
            self.assertEqual([], self.violations(script), "refused")
            self.browser.run("location.hash = 's=web/latency_us&from=2001-01-01T00:00:00Z"
                             "&to=2001-01-01T01:00:00Z&vs=2001-01-01T01:00:00Z.."
                             "2001-01-01T02:00:00Z'")
            self.browser.shows("#statistic-note", "No statistic of this interface is known")
            self.assertEqual([], self.violations(script), "past")
            self.browser.size(375, 800)
            self.assertEqual([], self.violations(script), "narrow")
            self.browser.size(1280, 800)
            self.open("web/codes")
            self.browser.run("window.fetch = () => Promise.reject(new TypeError('gone'))")
            self.browser.shows("#live", "no answer since")
            self.assertEqual([], self.violations(script), "old numbers")
            self.browser.open(f"{self.web.url}/#token={'0' * 64}")
            self.browser.shows("#token-fault", "This token is wrong")
            self.assertEqual([], self.violations(script), "no token")

    def test_axe_finds_no_violation_in_boxes_that_scroll(self):
        script = axe()
        if script is None:
            print("   ACCESS WAS NOT TESTED: npm could not fetch axe-core")
            self.skipTest("npm could not fetch axe-core")
        self.mount.send("create web/newest on=1 type=raw entries_max=20")
        for statistic, scrolling in (("latency_us", 2), ("by_second", 1), ("newest", 1)):
            with self.subTest(statistic=statistic):
                self.open(f"web/{statistic}")
                for table in ("heat", "series"):
                    self.browser.run(f"document.getElementById('{table}-as-table').click()")
                # As many rows as after minutes would be: each box is too small for its own.
                self.browser.run("for (const e of document.querySelectorAll('#shown .scroll'))"
                                 "  e.style.maxHeight = '1rem'")
                until(lambda: self.mount.send("web/newest 1") or scrolling <= self.browser.run(
                    "return [...document.querySelectorAll('#shown .scroll')]"
                    ".filter(e => e.offsetParent && e.scrollHeight > e.clientHeight + 20).length"),
                    "boxes that scroll")
                self.assertEqual([], self.violations(script))

    def test_few_stops_lead_to_the_map(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 3, "the heat map")
        self.count_stops()

    def test_few_stops_lead_to_the_map_of_a_sum(self):
        for code in (200, 500):
            self.mount.send(f"create stops/us{{code:{code},route:x}} on=1 type=quantiles"
                            " precision=4 quantiles=50,99")
        self.addCleanup((self.mount.mount / "statistics/stops").rmdir)
        self.open("stops/us{route:x}&by=route")
        until(lambda: self.mount.send("stops/us{code:200,route:x} 7") or
              self.browser.run(COLOURS) >= 1, "the heat map")
        self.count_stops()
        script = axe()
        if script is not None:
            self.assertEqual([], self.violations(script))

    def count_stops(self):
        body = self.browser.driver.find_element("tag name", "body")
        stops = []
        while not stops or (stops[-1] != "heat" and len(stops) < 40):
            (self.browser.driver.switch_to.active_element if stops else body).send_keys(Keys.TAB)
            stops.append(self.browser.run(
                "const e = document.activeElement; return e.id || e.textContent"))
        self.assertLessEqual(len(stops), STOPS_MAX, stops)
        self.assertIn("Latency histograms", stops)
        self.assertNotIn("Histogram triggers", stops)
        self.browser.run("document.querySelector('#latencies summary').focus()")
        self.browser.press("ArrowDown", "#latencies summary")
        self.assertEqual("Histogram triggers", self.browser.run(
            "return document.activeElement.textContent"))
        self.assertEqual(len(stops), len(set(stops)), stops)

    def test_arrows_go_through_a_list_and_nowhere_else(self):
        def listed():
            return self.browser.texts("#interface-table tbody button")
        self.open("db/query_us&sort=name")
        until(lambda: self.browser.texts("#interface-table .chosen button") == ["db"], "the list")
        # Without those of the test before, which may be in an answer that is shared for a second.
        there = {each.name for each in (self.mount.mount / "statistics").iterdir() if each.is_dir()}
        until(lambda: set(listed()) <= there, "a list of what is there")
        self.browser.press("ArrowDown")
        self.browser.shows("#shown-name", "db / query_us")
        self.browser.run("document.querySelector('#interface-table .chosen button').focus()")
        focused = "return document.activeElement.id || document.activeElement.textContent"
        names = listed()
        at = names.index("db")
        active = self.browser.driver.switch_to.active_element
        active.send_keys(Keys.ARROW_DOWN)
        self.assertEqual(names[at + 1], self.browser.run(focused))
        self.browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.browser.shows("#shown-name", f"{names[at + 1]} /")
        for _ in range(at + 2):
            self.browser.driver.switch_to.active_element.send_keys(Keys.ARROW_UP)
        self.assertEqual("by-name", self.browser.run(focused))
        self.browser.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        self.assertEqual("by-rate", self.browser.run(focused))

    def test_targets_are_large_enough(self):
        self.mount.send("create x/y on=1")
        self.addCleanup((self.mount.mount / "statistics/x").rmdir)
        for statistic in ("web/latency_us", "x/y", ""):
            self.browser.size(1280, 800)
            self.open(f"{statistic}&q=y")
            until(lambda: self.browser.texts("#found-list button"), "what is found")
            self.browser.run("document.getElementById('export').open = true")
            for width in (1280, 375):
                self.browser.size(width, 800)
                self.browser.run("document.body.classList.add('lists-open')")
                with self.subTest(statistic=statistic, width=width):
                    self.assertEqual([], self.browser.run("""
                        return [...document.querySelectorAll('button, select, summary, input')]
                          .filter(e => e.offsetParent)
                          .map(e => [e.id || e.textContent, e.getBoundingClientRect()])
                          .filter(([_, box]) => box.width < 24 || box.height < 24)
                          .map(([name, box]) => `${name} ${box.width}x${box.height}`);"""))

    def test_rows_and_tables_have_headings(self):
        shown = {"web/latency_us": 3, "web/by_second": 3, "": 1}
        for statistic, least in shown.items():
            with self.subTest(statistic=statistic):
                self.open(statistic)
                for table in ("heat", "series"):
                    self.browser.run(f"document.getElementById('{table}-as-table').click()")
                tables = "return [...document.querySelectorAll('table')]" \
                         ".filter(e => e.offsetParent && e.tBodies[0]?.rows.length).length"
                until(lambda: self.browser.run(tables) >= least, "its tables")
                self.assertEqual([], self.browser.run("""
                    return [...document.querySelectorAll('table')]
                      .filter(e => e.offsetParent)
                      .filter(e => !(e.caption?.textContent || e.getAttribute('aria-labelledby')) ||
                        [...e.rows].some(tr => tr.className !== 'spacer' &&
                          (tr.cells[0].tagName !== 'TH' || !tr.cells[0].scope)))
                      .map(e => e.outerHTML.slice(0, 300));"""))

    def test_a_list_of_buttons_is_one_stop(self):
        names = [f"one_stop_{each}" for each in range(5)]
        self.mount.send(*(f"create stops/{name} on=1" for name in names))
        self.addCleanup((self.mount.mount / "statistics/stops").rmdir)
        self.open("web/latency_us&q=one_stop")
        buttons = "#found-list button"
        until(lambda: len(self.browser.texts(buttons)) == len(names), "what is found")
        stops = f"return [...document.querySelectorAll('{buttons}')]" \
                ".filter(e => e.tabIndex === 0).map(e => e.textContent)"
        shown = self.browser.texts(buttons)
        self.assertEqual(shown[:1], self.browser.run(stops))
        self.browser.run(f"document.querySelector('{buttons}').focus()")
        for key, at in ((Keys.ARROW_DOWN, 1), (Keys.ARROW_RIGHT, 2), (Keys.ARROW_UP, 1)):
            self.browser.driver.switch_to.active_element.send_keys(key)
            self.assertEqual(shown[at], self.browser.driver.switch_to.active_element.text)
            self.assertEqual(shown[at:at + 1], self.browser.run(stops))
        self.browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.browser.shows("#shown-name", shown[1].replace("/", " / "))
        self.assertEqual(shown[1:2], self.browser.run(stops))

    def test_borders_of_controls_are_seen(self):
        self.open("web/latency_us")
        for theme in ("light", "dark"):
            self.browser.choose("#theme", theme)
            with self.subTest(theme=theme):
                self.assertEqual([], self.browser.run("""
                    const light = text => text.match(/[\\d.]+/g).slice(0, 3)
                      .map(each => each / 255)
                      .map(each => each <= .03928 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4)
                      .reduce((sum, each, i) => sum + each * [.2126, .7152, .0722][i], 0);
                    const ground = light(getComputedStyle(document.body).backgroundColor);
                    return [...document.querySelectorAll('input, select, button, textarea')]
                      .filter(e => e.offsetParent && getComputedStyle(e).borderTopWidth !== '0px')
                      .map(e => [e.id, light(getComputedStyle(e).borderTopColor)])
                      .map(([id, it]) => [id, (Math.max(it, ground) + .05) /
                                              (Math.min(it, ground) + .05)])
                      .filter(([_, ratio]) => ratio < 3);"""))


class StillOrderTest(PageCase):
    def interfaces(self):
        return self.browser.texts("#interface-table tbody button")

    def test_the_order_stands_still_under_the_pointer(self):
        self.mount.stop_feeding()
        self.mount.send("still1/x 1", "still2/x 1")
        for name in ("still1", "still2"):
            self.addCleanup((self.mount.mount / "statistics" / name).rmdir)
        self.open()
        self.browser.type("#filter", "still")

        def feed(name):
            self.mount.send(f"{name}/x 1", f"{name}/x 1", f"{name}/x 1")

        def first():
            feed("still1")
            return self.interfaces() == ["still1", "still2"]

        until(first, "that which moves is the first")
        self.browser.run("document.getElementById('interface-box')"
                         ".dispatchEvent(new PointerEvent('pointerenter'))")
        # By its rate the other one would be the first by now.
        rates = "return [...document.querySelectorAll('#interface-table tbody tr')]" \
                ".filter(e => e.cells.length > 2).map(e => parseFloat(e.cells[1].textContent))"

        def moves():
            feed("still2")
            feed("still2")
            rates_now = self.browser.run(rates)
            api = [row["interface"] for row in
                   self.web.api("statistics?filter=still&sort=rate")["interfaces"]]
            return rates_now[0] == 0 and rates_now[1] > 0 and api == ["still2", "still1"]

        until(moves, "the other one is faster")
        self.assertEqual(["still1", "still2"], self.interfaces())
        self.browser.shows("#re-sort", "Re-sort")
        self.browser.click("#re-sort")
        until(lambda: feed("still2") or self.interfaces() == ["still2", "still1"], "sorted again")

    def test_few_samples_make_a_pale_percentile(self):
        array = "type=array scale=log2 base_interval=1 range_min=0 range_max=4096"
        self.mount.send(f"create few/us on=1 {array}", *(f"few/us {x}" for x in range(20)))
        self.addCleanup((self.mount.mount / "statistics/few").rmdir)
        self.open("few/us")
        self.browser.click("#counted-choice [value=total]")
        pale = "return [...document.querySelectorAll('#percentiles div')]" \
               ".map(e => [e.innerText.slice(0, 3), !!e.querySelector('.few')])"
        until(lambda: self.browser.run(pale) ==
              [["p50", False], ["p90", False], ["p99", True], ["p99", True]], "p99 is pale")


if __name__ == "__main__":
    unittest.main()
