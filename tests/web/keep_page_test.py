"""Nothing is discarded by accident, and what is shown can be taken along."""
import csv
import io
import json
import pathlib
import re
import unittest
import xml.etree.ElementTree

from PIL import Image

from page_case import COLOURS, PageCase
from page_fixture import until


class KeepPageTest(PageCase):
    def setUp(self):
        super().setUp()
        self.folder = self.mount.folder / "saved"
        self.folder.mkdir(exist_ok=True)
        self.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {
            "behavior": "allow", "downloadPath": str(self.folder)})

    def value(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).value", selector)

    def wait_for_line(self):
        curve = "document.querySelector('.panel:not(.stale) .curve')?.getAttribute('d')"
        until(lambda: self.browser.run(f"return {curve}"), "a line")

    def save(self, kind):
        """The bytes of what a button saves."""
        self.browser.run("document.getElementById('span-done').textContent = '';")
        self.browser.click(f"#export button[value={kind}]")
        self.browser.shows("#span-done", "Saved as ")
        name = re.match(r"Saved as (.*)\.$", self.browser.text("#span-done")).group(1)
        self.assertRegex(name, r"^[A-Za-z0-9._-]+$")
        path = pathlib.Path(self.folder, name)
        until(path.exists, name)
        content = path.read_bytes()
        path.unlink()
        return content

    def test_a_line_for_all_that_discards_nothing_is_not_undone_for_all(self):
        self.mount.send("create one/us on=1 type=range", "create one/hits on=1", "one/us 7")
        self.addCleanup((self.mount.mount / "statistics/one").rmdir)
        self.open("one/us")
        self.browser.shows("#percentiles", "7")
        self.browser.type("#line", "name=us data=reset")
        self.browser.click("#apply")
        self.browser.click("#confirm-yes")
        self.browser.shows("#undo", "Undo")
        self.browser.type("#line", "on=1")
        self.browser.click("#apply")
        self.browser.shows("#definition-done", "Applied to all 2 statistics of one")
        self.browser.click("#undo")
        self.browser.shows("#definition-done", "Undo brought back the data.")

    def test_a_view_is_offered_before_data_are_discarded(self):
        self.mount.send("create keep/us on=1 type=range units=microseconds/requests",
                        *(f"keep/us {x}" for x in range(1, 4)))
        self.addCleanup((self.mount.mount / "statistics/keep").rmdir)
        self.open("keep/us")
        until(lambda: self.value("#line").startswith("name=us"), "the line")
        self.browser.choose("#type", "quantiles")
        self.browser.click("#apply")
        self.browser.shows("#confirm", "Discard 3 requests of us")
        self.assertEqual("confirm-view",
                         self.browser.run("return document.activeElement.id"))
        self.browser.click("#confirm-view")
        self.browser.shows("#definition-done", "Applied to us_quantiles.")
        definition = (self.mount.mount / "statistics/keep/definition").read_text()
        self.assertRegex(definition, r"(?m)^name=us on=1 type=range ")
        self.assertRegex(definition, r"(?m)^name=us_quantiles of=us on=1 type=quantiles ")
        self.assertRegex((self.mount.mount / "statistics/keep/data").read_text(), r"(?m)^us 3 ")
        until(lambda: "us_quantiles" in self.browser.texts("#statistic-table tbody button"),
              "its row")
        # Proposed by itself, and under a name that is free.
        self.browser.click("#revert")
        self.browser.choose("#add-view", "quantiles")
        self.assertRegex(self.value("#line"), r"^name=us_quantiles2 .*\bof=us$")
        # Of what is above the average, 2, alone.
        self.browser.click("#revert")
        self.assertEqual("above the average, 2", self.browser.run(
            "return document.getElementById('view-above').textContent"))
        self.browser.choose("#add-view", "above")
        self.browser.click("#apply")
        self.browser.shows("#definition-done", "Applied to us_above.")
        self.mount.send("keep/us 1", "keep/us 2", "keep/us 9")
        self.assertRegex((self.mount.mount / "statistics/keep/data").read_text(),
                         r"(?m)^us_above 2 2 5\.500 9$")
        self.assertEqual("", self.value("#add-view"))
        # A reset has no other way.
        self.browser.click("#revert")
        self.browser.click("#reset")
        self.browser.shows("#confirm", "requests of us")
        self.assertIsNone(self.browser.text("#confirm-view"))

    def test_csv_has_what_is_shown(self):
        self.open("web/codes")
        until(lambda: "200" in self.browser.texts("#bars th"), "the value 200")
        self.wait_for_line()
        rows = list(csv.reader(io.StringIO(self.save("table-values").decode())))
        self.assertEqual(["value", "count"], rows[0])
        self.assertIn("200", [row[0] for row in rows])
        rows = list(csv.reader(io.StringIO(self.save("table-times").decode())))
        self.assertEqual(["end", "growth in a second"], rows[0][:2])
        self.assertRegex(rows[1][0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}$")
        rows = list(csv.reader(io.StringIO(self.save("table-list").decode())))
        self.assertEqual(["latency_us", "slow_us", "codes", "by_second", "size", "hits"],
                         [row[1] for row in rows[1:]])

    def test_tsv_has_what_is_shown(self):
        self.open("web/codes")
        until(lambda: "200" in self.browser.texts("#bars th"), "the value 200")
        self.browser.choose("#table-format", "tsv")
        lines = self.save("table-list").decode().split("\n")
        self.assertEqual("interface,statistic,type,samples per second,level,values",
                         lines[0].replace("\t", ","))
        self.assertEqual(["latency_us", "slow_us", "codes", "by_second", "size", "hits", ""],
                         [*(line.split("\t")[1] for line in lines[1:-1]), lines[-1]])
        self.assertEqual({6}, {len(line.split("\t")) for line in lines[:-1]})
        self.assertIn("200", [line.split("\t")[0] for line in
                              self.save("table-values").decode().splitlines()])

    def test_json_has_the_numbers_and_no_token(self):
        self.open("db/query_us")
        until(lambda: self.browser.run(COLOURS) >= 2, "the heat map")
        text = self.save("json").decode()
        self.assertNotIn(self.web.token, text)
        made = json.loads(text)
        self.assertEqual(("db", "query_us"), (made["interface"], made["statistic"]))
        self.assertEqual(self.web.api("statistics")["view"]["host"], made["host"])
        self.assertEqual(len(made["over_time"]["end_us"]), len(made["over_time"]["counts"]))

    def test_pictures_have_title_host_times_and_legend(self):
        self.open("web/latency_us")
        until(lambda: self.browser.run(COLOURS) >= 4, "the heat map")
        host = self.web.api("statistics")["view"]["host"]
        svg = self.save("svg").decode()
        texts = [each.text for each in xml.etree.ElementTree.fromstring(svg).iter()
                 if each.tag.endswith("text")]
        self.assertEqual("web / latency_us", texts[0])
        self.assertRegex(texts[2], r"^tallyfs \d+\.\d+")
        self.assertTrue(texts[1].startswith(f"{host}:{self.mount.mount}   up to 20"), texts[1])
        self.assertIn("counts:", texts)
        fills = {each.get("fill") for each in xml.etree.ElementTree.fromstring(svg).iter()}
        heat = self.web.api("heat/web/latency_us")
        self.assertGreaterEqual(len(fills & set(heat["light"] + heat["dark"])), 3)
        picture = Image.open(io.BytesIO(self.save("png")))
        self.assertEqual((1920, 1040), picture.size)
        self.assertGreater(len(picture.convert("RGB").getcolors(1 << 20)), 10)
        self.open("web/codes")
        self.wait_for_line()
        svg = self.save("svg").decode()
        self.assertIn("growth in a second, of 200, 404", svg)
        (self.folder / "line.svg").write_text(svg)

    def test_hostile_names_are_harmless_in_all_files(self):
        hostile = ["@x", "+1+1", "-2+3", "<script><svg>", 'a"b\'c', "a\u202eb", "c\u0085d",
                   "us{a:%1B[31m%0A%E2%80%AE<%2Fscript>,b:%3D1+1}"]
        helped = "units=</title><b> help==1%0A%1B[2J%E2%80%AE</script>%22"
        self.mount.send(*(f"create evil/{name} on=1 {helped}" for name in hostile),
                        *(f"evil/{name} 1" for name in hostile))
        self.addCleanup((self.mount.mount / "statistics/evil").rmdir)
        self.open()
        self.browser.run("location.hash = '#s=evil'")
        self.browser.shows("#shown-name", "evil / ")
        names = [row["name"] for row in self.web.api("statistics/evil")["view"]["rows"]]
        self.assertLess({"@x", "+1+1", "-2+3", "<script><svg>", 'a"b\'c'}, {*names, ""})
        until(lambda: len(self.browser.texts("#statistic-table tbody button")) == len(names),
              "all rows")
        rows = list(csv.reader(io.StringIO(self.save("table-list").decode())))
        self.assertEqual(len(names), len(rows) - 1)
        for row in rows:
            for cell in row:
                self.assertNotRegex(cell, "^[=+@]|^-(?![0-9.]+$)")
                self.assertTrue(cell.isprintable(), ascii(cell))
        self.wait_for_line()
        for name in names:
            quoted = "".join(f"%{each:02X}" for each in name.encode())
            self.browser.run("location.hash = arguments[0]", f"#s=evil/{quoted}")
            self.browser.shows("#shown-name", f"evil / {name.split('<%2F')[0]}")
            until(lambda: "evil/" in self.browser.run("return document.title"), "the title")
            self.assertTrue(self.browser.run("return document.title").isprintable())
            self.wait_for_line()
            svg = self.save("svg").decode()
            self.assertEqual(1, svg.count("<svg"))
            xml.etree.ElementTree.fromstring(svg)
            self.assertTrue(all(each.isprintable() for each in svg.splitlines()), ascii(svg))
            json.loads(self.save("json").decode("ascii"))

    def test_cells_of_csv_are_no_formulas_and_printable(self):
        self.open()
        texts = ["=1+1", "+1", "@x", "-x", "\t=1", " =1", "|cmd", "-3", "2.50", "a,b", 'a"b',
                 "\x1b[2J", "\u202eabc", "\u2066x", "\r\n", "", 7]
        cells = self.browser.driver.execute_async_script(
            "const [texts, done] = arguments;"
            "pageScript('export.js').then(({csvCell}) => done(texts.map(csvCell)));", texts)
        self.assertEqual(
            ["\"'=1+1\"", "\"'+1\"", "\"'@x\"", "\"'-x\"", '"\\u0009=1"', "\"' =1\"",
             "\"'|cmd\"", "-3", "2.50", '"a,b"', '"a""b"', '"\\u001b[2J"', '"\\u202eabc"',
             '"\\u2066x"', '"\\u000d\\u000a"', '""', "7"], cells)

    def test_the_host_is_in_header_and_title(self):
        self.open("web/latency_us")
        host = self.web.api("statistics")["view"]["host"]
        self.browser.shows("#mount", f"{host}:{self.mount.mount}")
        until(lambda: re.match(r"p99 \S+ web/latency_us - " + re.escape(host) + "$",
                               self.browser.run("return document.title")), "the title")


if __name__ == "__main__":
    unittest.main()
