#include "core/tracing/filter/filter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class FilterTest : public EventFixture {
 protected:
  bool matches(EventNumber event, const std::string& text, const std::vector<Given>& given) const {
    const std::string bytes = bytes_of(event, given);
    const auto filter = Filter::compile(text, set.events.format(event));
    EXPECT_TRUE(filter) << text;
    return filter && filter.value().matches(
                         {.event = event, .cpu = 2, .pid = 42, .bytes = bytes, .comm = "bash"});
  }
  // A '^' in the text stands where the fault is.
  void refuses(std::string text, std::string_view reason) const {
    const std::size_t caret = text.find('^');
    if (caret != text.npos) text.erase(caret, 1);
    const auto filter = Filter::compile(text, set.events.format(waking));
    ASSERT_FALSE(filter) << text;
    EXPECT_EQ(filter.error().reason, reason) << text;
    EXPECT_EQ(filter.error().at, caret == text.npos ? 0 : caret) << text;
  }
  // The caret stands that many places behind the end of the text.
  void refuses_behind(const std::string& text, std::size_t places, std::string_view reason) const {
    const auto filter = Filter::compile(text, set.events.format(waking));
    ASSERT_FALSE(filter) << text;
    EXPECT_EQ(filter.error().reason, reason) << text;
    EXPECT_EQ(filter.error().at, text.size() + places) << text;
  }
};

TEST_F(FilterTest, ComparesNumbers) {
  struct Case {
    std::string text;
    bool matches;
  };
  const Case cases[] = {
      {"prio == 10", true},       {"prio != 10", false},      {"prio < 11", true},
      {"prio < 10", false},       {"prio <= 10", true},       {"prio > 9", true},
      {"prio > 10", false},       {"prio >= 10", true},       {"prio & 2", true},
      {"prio & 5", false},        {"prio==0xa", true},        {"prio == 012", true},
      {"target_cpu < 0", true},   {"target_cpu == -1", true}, {"target_cpu > 5", false},
      {"common_pid == 42", true}, {"cpu == 2", true},         {"CPU==1", false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(matches(waking, one.text, {{"prio", 10}, {"target_cpu", -1}}), one.matches)
        << one.text;
  }
}

TEST_F(FilterTest, ComparesUnsignedFieldsWithoutSign) {
  const std::vector<Given> given = {{"bytes_req", -1}, {"gfp_flags", -1}};
  EXPECT_TRUE(matches(kmalloc, "bytes_req > 5", given));
  EXPECT_FALSE(matches(kmalloc, "bytes_req < 0", given));
  EXPECT_TRUE(matches(kmalloc, "bytes_req == -1", given));
  EXPECT_TRUE(matches(kmalloc, "gfp_flags == -1", given)) << "as the field would hold it";
  EXPECT_TRUE(matches(kmalloc, "gfp_flags == 0xffffffff", given));
}

TEST_F(FilterTest, ComparesTexts) {
  const std::vector<Given> given = {{"comm", "kworker/1:2"}};
  EXPECT_TRUE(matches(waking, "comm == \"kworker/1:2\"", given));
  EXPECT_FALSE(matches(waking, "comm == \"kworker\"", given));
  EXPECT_TRUE(matches(waking, "comm != 'bash'", given));
  EXPECT_TRUE(matches(waking, "comm ~ \"kworker*\"", given));
  EXPECT_TRUE(matches(waking, "comm ~ \"*:2\"", given));
  EXPECT_TRUE(matches(waking, "comm ~ \"*work*\"", given));
  EXPECT_TRUE(matches(waking, "comm ~ \"kworker/[0-3]:?\"", given));
  EXPECT_FALSE(matches(waking, "comm ~ \"kworker/[!0-3]:?\"", given));
  EXPECT_TRUE(matches(exec, "filename==\"/usr/bin/wget\"", {{"filename", "/usr/bin/wget"}}));
  EXPECT_TRUE(
      matches(exec, "filename ~ \"*wget\" && comm == \"bash\"", {{"filename", "/usr/bin/wget"}}))
      << "comm of the process where the event has no such field";
}

TEST_F(FilterTest, JoinsAndNegates) {
  const std::vector<Given> given = {{"prio", 10}, {"pid", 7}, {"comm", "x"}};
  EXPECT_TRUE(matches(waking, "prio == 1 || pid == 7 && comm == \"x\"", given));
  EXPECT_FALSE(matches(waking, "(prio == 10 || pid == 7) && comm == \"y\"", given));
  EXPECT_TRUE(matches(waking, "!(prio == 1)", given));
  EXPECT_TRUE(matches(waking, "!(prio == 1 || pid == 8) && !!(comm == \"x\")", given));
  EXPECT_FALSE(matches(waking, "!prio == 10", given));
  EXPECT_TRUE(matches(waking, "((prio>=10&&prio<15)||pid==17)&&comm!=\"bash\"", given));
}

TEST_F(FilterTest, ComparesNumbersOfCpusWithLists) {
  const auto is = [&](const std::string& text, std::int64_t target) {
    return matches(waking, text, {{"target_cpu", target}});
  };
  EXPECT_TRUE(is("target_cpu & CPUS{1}", 1));
  EXPECT_FALSE(is("target_cpu & CPUS{1}", 0));
  EXPECT_TRUE(is("target_cpu & CPUS{17-42}", 42));
  EXPECT_FALSE(is("target_cpu & CPUS{17-42}", 43));
  EXPECT_TRUE(is("target_cpu&CPUS{ 0 , 64-70,130 } && prio == 0", 64));
  EXPECT_FALSE(is("target_cpu & CPUS{0,64-70,130}", 71));
  EXPECT_FALSE(is("target_cpu & CPUS{0-8191}", -1));
  EXPECT_FALSE(is("target_cpu & CPUS{0-8191}", 8192));
  EXPECT_TRUE(is("target_cpu == CPUS{3}", 3));
  EXPECT_FALSE(is("target_cpu == CPUS{3-4}", 3)) << "one CPU is not two";
  EXPECT_TRUE(is("target_cpu != CPUS{3-4}", 3));
  EXPECT_TRUE(is("!(target_cpu & CPUS{3-4})", 5));
  EXPECT_TRUE(is("cpu & CPUS{2}", 0)) << "of the record";
}

TEST_F(FilterTest, ComparesMasksOfCpusWithLists) {
  const std::string format = format_of(
      "ipi", 353, "\tfield:__data_loc cpumask_t cpumask;\toffset:8;\tsize:4;\tsigned:0;\n");
  const auto is = [&](const std::string& text, std::vector<std::uint64_t> mask) {
    std::string bytes(16, '\0');
    const auto where = static_cast<std::uint32_t>(16 | mask.size() * 8 << 16);
    std::memcpy(bytes.data() + 8, &where, sizeof where);
    bytes.append(reinterpret_cast<const char*>(mask.data()), mask.size() * 8);
    const auto filter = Filter::compile(text, parse_event_format(format).value());
    EXPECT_TRUE(filter) << text;
    return filter && filter.value().matches({.bytes = bytes});
  };
  EXPECT_TRUE(is("cpumask & CPUS{1}", {0b110}));
  EXPECT_FALSE(is("cpumask & CPUS{0,3-63}", {0b110}));
  EXPECT_TRUE(is("cpumask & CPUS{64}", {0, 1}));
  EXPECT_FALSE(is("cpumask & CPUS{64}", {1}));
  EXPECT_TRUE(is("cpumask == CPUS{1-2}", {0b110, 0}));
  EXPECT_FALSE(is("cpumask == CPUS{1-2,70}", {0b110}));
  EXPECT_FALSE(is("cpumask == CPUS{1}", {0b110}));
  EXPECT_TRUE(is("cpumask != CPUS{1}", {0b110}));
  EXPECT_EQ(Filter::compile("cpumask == 6", parse_event_format(format).value()).error().reason,
            "A mask of CPUs is compared with a list (CPUS{0-3,8}), by &, == or !=");
}

// Columns and reasons are those of Linux 6.18.
TEST_F(FilterTest, PutsTheCaretBehindTheNameOfAnUnknownField) {
  refuses("foo=^=1", "Field not found");
  refuses("foo ^== 1", "Field not found");
  refuses("foo ^  == 1", "Field not found");
  refuses("(foo=^=1)", "Field not found");
  refuses("prio == 1 && foo=^=1", "Field not found");
  refuses_behind("foo", 1, "Field not found");
}

TEST_F(FilterTest, WantsQuotesAroundTexts) {
  constexpr std::string_view kNoText = "Expecting string field";
  constexpr std::string_view kNoQuotes = "Invalid value (did you forget quotes)?";
  refuses("comm == 3^", kNoText);
  refuses("comm == 3^abc", kNoText);
  refuses("comm == -^x", kNoText);
  refuses("comm < 3^", kNoText);
  refuses("comm == a^bc", kNoQuotes);
  refuses("comm ~ a^bc", kNoQuotes);
  refuses("comm < a^bc", kNoQuotes);
  refuses("comm==/^usr/bin/x", kNoQuotes);
  refuses("comm == (^abc)", kNoQuotes);
  refuses_behind("comm ==", 1, kNoQuotes);
}

TEST_F(FilterTest, EndsANumberBehindItsDigitsAndLetters) {
  constexpr std::string_view kTooMuch = "Too many terms in predicate expression";
  refuses("prio == 3^.5", kTooMuch);
  refuses("prio == 3^;", kTooMuch);
  refuses("prio == 3^|prio == 4", kTooMuch);
  EXPECT_TRUE(matches(waking, "prio==3||prio==4", {{"prio", 4}}));
}

TEST_F(FilterTest, AnOperatorAtTheEndIsRefused) {
  constexpr std::string_view kMeaningless = "Meaningless filter expression";
  for (const std::string begun : {"prio == 3", "(prio == 3)", "prio == 3 || prio == 4",
                                  "!prio == 3", "prio == 3 && prio == 4"}) {
    for (const std::string end : {" &&^", " && ^", "||^", " ||  ^"}) {
      refuses(begun + end, kMeaningless);
    }
  }
  refuses("(prio == 3 || prio == 4 &&^)", kMeaningless);
  refuses("prio == 3 && (prio == 4 ||^)", kMeaningless);
  refuses("prio == 3 &&^||", kMeaningless);
}

TEST_F(FilterTest, SaysWhatOfTheKernelsItHasNot) {
  const std::string_view functions =
      "Functions are not looked up here: compare the address itself (call_site == 0x...)";
  refuses("prio.^function == schedule", functions);
  refuses("prio == 3 && target_cpu.^function != \"schedule\"", functions);
  refuses("prio.^ustring ~ \"x\"",
          "The memory of programs is not read here: compare a text of the record's");
  EXPECT_EQ(Filter::compile("id == 3 && args == 3", set.events.format(sys_enter)).error().reason,
            "This field is neither number nor text");
}

TEST_F(FilterTest, SaysWhatIsWrongAndWhere) {
  refuses("", "No filter found");
  refuses("((prio >= 10 && prio < 15) || dsig ^== 17) && comm != bash", "Field not found");
  refuses("prio #^ 3", "Invalid operator");
  refuses("prio =^ 3", "Invalid operator");
  refuses("prio == 3 ^foo", "Too many terms in predicate expression");
  refuses("^(prio == 3", "Too many '('");
  refuses("prio == 3^)", "Too few '('");
  refuses("comm == ^\"bash", "Missing matching quote");
  refuses("comm == \"" + std::string(256, 'x') + "\"^", "Operand too long");
  refuses("prio == \"^3\"", "Expecting numeric field");
  refuses("comm < \"^a\"", "Illegal operation for field type");
  refuses("prio ~ \"^a\"", "Expecting numeric field");
  refuses("prio ~ 1^", "Illegal operation for field type");
  refuses("prio == -^", "Illegal integer value");
  refuses("prio == 3 && ^(", "Too many '('");
  refuses("^( prio == 3 && (prio == 4)", "Too many '('");
  refuses("prio == 3^x", "Illegal integer value");
  refuses("prio == x^", "Invalid value (did you forget quotes)?");
  refuses("prio == 3 && ^&&", "Meaningless filter expression");
  refuses("(prio == 3 && ^)", "Meaningless filter expression");
  refuses("prio == 3 || prio == 4 && ^", "Meaningless filter expression");
  refuses("target_cpu & CPUS{}^", "Invalid cpulist");
  refuses("target_cpu & CPUS{3-1}^", "Invalid cpulist");
  refuses("target_cpu & CPUS{1,,2}^", "Invalid cpulist");
  refuses("target_cpu & CPUS{8192}^", "Invalid cpulist");
  refuses("target_cpu < C^PUS{1}", "Illegal operation for field type");
  refuses("comm & C^PUS{1}", "Illegal operation for field type");
  refuses_behind("prio ==", 1, "Invalid value (did you forget quotes)?");
  refuses_behind("prio", 1, "Invalid operator");
  refuses_behind("target_cpu & CPUS", 2, "Missing '{'");
  refuses_behind("target_cpu & CPUS{1", 1, "Missing '}'");
  std::string many = "prio == 3";
  for (std::size_t i = 0; i < Filter::kTermsMax; ++i) many += " || prio == 3";
  EXPECT_EQ(Filter::compile(many, set.events.format(waking)).error().reason,
            "Too many terms in predicate expression");
  EXPECT_EQ(Filter::compile(std::string(100, '('), set.events.format(waking)).error().reason,
            "Too many '('");
}

TEST(GlobTest, MatchesAsShellPatternsDo) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "aXXbYYbc"));
  EXPECT_FALSE(glob_matches("a*b*c", "aXXbYY"));
  EXPECT_TRUE(glob_matches("\\*", "*"));
  EXPECT_FALSE(glob_matches("\\*", "x"));
  EXPECT_TRUE(glob_matches("[a-c]x[]y]", "bx]"));
  EXPECT_TRUE(glob_matches("[x", "[x")) << "no class without its end";
  EXPECT_FALSE(glob_matches("?", ""));
}

}  // namespace
}  // namespace tallyfs::tracing
