"""tests/bench/tables: a page has the tables of what was measured, and keeps the others."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

SCRIPT = str(pathlib.Path(__file__).parent / "tables")
loader = importlib.machinery.SourceFileLoader("tables", SCRIPT)
tables = importlib.util.module_from_spec(importlib.util.spec_from_loader("tables", loader))
loader.exec_module(tables)

FIGURES = """# Commit abc, on a machine.
lanes\t1,000\tus an open\t1154.2
lanes\t1,000\tns a cell\t9.876
lanes\t2,000\tns a cell\t0.5
"""
PAGE = """Before.

<!-- bench: lanes lanes -->
| lanes | old |
<!-- bench: end -->

<!-- bench: readers readers -->
| readers | old |
<!-- bench: end -->
"""


class TablesTest(unittest.TestCase):
    def test_a_table_is_written_anew_and_says_its_commit(self):
        page, _ = tables.rewritten(PAGE, *tables.read(FIGURES.splitlines()))
        self.assertEqual(page.split("<!-- bench: readers")[0], """Before.

<!-- bench: lanes lanes -->
| lanes | us an open | ns a cell |
|---|---|---|
| 1,000 | 1,154 | 9.88 |
| 2,000 |  | 0.5 |

Commit abc, on a machine.
<!-- bench: end -->

""")

    def test_a_table_that_was_not_measured_stays_and_is_named(self):
        page, missing = tables.rewritten(PAGE, *tables.read(FIGURES.splitlines()))
        self.assertIn("| readers | old |\n<!-- bench: end -->", page)
        self.assertEqual(missing, ["readers"])

    def test_a_page_that_was_written_is_written_alike_again(self):
        figures = tables.read(FIGURES.splitlines())
        page, _ = tables.rewritten(PAGE, *figures)
        self.assertEqual(tables.rewritten(page, *figures)[0], page)


if __name__ == "__main__":
    unittest.main()
