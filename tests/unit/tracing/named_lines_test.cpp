#include "core/tracing/probe/named_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tallyfs::tracing {
namespace {

struct Lines {
  std::vector<PlaceText> texts;
  Error error;
};
Lines lines_of(const std::string& line, const std::string& found) {
  const auto command = parse_probe_line(line);
  EXPECT_TRUE(command) << line << ": " << command.error().reason;
  const auto& parsed = std::get<ProbeLine>(command.value());
  const auto places = parse_found_places(found);
  EXPECT_TRUE(places) << found;
  auto texts = texts_of(parsed, *parsed.place, *places);
  if (!texts) return {{}, texts.error()};
  return {std::move(texts.value()), {}};
}
std::string made_of(const std::string& line, const std::string& found) {
  const Lines lines = lines_of(line, found);
  std::string text;
  for (const PlaceText& each : lines.texts) text += (text.empty() ? "" : "\n") + each.text;
  return lines.texts.empty() ? lines.error.reason : text;
}

TEST(NamedLinesTest, AreTheKernelsInNumbers) {
  EXPECT_EQ(made_of("p:a /x:f", "x86_64\n4096 0\n"), "/x:0x1000");
  EXPECT_EQ(made_of("p:a /x:f n=%di  s=+0(%si):string", "x86_64\n4096 0\n8192 0\n"),
            "/x:0x1000 n=%di s=+0(%si):string\n/x:0x2000 n=%di s=+0(%si):string");
  EXPECT_EQ(made_of("p:a /x:f%return r=$retval", "x86_64\n4096 0\n"), "/x:0x1000 r=$retval");
}

TEST(NamedLinesTest, ArgumentsOfFunctionsAreInTheirRegisters) {
  const std::string here = "x86_64\n4096 0\n";
  EXPECT_EQ(made_of("p:a /x:f n=$arg1 $arg2", here), "/x:0x1000 n=%di:u64 %si:u64");
  EXPECT_EQ(made_of("p:a /x:f n=$arg6:s32 m=$arg7", here), "/x:0x1000 n=%r9:s32 m=+8(%sp):u64");
  EXPECT_EQ(made_of("p:a /x:f path=+0($arg1):ustring", here), "/x:0x1000 path=+0(%di):ustring");
  EXPECT_EQ(made_of("p:a /x:f n=+8(+0($arg3))", here), "/x:0x1000 n=+8(+0(%dx))");
  EXPECT_EQ(made_of("p:a /x:f n=$arg9", "x86_64 go\n4096 0\n"), "/x:0x1000 n=%r11:u64");
  EXPECT_EQ(made_of("p:a /x:f n=$arg8 m=$arg9", "aarch64\n4096 0\n"),
            "/x:0x1000 n=%x7:u64 m=+0(%sp):u64");
  EXPECT_EQ(made_of("p:a /x:f n=$argument", here), "/x:0x1000 n=$argument")
      << "the kernel says what is wrong";
}

TEST(NamedLinesTest, RefusesAnArgumentThatIsNotThere) {
  const auto refused = [](const std::string& line, const std::string& found) {
    const Lines lines = lines_of(line, found);
    EXPECT_TRUE(lines.texts.empty()) << line;
    const std::size_t at = lines.error.token_at;
    return lines.error.reason + " | " + (at < line.size() ? line.substr(at) : "no place");
  };
  const std::string here = "x86_64\n4096 0\n";
  EXPECT_EQ(refused("p:a /x:f n=$arg0", here), "arguments are counted from 1 to 128 | $arg0");
  EXPECT_EQ(refused("p:a /x:f n=$arg129", here), "arguments are counted from 1 to 128 | $arg129");
  EXPECT_EQ(refused("r:a /x:f n=$arg1", here),
            "a return has no arguments: $retval is there | $arg1");
  EXPECT_EQ(refused("p:a /x:f+4 n=$arg1", here),
            "arguments are known where the function begins | $arg1");
  EXPECT_EQ(refused("p:a /x:f n=$arg1", "i386\n4096 0\n"),
            "$arg1 is not known in this program | $arg1");
  EXPECT_EQ(refused("p:a /x:f n=$arg10", "x86_64 go\n4096 0\n"),
            "$arg10 is not known in this program | $arg10");
}

TEST(NamedLinesTest, AMarkersLineWithoutArgumentsGetsAllThatCanBeFetched) {
  EXPECT_EQ(made_of("p:a /x:app:start", "x86_64\n4096 8194 %di:u64 - \\3:s32\n"),
            "/x:0x1000(0x2002) arg1=%di:u64 arg3=\\3:s32");
  EXPECT_EQ(made_of("p:a /x:app:start", "x86_64\n16 0 %di:u64 %si:s32\n32 0 %ax:u64 %bx:u32\n"),
            "/x:0x10 arg1=%di:u64\n/x:0x20 arg1=%ax:u64")
      << "the second has two types";
  EXPECT_EQ(made_of("p:a /x:app:start n=$arg2:u8", "x86_64\n16 0 - %si:s32\n32 0 - %bx:u32\n"),
            "/x:0x10 n=%si:u8\n/x:0x20 n=%bx:u8");
  EXPECT_EQ(
      lines_of("p:a /x:app:start n=$arg2", "x86_64\n16 0 - %si:s32\n32 0 - %bx:u32\n").error.reason,
      "argument 2 has another type at another place: give one");
  EXPECT_EQ(lines_of("p:a /x:app:start n=$arg1", "x86_64\n16 0 -\n").error.reason,
            "argument 1 of the marker cannot be fetched");
  EXPECT_EQ(lines_of("p:a /x:app:start n=$arg2", "x86_64\n16 0 %di:u64\n").error.reason,
            "the marker has 1 arguments");
}

TEST(NamedLinesTest, ALineThatBecomesTooLongIsRefused) {
  std::string line = "p:a /x:f", text;
  while (line.size() < 4'080) line += " $arg20";
  EXPECT_EQ(lines_of(line, "x86_64\n4096 0\n").error.code, ErrorCode::kTooBig);
}

// The caret of the kernel's refusal comes back to what was written.
TEST(NamedLinesTest, KnowsWhereEachByteCameFrom) {
  const std::string line = "p:a  /bin/x:alpha   n=$arg1  x=%zz";
  const PlaceText made = lines_of(line, "x86_64\n4096 0\n").texts.at(0);
  EXPECT_EQ(made.text, "/bin/x:0x1000 n=%di:u64 x=%zz");
  for (const auto& [here, there] : {std::pair{"/bin", "/bin"},
                                    {"0x1000", "alpha"},
                                    {"n=", "n="},
                                    {"%di", "$arg1"},
                                    {"u64", "$arg1"},
                                    {"%zz", "%zz"}}) {
    EXPECT_EQ(made.byte_of(made.text.find(here)), line.find(there)) << here;
  }
  EXPECT_EQ(made.byte_of(made.text.size()), line.size());
  EXPECT_EQ(made.byte_of(9'999), line.size());
}

TEST(FoundPlacesTest, ComeBackAsTheyWerePrinted) {
  const FoundPlaces found{
      .machine = ElfMachine::kAarch64,
      .is_go = true,
      .places = {{.offset = 16, .reference = 7, .arguments = {{"%x0", "u64"}, {}}},
                 {.offset = 32}}};
  EXPECT_EQ(print(found), "aarch64 go\n16 7 %x0:u64 -\n32 0\n");
  EXPECT_EQ(print(parse_found_places(print(found)).value()), print(found));
  for (const char* const text : {"", "x86_64\n", "vax\n1 0\n", "x86_64 rust\n1 0\n", "x86_64\n1\n",
                                 "x86_64\n1 0 %di\n", "x86_64\nx 0\n", "x86_64\n1 0 \x80:u8\n"}) {
    EXPECT_FALSE(parse_found_places(text)) << text;
  }
}

}  // namespace
}  // namespace tallyfs::tracing
