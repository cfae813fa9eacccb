"""A mount with data, tally-web on it, and a Chromium that looks at the page.

TALLY_BIN is where the programs are. Pictures go to TALLY_WEB_PICTURES, by default
build/web-pictures of this checkout. Everything waits for conditions, never for time.
"""
import base64
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TALLY_BIN", ROOT / "build/release/bin"))
PICTURES = pathlib.Path(os.environ.get("TALLY_WEB_PICTURES", ROOT / "build/web-pictures"))
PATIENCE = 60 * float(os.environ.get("TALLY_PATIENCE", "1"))


def until(condition, what, seconds=PATIENCE):
    """The first result of `condition` that is true."""
    end = time.monotonic() + seconds
    while True:
        try:
            result = condition()
        except StaleElementReferenceException:
            result = None
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"in vain waited for: {what}")
        time.sleep(0.02)


class Mount:
    """A daemon with a few interfaces that move."""

    def __init__(self, *options):
        self.options = options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-web-test."))
        self.mount = self.folder / "mnt"
        self.mount.mkdir()
        self.socket = self.folder / "socket"
        self.sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.random = random.Random(21)
        self.feeding = None
        self.daemon = None
        self.start()

    def start(self):
        self.started_at = time.time()
        self.daemon = subprocess.Popen(
            [BIN / "tallyfs", "-f", "--socket", self.socket, *self.options, self.mount],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.daemon.stdout.readline() == "READY\n"

    def send(self, *lines):
        self.sender.sendto("\n".join(lines).encode(), str(self.socket))

    def create(self):
        array = "type=array scale=log2 base_interval=1 range_min=0 range_max=1048576"
        self.send(f"create web/latency_us on=1 {array} units=microseconds/requests",
                  "create web/slow_us on=1 type=quantiles precision=4 quantiles=50,90,99"
                  " units=microseconds/requests",
                  "create web/codes on=1 type=list entries_max=20 units=/responses",
                  "create web/by_second on=1 type=history mode=range period=1000000"
                  " entries_max=120 units=microseconds/requests",
                  "create web/size on=1 type=range units=bytes/responses",
                  "create web/hits on=1 units=requests",
                  f"create db/query_us on=1 {array} units=microseconds/queries",
                  "create tcp/off on=0")

    def feed(self):
        """One round of samples; every tenth round has slow ones."""
        lines = []
        for _ in range(20):
            slow = self.random.random() < 0.05
            x = int(self.random.lognormvariate(7.5 if slow else 4.5, 0.7))
            lines += [f"web/{name} {x}" for name in ("latency_us", "slow_us", "by_second")]
            lines += [f"web/codes {self.random.choice([200] * 9 + [404])}", "web/hits 1",
                      f"web/size {self.random.randrange(200, 90000)}"]
        lines += [f"db/query_us {int(self.random.lognormvariate(6, 0.5))}" for _ in range(5)]
        self.send(*lines)

    def keep_feeding(self):
        self.feeding = threading.Event()
        threading.Thread(target=self._run, args=(self.feeding,), daemon=True).start()

    def _run(self, ended):
        while not ended.wait(0.1):
            try:
                self.feed()
            except OSError:
                pass  # the daemon is being started anew

    def stop_feeding(self):
        if self.feeding:
            self.feeding.set()
        self.feeding = None

    def restart(self):
        self.daemon.terminate()
        self.daemon.wait()
        self.daemon.stdout.close()
        self.start()

    def end(self):
        self.stop_feeding()
        self.daemon.terminate()
        self.daemon.wait()
        self.daemon.stdout.close()
        self.sender.close()
        subprocess.run(["rm", "-rf", "--one-file-system", self.folder], check=True)


def need_store():
    """Skips the test where the programs were built without the store of the past."""
    made = subprocess.run([BIN / "tallyctl", "show", "--last", "1s"], capture_output=True,
                          text=True)
    if "TALLYFS_PAST=OFF" in made.stderr:
        raise unittest.SkipTest("built without a store")


def record(mount, store, count):
    """Records so many seconds into a store."""
    need_store()
    subprocess.run([BIN / "tallyctl", "--mount", mount.mount, "record", "--store", store,
                    "--count", str(count)], check=True, capture_output=True)


class Web:
    """A tally-web on a mount."""

    def __init__(self, mount, *options, listen="127.0.0.1:0"):
        self.errors = open(mount.folder / "web.errors", "a")
        self.process = subprocess.Popen(
            [BIN / "tally-web", "--mount", mount.mount, "--listen", listen, *options],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        assert self.process.stdout.readline() == "READY\n"
        self.url = re.match(r"(http://\S+)/ ", self.process.stdout.readline()).group(1)
        self.token = (mount.folder / "web-token").read_text().strip()

    def api(self, path):
        request = urllib.request.Request(f"{self.url}/api/1/{path}",
                                         headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def post(self, path, value):
        request = urllib.request.Request(
            f"{self.url}/api/1/{path}", data=json.dumps(value).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def page(self, statistic=""):
        return f"{self.url}/#token={self.token}" + (f"&s={statistic}" if statistic else "")

    def end(self):
        self.process.terminate()
        status = self._wait()
        assert status == 0, f"tally-web ended with {status}"

    def kill(self):
        self.process.kill()
        self._wait()

    def _wait(self):
        status = self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        return status


class Browser:
    """Chromium without a window, and what tests ask of a page."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                         "--disable-gpu", "--lang=en-US"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options,
                                       service=Service("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(PATIENCE)
        # A script under another address would be another one than the page's, with variables of its
        # own.
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            window.pageScript = name => import(
              document.querySelector("script[type=module]").src.replace(/[^/]*$/, name));"""})

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def open(self, url):
        """Another page than the one before, though only the fragment may differ."""
        self.driver.get("about:blank")
        self.driver.get(url)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        """None if there is no such element, or none to be seen."""
        return self.run("const e = document.querySelector(arguments[0]);"
                        "return e && e.offsetParent !== null ? e.innerText : null;", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])]"
                        ".filter(e => e.offsetParent !== null).map(e => e.innerText.trim());",
                        selector)

    def shows(self, selector, text):
        until(lambda: text in (self.text(selector) or ""), f"'{text}' in {selector}; it has "
              f"'{self.text(selector)}'")

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click();", selector)

    def type(self, selector, text):
        self.run("const e = document.querySelector(arguments[0]); e.focus();"
                 "e.value = arguments[1]; e.dispatchEvent(new Event('input', {bubbles: true}));",
                 selector, text)

    def choose(self, selector, value):
        self.run("const e = document.querySelector(arguments[0]); e.value = arguments[1];"
                 "e.dispatchEvent(new Event('change', {bubbles: true}));", selector, value)

    def press(self, key, selector="body"):
        self.run("document.querySelector(arguments[1]).dispatchEvent(new KeyboardEvent("
                 "'keydown', {key: arguments[0], bubbles: true, cancelable: true}));",
                 key, selector)

    def faults(self):
        """What the console has, violations of the Content-Security-Policy among it.

        Advice on the canvas, of which tests read pixels and the page none, is left out."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")
                and "getImageData" not in entry["message"]]

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(self.png())

    def png(self, selector=None):
        """Of an element, or of the whole page."""
        clip = {}
        if selector:
            box = self.run("const e = document.querySelector(arguments[0])"
                           ".getBoundingClientRect();"
                           "return {x: e.x, y: e.y, width: e.width, height: e.height, scale: 1};",
                           selector)
            clip = {"clip": box}
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot",
                                              {"captureBeyondViewport": True, **clip})
        return base64.b64decode(picture["data"])

    def heap(self):
        """Bytes of JavaScript that are in use, after a collection."""
        self.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        return self.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]

    def end(self):
        self.driver.quit()
