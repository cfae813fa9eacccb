"""The rules by which pages are read and output is compared."""
import unittest

import pages

PAGE = """# Title

<!-- replay: needs root -->
<!-- replay: any numbers -->
```console
$ echo one \\
>   two
one two
$ true
```

A [link](other.md#its-heading), `[no](link)` and [another](https://example.org).

<img src="a.png">

```console
$ cat data
```
"""


class BlocksTest(unittest.TestCase):
    def test_finds_commands_with_their_output(self):
        first, second = pages.blocks_of("page.md", PAGE)
        self.assertEqual([("echo one \\\n  two", ["one two"]), ("true", [])],
                         [(each.text, each.output) for each in first.commands])
        self.assertEqual("cat data", second.commands[0].text)

    def test_rules_are_of_the_block_behind_them_alone(self):
        first, second = pages.blocks_of("page.md", PAGE)
        self.assertEqual("root", first.rule("needs"))
        self.assertTrue(first.any_numbers)
        self.assertIsNone(second.rule("needs"))
        self.assertFalse(second.any_numbers)

    def test_refuses_output_without_a_command(self):
        with self.assertRaises(ValueError):
            pages.commands_of("output\n$ true\n")


class MatchesTest(unittest.TestCase):
    def assert_matches(self, expected, wanted, got, any_numbers=False):
        self.assertEqual(expected, pages.matches(wanted, got, any_numbers))

    def test_compares_line_by_line(self):
        self.assert_matches(True, ["a 1", "b"], ["a 1", "b"])
        self.assert_matches(False, ["a 1", "b"], ["a 2", "b"])
        self.assert_matches(False, ["a 1"], ["a 1", "b"])
        self.assert_matches(False, ["a 1", "b"], ["a 1"])

    def test_a_time_stands_for_any_time(self):
        self.assert_matches(True, ["x [1.000001] 5"], ["x [77.123456] 5"])
        self.assert_matches(False, ["x [1.000001] 5"], ["x [77.123456] 6"])
        self.assert_matches(False, ["x [1.000001] 5"], ["x 77.123456 5"])

    def test_a_token_stands_for_any_token(self):
        self.assert_matches(True, ["#token=" + "0a" * 32], ["#token=" + "9f" * 32])
        self.assert_matches(False, ["#token=" + "0a" * 32], ["#token=" + "9f" * 31])
        self.assert_matches(False, ["#token=" + "0a" * 31], ["#token=" + "9f" * 31])

    def test_numbers_vary_only_where_the_page_says_so(self):
        self.assert_matches(True, ["n   1 -2.5 us"], ["n 23 4 us"], any_numbers=True)
        self.assert_matches(False, ["n 1 us"], ["n 23 ms"], any_numbers=True)
        self.assert_matches(False, ["n 1 us"], ["n us"], any_numbers=True)
        self.assert_matches(True, ["p50 1.1ms p99 4ms (3.99-4.00)"], ["p50 2.0ms (1.9-2)   p99 2ms"],
                            any_numbers=True)

    def test_dots_stand_for_any_lines(self):
        self.assert_matches(True, ["first", "...", "last"], ["first", "last"])
        self.assert_matches(True, ["first", "...", "last"], ["first", "a", "b", "last"])
        self.assert_matches(False, ["first", "...", "last"], ["first", "a", "b"])


class LinksTest(unittest.TestCase):
    def test_finds_links_to_files_only(self):
        self.assertEqual(["other.md#its-heading", "a.png"], pages.links_of(PAGE))

    def test_finds_the_last_heading(self):
        self.assertEqual("b", pages.last_heading("# x\n## a\n## b\n```sh\n## no\n```\n### c\n"))
        self.assertEqual("", pages.last_heading("# x\n"))

    def test_makes_anchors_of_headings(self):
        self.assertEqual({"title", "whats-new-in-01"},
                         pages.anchors_of("# Title\n\n## What's new in 0.1\n"))


if __name__ == "__main__":
    unittest.main()
