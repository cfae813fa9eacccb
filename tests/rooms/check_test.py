"""Each check fails on a bad sample, and passes the good one beside it."""
import sys
import unittest

from cpp import heads, parameters, without_comments
from drawing import block, cycles, drawing_faults, room_of
from fence import fence_faults
from functions import constructor_faults, length_faults, python_functions, shell_functions
from includes import include_faults
from lengths import file_length_faults
from libraries import library_faults, read
from missing_includes import missing_faults
from python_imports import outside_faults
from sources import File
from style import by_folder, ceiling_faults, wide_lines, words
from system_headers import header_faults, opening_faults

ARROWS = {"core/base": set(), "core/wire": {"core/base"}}


class DrawingTest(unittest.TestCase):
    def test_a_block_is_read_as_rooms_and_their_targets(self):
        page = "# Page\n```arrows\ncore/base ->\ncore/wire -> core/base\n```\n"
        self.assertEqual(block(page, "arrows"), ARROWS)

    def test_a_page_without_the_block_ends_the_check(self):
        with self.assertRaises(SystemExit):
            block("# Page\n", "arrows")

    def test_a_file_belongs_to_the_longest_room_that_holds_it(self):
        self.assertEqual(room_of("core/stats3/branch/a.h", ["core/branch", "core/stats3/branch"]),
                         "core/stats3/branch")
        self.assertIsNone(room_of("core/branching/a.h", ["core/branch"]))

    def test_a_cycle_is_found(self):
        self.assertEqual(list(cycles(ARROWS)), [])
        self.assertEqual(len(list(cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}}))), 1)

    def test_rooms_drawn_exist_and_rooms_that_exist_are_drawn(self):
        folders = {"core/base", "core/wire"}
        self.assertEqual(list(drawing_faults(ARROWS, folders, folders)), [])
        self.assertIn("does not exist", *drawing_faults(ARROWS, {"core/base"}, set()))
        self.assertIn("is not drawn", *drawing_faults(ARROWS, folders, {"core/new"}))
        self.assertIn("is no room", *drawing_faults({"core/base": {"core/gone"}}, folders, set()))


class FenceTest(unittest.TestCase):
    def faults(self, room, target, exceptions=()):
        return list(fence_faults({room: {target}}, exceptions))

    def test_tools_exporters_and_feeders_speak_public_interfaces(self):
        self.assertEqual(self.faults("tools/ctl", "core/base"), [])
        self.assertEqual(self.faults("exporters/web", "tools/tree"), [])
        self.assertEqual(self.faults("feeders/kernel", "core/wire"), [])
        self.assertIn("no public interface", *self.faults("tools/ctl", "core/wire"))
        self.assertIn("no public interface", *self.faults("feeders/statsd/series", "core/sums"))

    def test_an_exception_is_drawn(self):
        exceptions = {("tools/ctl", "core/wire"): "as a test"}
        self.assertEqual(self.faults("tools/ctl", "core/wire", exceptions), [])
        self.assertIn("not drawn any more", *self.faults("tools/ctl", "core/base", exceptions))

    def test_wings_do_not_include_one_another(self):
        self.assertEqual(self.faults("core/stats3/branch", "core/stats3/blob"), [])
        self.assertIn("from wing to wing", *self.faults("core/stats3/branch", "core/tracing/set"))


class IncludesTest(unittest.TestCase):
    USES = File("core/wire/a.h", '#include "core/base/b.h"\n')

    def test_an_include_follows_an_arrow(self):
        self.assertEqual(list(include_faults([self.USES], ARROWS)), [])
        up = File("core/base/b.h", '#include "core/wire/a.h"\n')
        self.assertIn("core/base -> core/wire is not drawn", *include_faults([self.USES, up], ARROWS))

    def test_an_arrow_is_used(self):
        self.assertIn("no file includes it", *include_faults([], ARROWS))

    def test_a_source_stands_in_a_room(self):
        self.assertIn("no room", *include_faults([self.USES, File("core/c.h", "")], ARROWS))

    def test_public_headers_are_a_room(self):
        arrows = {"include/tally": set(), "core/stats3/blob": {"include/tally"}}
        file = File("core/stats3/blob/a.h", "#include <tally/stats.h>\n")
        self.assertEqual(list(include_faults([file], arrows)), [])


class MissingIncludesTest(unittest.TestCase):
    HOME = File("core/base/b.h", "namespace tallyfs {\nclass Thing {\n};\n}\n")
    THROUGH = File("core/wire/a.h", '#include "core/base/b.h"\nstruct Other {\n};\n')

    def faults(self, text, path="core/wire/c.cpp"):
        return list(missing_faults([self.HOME, self.THROUGH, File(path, text)]))

    def test_a_type_is_reached_by_an_include_or_through_one(self):
        self.assertEqual(self.faults('#include "core/base/b.h"\nThing it;\n'), [])
        self.assertEqual(self.faults('#include "core/wire/a.h"\nThing it;\n'), [])
        self.assertEqual(self.faults('#include "a.h"\nThing it;\n'), [])
        self.assertIn("names Thing without core/base/b.h", *self.faults("Thing it;\n"))

    def test_a_type_may_be_declared_or_be_in_a_comment(self):
        self.assertEqual(self.faults("class Thing;\nThing* it;\n"), [])
        self.assertEqual(self.faults("// Thing\nint it;\n"), [])

    def test_a_name_of_the_standard_needs_its_header(self):
        self.assertEqual(self.faults("#include <vector>\nstd::vector<int> it;\n"), [])
        self.assertIn("std::vector without <vector>", *self.faults("std::vector<int> it;\n"))


class SystemHeadersTest(unittest.TestCase):
    def faults(self, path, header):
        table = {"*.h": {"fs"}, "unistd.h": {"core/base/fd.h", "fs"}}
        users = [File("fs/a.h", "#include <poll.h>\n#include <unistd.h>\n")]
        return list(header_faults(users + [File(path, f"#include <{header}>\n")], table, ARROWS))

    def test_the_longest_pattern_decides(self):
        self.assertEqual(self.faults("fs/b.h", "sys/socket.h"), [])
        self.assertEqual(self.faults("core/base/fd.h", "unistd.h"), [])
        self.assertIn("is for", *self.faults("core/base/a.h", "unistd.h"))
        self.assertIn("is for", *self.faults("core/base/a.h", "sys/socket.h"))

    def test_headers_of_the_standard_need_no_line_unless_they_open_files(self):
        self.assertEqual(self.faults("core/base/a.h", "vector"), [])
        self.assertIn("has no line", *self.faults("core/base/a.h", "fstream"))

    def test_a_line_that_nothing_needs_is_a_fault(self):
        self.assertIn("no file includes", *header_faults([], {"poll.h": {"fs"}}, ARROWS))

    def test_core_opens_no_file(self):
        for call in ("int fd = ::open(path, 0);", "std::ifstream in(path);", "fopen(path, mode)"):
            self.assertEqual(len(list(opening_faults([File("core/base/a.cpp", call)]))), 1, call)
            self.assertEqual(list(opening_faults([File("fs/a.cpp", call)])), [])
        good = "open(index); // ::open(path)\nReader::open(bytes);\nstd::string s = \"fopen(\";"
        self.assertEqual(list(opening_faults([File("core/base/a.cpp", good)])), [])


def body(lines):
    return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"


class CppTest(unittest.TestCase):
    def functions(self, text):
        return [(head.name, head.lines) for head in heads(text) if head.last_line]

    def test_comments_and_strings_keep_their_lines(self):
        text = 'a /* { \n } */ b("{", \'}\', 1\'000); // }\nR"x({\n{)x"'
        self.assertEqual(without_comments(text).count("\n"), text.count("\n"))
        self.assertNotIn("{", without_comments(text))

    def test_functions_are_found_in_namespaces_and_classes(self):
        text = ("namespace a {\nclass B final : public C {\n public:\n  B() : x_{1}, y_(2) {}\n"
                "  int get() const noexcept {\n    return x_;\n  }\n};\n"
                "template <typename T = int>\nauto d(T t = {}) -> int {\n  if (t) {\n  }\n}\n}\n")
        self.assertEqual(self.functions(text), [("B", 1), ("get", 3), ("d", 5)])

    def test_initializers_are_no_functions(self):
        text = ("constexpr int kX[] = {1, 2};\nFoo foo{f(1)};\nenum class E { kA };\n"
                "auto l = [](int) {};\n")
        self.assertEqual(self.functions(text), [])

    def test_an_operator_and_a_test_are_functions(self):
        text = "bool operator==(const A& a) {\n}\nvoid operator()() {}\nTEST(A, B) {\n}\n"
        self.assertEqual([lines for _, lines in self.functions(text)], [2, 1, 2])

    def test_a_class_with_an_attribute_of_locks_is_a_class(self):
        text = 'class CAPABILITY("mutex") Lock {\n  void take() ACQUIRE() {\n  }\n};\n'
        self.assertEqual(self.functions(text), [("take", 2)])

    def test_parameters_are_counted_at_depth_0(self):
        head = "explicit A(std::map<int, int> m, B b = f(1, 2), C c = {1, 2})"
        self.assertEqual(len(parameters(head)), 3)
        self.assertEqual(parameters("A(void)"), [])


class FunctionsTest(unittest.TestCase):
    def test_a_function_has_at_most_50_lines(self):
        self.assertEqual(list(length_faults([File("core/a.cpp", body(50))])), [])
        self.assertIn("f has 51 lines", *length_faults([File("core/a.cpp", body(51))]))

    def test_functions_of_python_and_the_shell_are_measured(self):
        self.assertEqual(list(python_functions("class A:\n  def f(self):\n    return 1\n")),
                         [("f", 2, 2)])
        self.assertEqual(list(shell_functions("a() { b; }\nf() {  # why\n  g\n}\n")), [("f", 2, 3)])
        here = "f() {\n  py <<'EOT' | g\n" + "x\n" * 50 + "EOT\n  g\n}\n"
        self.assertEqual(list(length_faults([File("tests/a.sh", here)])), [])
        long = "f() {\n" + "  g\n" * 50 + "}\n"
        self.assertIn("f has 52 lines", *length_faults([File("tests/a.sh", long)]))

    def test_a_constructor_has_at_most_5_parameters(self):
        def faults(count):
            parameters_text = ", ".join(f"int p{i}" for i in range(count))
            text = (f"class A {{\n public:\n  explicit A({parameters_text});\n"
                    f"  void a({parameters_text}, int);\n}};\n")
            return list(constructor_faults([File("core/a.h", text)]))
        self.assertEqual(faults(5), [])
        self.assertIn("the constructor of A has 6 parameters", *faults(6))


class LengthsTest(unittest.TestCase):
    def faults(self, path, lines, first="// A file.\n"):
        return list(file_length_faults([File(path, first + "x\n" * (lines - 1))]))

    def test_a_long_file_says_why(self):
        self.assertEqual(self.faults("core/a.cpp", 400), [])
        self.assertIn("header has no sentence", *self.faults("core/a.cpp", 401))
        self.assertEqual(self.faults("core/a.cpp", 600, "// Longer than most: a table.\n"), [])

    def test_past_600_lines_no_reason_helps(self):
        for path in ("core/a.cpp", "tests/a.py", "tests/a.sh"):
            self.assertIn("is split", *self.faults(path, 601, "// Longer than most: a table.\n"))

    def test_pages_have_bounds_of_their_own(self):
        self.assertEqual(self.faults("docs/a.md", 200), [])
        self.assertIn("at most 200", *self.faults("docs/a.md", 201))
        self.assertIn("at most 150", *self.faults("README.md", 151))


class LibrariesTest(unittest.TestCase):
    BASE = "tally_room(tally_base Threads::Threads)\n"

    def faults(self, wire, arrows):
        return list(library_faults(read({"core/base": self.BASE, "core/wire": wire}), arrows))

    def test_links_and_arrows_agree(self):
        self.assertEqual(self.faults("tally_room(tally_wire tally_base)\n", ARROWS), [])
        self.assertIn("draws no arrow", *self.faults(
            "tally_room(tally_wire tally_base)\n", {"core/base": set(), "core/wire": set()}))
        self.assertIn("is not linked", *self.faults("tally_room(tally_wire)\n", ARROWS))

    def test_programs_of_a_room_count_as_the_room(self):
        program = "add_executable(wire main.cpp)\ntarget_link_libraries(wire PRIVATE tally_base)\n"
        self.assertEqual(self.faults(program, ARROWS), [])


class PythonImportsTest(unittest.TestCase):
    def test_other_files_import_what_every_python_has(self):
        beside = File("tests/a/stand.py", "import os, tally\n")
        self.assertEqual(list(outside_faults([beside, File("tests/a/b.py", "import stand\n")])), [])
        self.assertIn("imports numpy", *outside_faults([File("tests/a.py", "import numpy.linalg\n")]))
        self.assertIn("imports stand", *outside_faults([beside, File("tests/b.py", "import stand\n")]))


class StyleTest(unittest.TestCase):
    def test_words_are_counted_in_comments_only(self):
        file = File("core/a.cpp", "// Nobody knows.\nint who = 1;\n/* whom */\n * who\nint nobody;\n")
        self.assertEqual(words(file), 3)
        self.assertEqual(words(File("tests/a.sh", "w" "ho\n# w" "ho\n")), 1)

    def test_lines_of_more_than_100_columns_are_counted(self):
        wide = "x" * 101
        self.assertEqual(list(wide_lines(File("core/a.cpp", wide + "\n" + wide[1:]))), [1])
        page = f"{wide}\n```\n{wide}\n```\n| {wide}\nhttps://{wide}\n"
        self.assertEqual(list(wide_lines(File("docs/a.md", page))), [1])

    def test_a_count_above_the_ceiling_is_a_fault(self):
        counts = by_folder([File("core/a.cpp", "// who\n"), File("core/b.cpp", "// whom\n")], words)
        self.assertEqual(list(ceiling_faults("words", counts, 2)), [])
        self.assertEqual(list(ceiling_faults("words", counts, 1))[1].split(), ["2", "core"])


if __name__ == "__main__":
    sys.exit(unittest.main())
