"""Each check fails on a bad sample, and passes the good one beside it."""
import sys
import unittest

from cpp import heads, parameters, without_comments
from drawing import block, cycles, drawing_faults, room_of
from fence import fence_faults
from constructors import constructor_faults
from includes import include_faults
from lengths import page_length_faults
from libraries import library_faults, read
from missing_includes import missing_faults
from namespaces import namespace_faults
from own_numbers import own_number_faults
from python_imports import outside_faults
from sources import File
from style import by_folder, ceiling_faults, wide_lines
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


class NamespacesTest(unittest.TestCase):
    def faults(self, path, text):
        return list(namespace_faults([File(path, text)]))

    def test_a_file_of_a_wing_is_in_its_namespace(self):
        wing = "core/stats3/blob/a.h"
        self.assertEqual(self.faults(wing, "namespace tallyfs::stats3 {\n"), [])
        self.assertEqual(self.faults(wing, "namespace tallyfs::stats3::blob {\n"), [])
        self.assertIn("not its wing's", *self.faults(wing, "namespace tallyfs {\nclass A;\n"))
        self.assertIn("not its wing's", *self.faults(wing, "namespace tallyfs::stats3rd {\n"))

    def test_a_file_outside_of_a_wing_does_not_open_its_namespace(self):
        self.assertEqual(self.faults("fs/a.h", "namespace tallyfs {\n"), [])
        self.assertIn("of a wing", *self.faults("fs/a.h", "namespace tallyfs::tracing {\n"))


class OwnNumbersTest(unittest.TestCase):
    HEADER = '{"a", kCount, "x", "all a"},\n{"b", kLast, "x/y", "b " "were", "b was", "wait"},'
    LIST = "* `a`: all a.\n* `b`: b were; wait.\n"

    def faults(self, entries):
        page = "# Page\n\n## The numbers\n\n" + entries + "\nMore.\n"
        return list(own_number_faults(self.HEADER, page))

    def test_the_page_lists_the_rows_of_the_header(self):
        self.assertEqual(self.faults(self.LIST), [])
        self.assertIn("differs", *self.faults(self.LIST.replace("wait", "hurry")))
        self.assertIn("differs", *self.faults(""))

    def test_a_page_without_a_list_is_a_fault(self):
        self.assertIn("no list", *own_number_faults(self.HEADER, "# Page\n"))


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


class ConstructorsTest(unittest.TestCase):
    def test_a_constructor_has_at_most_5_parameters(self):
        def faults(count):
            parameters_text = ", ".join(f"int p{i}" for i in range(count))
            text = (f"class A {{\n public:\n  explicit A({parameters_text});\n"
                    f"  void a({parameters_text}, int);\n}};\n")
            return list(constructor_faults([File("core/a.h", text)]))
        self.assertEqual(faults(5), [])
        self.assertIn("the constructor of A has 6 parameters", *faults(6))


class LengthsTest(unittest.TestCase):
    def faults(self, path, lines):
        return list(page_length_faults([File(path, "x\n" * lines)]))

    def test_pages_have_bounds(self):
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
    def test_lines_of_more_than_100_columns_are_counted(self):
        wide = "x" * 101
        self.assertEqual(list(wide_lines(File("core/a.cpp", wide + "\n" + wide[1:]))), [1])
        page = f"{wide}\n```\n{wide}\n```\n| {wide}\nhttps://{wide}\n"
        self.assertEqual(list(wide_lines(File("docs/a.md", page))), [1])

    def test_a_count_above_the_ceiling_is_a_fault(self):
        files = [File("core/a.cpp", "a\n"), File("core/b.cpp", "b\n")]
        counts = by_folder(files, lambda file: len(file.lines))
        self.assertEqual(list(ceiling_faults("lines", counts, 2)), [])
        self.assertEqual(list(ceiling_faults("lines", counts, 1))[1].split(), ["2", "core"])


if __name__ == "__main__":
    sys.exit(unittest.main())
