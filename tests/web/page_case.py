"""What tests of the page share: a mount, tally-web, a browser, and scripts that look at it."""
import unittest

from page_fixture import Browser, Mount, Web

# How many colours a heat map has.
COLOURS = """
const canvas = document.getElementById(arguments[0] ?? 'heat');
const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
const found = new Map();
for (let i = 0; i < pixels.length; i += 4) {
  const rgb = [pixels[i], pixels[i + 1], pixels[i + 2]];
  // Texts and grounds are grey.
  if (Math.max(...rgb) - Math.min(...rgb) < 30) continue;
  found.set(rgb.join(), (found.get(rgb.join()) ?? 0) + 1);
}
return [...found.values()].filter(count => count > 20).length;
"""
# Pairs of text and ground below 4.5:1 (WCAG 2.1, contrast).
CONTRAST = """
const light = rgb => rgb.slice(0, 3).map(each => each / 255)
  .map(each => each <= .03928 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4)
  .reduce((sum, each, i) => sum + each * [.2126, .7152, .0722][i], 0);
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const ground = element => {
  for (let e = element; e; e = e.parentElement) {
    const rgb = numbers(getComputedStyle(e).backgroundColor);
    if (rgb.length === 3 || rgb[3] > 0) return rgb;
  }
  return [255, 255, 255];
};
const faults = [];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || e.offsetParent === null || e.disabled || e.closest('svg')) continue;
  const [a, b] = [light(numbers(getComputedStyle(e).color)), light(ground(e))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) faults.push(`${e.tagName} ${e.className} '${e.textContent.trim()}' ${ratio}`);
}
return faults;
"""


class PageCase(unittest.TestCase):
    """Tests of one page, on a mount that is fed."""

    @classmethod
    def setUpClass(cls):
        cls.mount = Mount()
        cls.addClassCleanup(cls.mount.end)
        cls.mount.create()
        cls.mount.feed()
        cls.web = Web(cls.mount, "--allow-changes")
        cls.addClassCleanup(cls.web.end)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.end)

    def setUp(self):
        self.statuses = []
        self.browser.faults()  # what came after the test before
        self.browser.size(1280, 800)
        self.mount.keep_feeding()
        self.addCleanup(self.mount.stop_feeding)

    def open(self, statistic=""):
        self.browser.open(self.web.page(statistic))
        self.browser.shows("#live", "live")

    def expects_status(self, code):
        """The console may say that a request was answered so, now and later in this test."""
        self.statuses.append(f"responded with a status of {code} ")

    def tearDown(self):
        faults = [fault for fault in self.browser.faults()
                  if not any(status in fault for status in self.statuses)]
        # Before the servers of this test end, the page must ask nothing any more.
        self.browser.open("about:blank")
        self.assertEqual([], faults, "the console is empty")
