"""Statistics of a family are added up over their labels, as tallyctl does it."""
import subprocess
import time
import unittest

from page_case import COLOURS, CONTRAST, PageCase
from page_fixture import BIN, Web, need_store, record, until

CART = "latency{route:%2Fcart}"
ARRAY = "type=array scale=log2 base_interval=1 range_min=0 range_max=1048576"


class FamilyPageTest(PageCase):
    def setUp(self):
        super().setUp()
        units = "units=microseconds/requests"
        self.mount.send(
            f"create shop/latency{{route:/cart,code:200}} on=1 {ARRAY} {units}",
            f"create shop/latency{{route:/cart,code:500}} on=1 {ARRAY} {units}",
            f"create shop/latency{{route:/,code:200}} on=1 {ARRAY} {units}",
            f"create shop/latency{{route:/,code:404}} on=1 type=range {units}",
            "create shop/queue{route:/} on=1 type=last",
            "create shop/hits{route:/cart,code:200} on=1",
            "create shop/hits{route:/cart,code:500} on=1")
        self.addCleanup((self.mount.mount / "statistics/shop").rmdir)
        self.feed_shop()

    def feed_shop(self):
        cart = "{route:/cart,code:200}"
        self.mount.send(f"shop/latency{cart} 12", f"shop/latency{cart} 40", f"shop/hits{cart} 1",
                        "shop/latency{route:/,code:200} 3", "shop/queue{route:/} 7",
                        "shop/latency{route:/cart,code:500} 900",
                        "shop/hits{route:/cart,code:500} 1")

    def shown(self):
        return self.browser.texts("#statistic-table tbody button")

    def add_up(self, statistic="shop"):
        self.open(statistic)
        until(lambda: self.browser.run(
            "return [...document.querySelectorAll('#add-up-box:not([hidden]) option')]"
            ".map(each => each.text)") == ["no label", "code", "route"], "the labels")
        self.browser.choose("#add-up", "route")
        self.browser.shows("#statistic-heading", "shop by route")

    def test_adds_up_over_all_labels_but_the_chosen_one(self):
        self.add_up()
        until(lambda: self.shown() == ["latency{route:/cart}", "latency{route:/}",
                                       "hits{route:/cart}"], "the sums")
        self.browser.shows("#shown-name", "shop / latency{route:/cart}")
        self.browser.shows("#sum-note", "Sum of 2 statistics, over all labels but route: "
                           "latency{code:200,route:/cart}, latency{code:500,route:/cart}.")
        self.assertIsNone(self.browser.text("#definition"), "a sum has no definition")
        self.assertEqual("#s=shop/latency%7Broute:%252Fcart%7D&by=route",
                         self.browser.run("return location.hash"))
        # Back is a step each.
        self.browser.run("history.back()")
        until(lambda: "latency{code:200,route:/cart}" in self.shown(), "statistics")
        self.assertIsNone(self.browser.text("#sum-note"))
        self.browser.shows("#definition-title", "Definition")

    def test_what_does_not_add_up_is_named_with_its_reason(self):
        self.add_up()
        self.browser.shows("#in-no-sum", "In no sum: latency{code:404,route:/} (its type is range, "
                           "not array), queue{route:/} (type=last does not add up).")
        self.browser.run("[...document.querySelectorAll('#statistic-table button')]"
                         ".find(e => e.textContent === 'latency{route:/}').click()")
        self.browser.shows("#sum-note", "Only one statistic has this route: "
                           "latency{code:200,route:/}. Left out: latency{code:404,route:/} "
                           "(its type is range, not array).")

    def test_sums_are_those_of_tallyctl(self):
        self.mount.stop_feeding()
        table = subprocess.run(
            [BIN / "tallyctl", "--mount", self.mount.mount, "show", "--by", "route", "--csv",
             "shop"], check=True, capture_output=True, text=True).stdout
        rows = self.web.api("statistics/shop?label=route&statistic=")["view"]["rows"]
        self.assertEqual(3, len(rows), rows)
        self.add_up("shop/latency{route:/cart,code:200}")
        self.browser.click("#counted-choice [value=total]")
        self.browser.shows("#bars-of", "3 requests")
        for name, count in (("shop/latency{route:/cart}", 3), ("shop/latency{route:/}", 1),
                            ("shop/hits{route:/cart}", 2)):
            line = next((each for each in table.splitlines() if name in each), table)
            self.assertIn(str(count), line.replace('"', "").split(","), table)

    def test_a_sum_has_a_map_and_a_line_over_time_and_in_a_span(self):
        self.open(f"shop/{CART.replace('%', '%25')}&by=route")
        path = f"heat/shop/{CART.replace('%', '%25')}?label=route&seconds=60"
        until(lambda: self.feed_shop() or sum(map(sum, self.web.api(path)["counts"])), "samples")
        until(lambda: self.browser.run(COLOURS) >= 1, "a heat map of the sum")
        heat = self.web.api(path)
        self.assertEqual((2, 2), (heat["parts"], heat["parts_read"]))
        counted = sum(map(sum, heat["counts"]))
        begin, end = heat["end_us"][0] - 1_000_000, heat["end_us"][-1] + 1_000_000
        span = self.web.api(f"span/shop?label=route&from={begin}&to={end}&statistic=" +
                            CART.replace("%", "%25"))["statistics"][0]
        self.assertGreaterEqual(span["samples"], counted)
        self.assertEqual(0, span["samples"] % 3, "both of its statistics are in it")
        self.browser.click("#window-choice [value='300']")
        self.browser.run("[...document.querySelectorAll('#statistic-table button')]"
                         ".find(e => e.textContent === 'hits{route:/cart}').click()")
        until(lambda: self.browser.run(
            "return document.querySelector('#series .curve')?.getAttribute('d')"), "a line")
        self.browser.shows("#sum-note", "Sum of 2 statistics")

    def test_a_sum_without_a_past_says_why(self):
        arrays = [f"create many/a{i} on=1 {ARRAY}" for i in range(64)]
        self.mount.send(*arrays, *(f"create many/us{{route:/,code:{code}}} on=1 {ARRAY}"
                                   for code in (200, 500)))
        self.addCleanup((self.mount.mount / "statistics/many").rmdir)
        self.open("many/us%7Broute:%252F%7D&by=route")
        self.browser.shows("#parts-note", "Over time it adds up none of its 2 statistics: tally-"
                           "web keeps no past of them.")

    def test_a_sum_of_before_comes_from_the_store(self):
        need_store()
        store, begin = self.mount.folder / "store", int(time.time())
        recorder = subprocess.Popen([BIN / "tallyctl", "--mount", self.mount.mount, "record",
                                     "--store", store, "--count", "3"])
        until(lambda: self.feed_shop() or recorder.poll() is not None, "its end")
        web = Web(self.mount, "--store", store)
        self.addCleanup(web.end)
        times = f"from={begin}000000&to={int(time.time()) + 1}000000"
        name = CART.replace("%", "%25")
        span = web.api(f"span/shop?label=route&{times}&statistic={name}")
        self.assertEqual("store", span["from"])
        samples = span["statistics"][0]["samples"]
        self.assertGreater(samples, 0)
        heat = web.api(f"heat/shop/{name}?label=route&{times}")
        self.assertEqual((2, 2), (heat["parts"], heat["parts_read"]))
        self.assertEqual(samples, sum(map(sum, heat["counts"])))
        parts = [web.api(f"span/shop?{times}&statistic=latency%7Bcode:{code},route:%252Fcart%7D")
                 ["statistics"][0]["samples"] for code in (200, 500)]
        self.assertEqual(samples, sum(parts))

    def test_a_sum_of_more_than_a_store_is_read_for_says_so(self):
        self.mount.send(*(f"create wide/us{{route:/,code:{code}}} on=1 {ARRAY}"
                          for code in range(100, 166)))
        self.addCleanup((self.mount.mount / "statistics/wide").rmdir)
        store, begin = self.mount.folder / "wide", int(time.time())
        record(self.mount, store, 3)
        web = Web(self.mount, "--store", store)
        self.addCleanup(web.end)
        times = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(each))
                 for each in (begin, time.time() + 1)]
        self.browser.open(f"{web.page('wide/us%7Broute:%252F%7D')}&by=route&from={times[0]}"
                          f"&to={times[1]}")
        self.browser.shows("#parts-note", "Over time it adds up 64 of its 66 statistics: 2 are "
                           "too many to be read from the store.")

    def test_labels_are_shown_and_typed_as_people_read_them(self):
        name = "calls{q:%22a%2Cb%22,route:/x}"
        self.mount.send('create shop/calls{q:"a,b",route:/x} on=1')
        stored = "calls{q:a%2Cb,route:%2Fx}"
        until(lambda: stored in [row["name"] for row in
                                 self.web.api("statistics/shop?statistic=")["view"]["rows"]], "it")
        # As a person types it.
        self.browser.open(self.web.page(f"shop/{name}"))
        self.browser.shows("#shown-name", 'shop / calls{q:"a,b",route:/x}')
        until(lambda: 'calls{q:"a,b",route:/x}' in self.shown(), "the row")
        until(lambda: 'calls{q:"a,b",route:/x}' in self.browser.run("return document.title"),
              "the title")
        self.browser.type("#filter", "route:/x")
        until(lambda: self.browser.texts("#found-list button") ==
              ['shop/calls{q:"a,b",route:/x}'], "it is found")
        self.browser.press("Escape", "#filter")

    def test_another_label_than_there_is_is_told(self):
        self.browser.open(self.web.page("shop&by=colour"))
        self.browser.shows("#nothing-text", "there is no label 'colour'; the labels are code route")
        self.expects_status(404)

    def test_pictures_of_sums(self):
        for width, height in ((1280, 800), (320, 900)):
            for theme in ("dark", "light"):
                with self.subTest(width=width, theme=theme):
                    self.browser.size(width, height)
                    self.open(f"shop/{CART.replace('%', '%25')}&by=route")
                    self.browser.choose("#theme", theme)
                    until(lambda: self.feed_shop() or self.browser.run(COLOURS) >= 2, "a map")
                    if width < 500:
                        self.browser.click("#lists-button")
                        until(lambda: self.shown(), "the list")
                    self.browser.picture(f"sums-{theme}-{width}")
                    self.assertEqual([], self.browser.run(CONTRAST))
                    self.assertLessEqual(
                        self.browser.run("return document.documentElement.scrollWidth"), width)


if __name__ == "__main__":
    unittest.main()
