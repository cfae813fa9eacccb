"""What the page of tally-web costs, in Debian's Chromium.

  TALLY_BIN=BIN /usr/bin/python3 tests/web/bench.py     two minutes

First paint is of a browser that has the page in its cache. CPU time is that of /proc/PID/stat.
"""
import os
import statistics
import sys
import time

try:
    from page_fixture import Browser, Mount, Web, until
except ImportError:
    print("NOT MEASURED: python3-selenium is not installed")
    sys.exit(0)

SECONDS = float(os.environ.get("TALLY_BENCH_SECONDS", 20))
TICK = os.sysconf("SC_CLK_TCK")
PAINT = ("return performance.getEntriesByName('first-contentful-paint')"
         ".map(each => each.startTime)[0];")
ARRAY = "type=array scale=log2 base_interval=1 range_min=0 range_max=1048576"


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def open_page(browser, web, statistic=""):
    browser.open(web.page(statistic))
    browser.shows("#live", "live")


def measure_paint(browser, web):
    """In turn with a page of one word, which costs the browser alone."""
    times, bare = [], []
    for _ in range(6):
        open_page(browser, web, "web/latency_us")
        times.append(until(lambda: browser.run(PAINT), "a paint"))
        browser.open(f"{web.url}/healthz")
        bare.append(until(lambda: browser.run(PAINT), "a paint"))
    print(f"first paint, warm: {statistics.median(times[1:]):.0f} ms (wanted: below 300), "
          f"of a page of one word {statistics.median(bare[1:]):.0f} ms")


def measure_cpu(mount, browser, web, what):
    """With the page open, and samples coming in."""
    open_page(browser, web, "web/latency_us")
    mount.keep_feeding()
    before, start = cpu_seconds(web.process.pid), time.monotonic()
    time.sleep(SECONDS)
    share = 100 * (cpu_seconds(web.process.pid) - before) / (time.monotonic() - start)
    mount.stop_feeding()
    print(f"tally-web with a page open, {what}: {share:.2f} % of a core (wanted: below 2)")


def add_interfaces(mount, count):
    for at in range(0, count, 100):
        mount.send(*(f"create many{i}/us on=1 {ARRAY}" for i in range(at, at + 100)))


def interfaces(web):
    return web.api("statistics?rows=1")["view"]["interfaces"]


def main():
    mount = Mount()
    mount.create()
    mount.feed()
    web, browser = Web(mount), Browser()
    try:
        browser.size(1280, 800)
        measure_paint(browser, web)
        measure_cpu(mount, browser, web, f"{interfaces(web)} interfaces")
        add_interfaces(mount, 10_000)
        until(lambda: interfaces(web) > 10_000, "10,000 interfaces more")
        measure_cpu(mount, browser, web, f"{interfaces(web):,} interfaces")
        print(f"JavaScript's heap with them: {browser.heap() / 1e6:.2f} MB (wanted: below 30)")
        rows = browser.run("return document.querySelectorAll('#interface-table tr').length")
        print(f"rows of them in the document: {rows}")
    finally:
        browser.end()
        web.end()
        mount.end()


main()
