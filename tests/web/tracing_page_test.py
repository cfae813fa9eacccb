"""What the page of tally-web shows of tracing/: latencies by CPU, and histogram triggers."""
import os
import unittest

from page_case import COLOURS, CONTRAST, PageCase
from page_fixture import Mount, Web, until


class TracingPageTest(PageCase):
    def test_shows_latency_histograms(self):
        self.mount.send("latency my_section ns=25999 cpu=0", "latency my_section ns=3000 cpu=0")
        self.open()
        until(lambda: self.browser.run(
            "const found = [...document.querySelectorAll('#latency-list button')]"
            ".find(e => e.textContent === 'my_section'); found?.click(); return !!found"),
              "the latencies of my_section")
        self.browser.shows("#shown-name", "Latency histogram my_section")
        self.browser.shows("#definition-note", "no definition")
        self.browser.click("#counted-choice [value=total]")
        self.browser.shows("#bars", "16µs - 32µs")

    def test_shows_latencies_by_cpu(self):
        self.feed_latencies("by_cpu")
        self.open("tracing/latency_hist/by_cpu/by_cpu")
        self.browser.shows("#shown-name", "Latency histogram by_cpu")
        until(lambda: "CPUs and" in (self.browser.run(
            "return document.getElementById('cpus').getAttribute('aria-label')") or ""), "its name")
        until(lambda: self.browser.run(COLOURS, "cpus") >= 3, "three colours")
        self.browser.press("ArrowLeft", "#cpus")
        self.browser.shows("#bars-title", "CPU ")
        for _ in range(os.cpu_count()):
            self.browser.press("ArrowLeft", "#cpus")
        until(lambda: self.browser.text("#bars-of") == "300 samples", "those of CPU 0")
        self.browser.press("Escape")
        self.browser.shows("#bars-title", "Distribution")
        self.browser.click("#cpus-as-table")
        until(lambda: "CPU 0" in self.browser.texts("#cpus-table th"), "the table")
        self.browser.click("#cpus-as-table")

    def feed_latencies(self, name):
        """300 of CPU 0; 300 slower ones of CPU 1, where there is one."""
        for cpu in range(min(2, os.cpu_count())):
            times = (int(self.mount.random.lognormvariate(9.5 + 1.2 * cpu, 0.8))
                     for _ in range(300))
            lines = [f"latency {name} ns={each} cpu={cpu}" for each in times]
            for i in range(0, len(lines), 100):
                self.mount.send(*lines[i:i + 100])

    def feed_events(self):
        """An event with a histogram by path and time."""
        events = self.mount.mount / "tracing/events"
        self.mount.send("event define shop/request u64 us; char path[32]; int status")
        until((events / "shop/request/trigger").exists, "the event")
        # The newest is shown first.
        for keys in ("us.log2:sort=us", "path:vals=us.avg,us.p99,us.max:sort=hitcount.descending"):
            with open(events / "shop/request/trigger", "a") as trigger:
                trigger.write(f"hist:keys={keys}")
        paths = ["/"] * 6 + ["/cart"] * 3 + ["/search"] * 4 + ["/<b>checkout</b>"]
        lines = [f"event shop/request us={int(self.mount.random.lognormvariate(6, 1))}"
                 f" path={self.mount.random.choice(paths)} status=200" for _ in range(500)]
        for i in range(0, len(lines), 50):
            self.mount.send(*lines[i:i + 50])
        # Opened to be written anew, it forgets its triggers.
        self.addCleanup(lambda: (events / "shop/request/trigger").write_text(""))

    def test_shows_histogram_triggers_with_their_keys(self):
        self.feed_events()
        self.open()
        self.browser.click("#hists summary")
        until(lambda: self.browser.run(
            "const found = [...document.querySelectorAll('#hist-list button')]"
            ".find(e => e.textContent === 'shop/request'); found?.click(); return !!found"),
              "the event shop/request")
        self.browser.shows("#shown-name", "Event shop / request")
        self.assertEqual("#s=tracing/events/shop/request", self.browser.run("return location.hash"))
        until(lambda: len(self.browser.texts(".hist")) == 2, "two histograms")
        self.assertEqual(["path", "hits", "", "%", "us.avg", "us.p99", "us.max"],
                         self.browser.texts(".hist:first-child thead th"))
        rows = [line.split("} hitcount:") for line in
                (self.mount.mount / "tracing/events/shop/request/hist").read_text().splitlines()
                if line.startswith("{ path:")]
        wanted = [[key.split("path:")[1].strip(), int(rest.split()[0])] for key, rest in rows]
        until(lambda: [[row[0], int(row[1].replace(",", ""))] for row in self.browser.run(
            "return [...document.querySelectorAll('.hist:first-child tbody tr')]"
            ".map(tr => [...tr.cells].map(td => td.textContent))")] == wanted, "the rows")
        self.assertEqual(0, self.browser.run(
            "return document.querySelectorAll('article b').length"))
        widths = self.browser.run("return [...document.querySelectorAll("
                                  "'.hist:first-child tbody .bar div')].map(e => e.offsetWidth)")
        self.assertEqual(sorted(widths, reverse=True), widths)
        self.assertGreater(widths[0], 50)
        self.browser.run("[...document.querySelectorAll('#interface-table button')]"
                         ".find(e => e.textContent === 'web').click()")
        self.browser.shows("#shown-name", "web / latency_us")
        self.assertIsNone(self.browser.text("#hist-box"))

    def test_system_calls_have_names(self):
        if os.getuid() != 0:
            self.skipTest("the kernel's events are root's")
        mount = Mount("-o", "tracefs")
        self.addCleanup(mount.end)
        event = mount.mount / "tracing/events/raw_syscalls/sys_enter"
        if not event.exists():
            self.skipTest("this kernel has no events of system calls")
        web = Web(mount)
        self.addCleanup(web.end)
        # Those of this process: getppid() is no call that others make by the thousand.
        with open(event / "trigger", "a") as trigger:
            trigger.write(f"hist:keys=id.syscall if common_pid == {os.getpid()}")
        self.addCleanup(lambda: (event / "trigger").write_text(""))
        self.browser.open(web.page("tracing/events/raw_syscalls/sys_enter"))
        until(lambda: os.getppid() and any("sys_getppid [110]" in each for each in
                                           self.browser.texts(".hist th.key")), "its name")
        self.browser.picture("hist-syscalls")
        self.browser.open("about:blank")  # before the servers end

    def test_pictures_in_both_themes_and_widths(self):
        self.feed_events()
        self.feed_latencies("pictured")
        for width, height in ((1280, 1000), (768, 1400), (320, 1700)):
            for theme in ("dark", "light"):
                with self.subTest(width=width, theme=theme):
                    self.look(width, height, theme)

    def look(self, width, height, theme):
        self.browser.size(width, height)
        self.open()
        self.browser.choose("#theme", theme)
        self.open("tracing/events/shop/request")
        until(lambda: len(self.browser.texts(".hist")) == 2, "two histograms")
        self.browser.picture(f"hist-{theme}-{width}")
        self.assertEqual([], self.browser.run("""
            return [...document.querySelectorAll('.hist .scroll')]
              .filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText);"""), "no part cut")
        self.assertEqual([], self.browser.run(CONTRAST))
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        self.open("tracing/latency_hist/pictured/pictured")
        until(lambda: self.browser.run(COLOURS, "cpus") >= 3, "the heat map of CPUs")
        self.browser.picture(f"cpus-{theme}-{width}")
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)


if __name__ == "__main__":
    unittest.main()
