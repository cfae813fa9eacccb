// From lines to samples: matching, names, numbers, filters, times, bounds.
#include "feeders/log/rules/line_reader.h"

#include <gtest/gtest.h>

#include <array>

#include "feeders/log/rules/rule_expression.h"
#include "tests/unit/log/recording_outlet.h"
#include "tests/unit/random.h"

namespace tallyfs::logs {
namespace {

struct Fixture {
  explicit Fixture(const std::string& text, std::size_t per_name_max = 1'000,
                 std::size_t series_max = 16'000)
      : book(SeriesBounds({series_max, per_name_max}), outlet),
        reader(rules(text), book, outlet, counts, [this](std::string_view, const Refusal& refusal) {
          refused += std::string(name_of(refusal.reason)) + ":" + std::string(refusal.value) + " ";
        }) {
    reader.set_now({std::chrono::hours(1'000), std::chrono::seconds(1'700'000'000)});
  }
  static Rules rules(const std::string& text) {
    auto rules = parse_rules(text, {});
    if (!rules) ADD_FAILURE() << to_text(rules.error());
    return rules ? rules.value() : Rules();
  }
  std::string operator()(std::string_view line) {
    reader.take(line, {});
    return outlet.take();
  }

  RecordingOutlet outlet;
  LineCounts counts;
  SeriesBook book;
  std::string refused;
  LineReader reader;
};

TEST(LogLineTest, ActsForEachRuleThatMatches) {
  Fixture take(
      "match (?<ms>\\d+) ms\n  sample a/ms = {ms}\nmatch! slow\n  count a/slow\n"
      "match query\n  count a/queries\nelse\n  count a/others\n");
  EXPECT_EQ(take("query took 12 ms"), "a/ms 12; a/queries 1; ");
  EXPECT_EQ(take("slow query took 7 ms"), "a/ms 7; a/slow 1; ");
  EXPECT_EQ(take("hello"), "a/others 1; ");
  EXPECT_EQ(take.counts.lines, 3U);
  EXPECT_EQ(take.counts.matched, 2U);
  EXPECT_EQ(take.counts.unmatched, 1U);
  EXPECT_EQ(take.counts.samples, 5U);
}

TEST(LogLineTest, AddsANumberOfTheRuleAsItIsWritten) {
  Fixture take(
      "match down\n  sample a/x = -1\n  sample a/y = 1 decimals=3\n  count a/z decimals=3\n"
      "  sample a/u = 1.5 decimals=3\n  sample a/v = 2\n");
  EXPECT_EQ(take("down"), "a/x -1; a/y 1000; a/z 1000; a/u 1500; a/v 2; ");
}

TEST(LogLineTest, FindsTheSameAmongManyRules) {
  std::string text = "match (?<ms>\\d+) ms\n  sample a/ms = {ms}\nmatch! slow\n  count a/slow\n";
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    text += "match query " + n + "\\b\n  count a/query" + n + "\n";
  }
  Fixture take(text + "else\n  count a/others\n");
  EXPECT_EQ(take("query 7 took 12 ms"), "a/ms 12; a/query7 1; ");
  EXPECT_EQ(take("slow query 7 took 7 ms"), "a/ms 7; a/slow 1; ");
  EXPECT_EQ(take("query 20"), "a/others 1; ");
}

TEST(LogLineTest, FindsWhereExpressionsBegin) {
  EXPECT_EQ(first_byte_of("\"[A-Z]+ ([^|)]+)\\|"), '"');
  EXPECT_EQ(first_byte_of("\\[([^]|]+)(a|b)"), '[');
  EXPECT_EQ(first_byte_of("took (\\d+)"), 't');
  EXPECT_EQ(first_byte_of("a[[:alpha:]|]"), 'a');
  for (const char* const none : {"", "^a", ".a", "a*b", "a?b", "a{0}b", "a|b", "ab|c", "(a)b",
                                 "[a]b", "\\d", "\\ba", "\\Qa\\E", "aa\\Q|\\E"}) {
    EXPECT_EQ(first_byte_of(none), std::nullopt) << none;
  }
}

// Both with and without a byte that each match begins with.
TEST(LogLineTest, FindsTheLeftmostMatch) {
  const char* const patterns[] = {"a(b*)a", "a(a|b)(c)?", "ab(.*)$", "a(b|ca)b\\b", "\\.(a+)",
                                  "a[[:alpha:]|](b*)"};
  Random random;
  SCOPED_TRACE(random.seed());
  for (const char* const pattern : patterns) {
    const Rule rule{.expression = pattern, .groups = 1};
    const RuleExpression expression(rule, 1);
    const re2::RE2 plain(pattern);
    for (int i = 0; i < 20'000; ++i) {
      std::string line;
      for (std::uint64_t bytes = random.below(12); bytes != 0; --bytes)
        line += "aabc. "[random.below(6)];
      std::array<re2::StringPiece, 2> found;
      std::array<re2::StringPiece, 2> wanted;
      const bool is_wanted =
          plain.Match(line, 0, line.size(), re2::RE2::UNANCHORED, wanted.data(), 2);
      ASSERT_EQ(expression.match(line, found.data()), is_wanted) << pattern << ": " << line;
      if (!is_wanted) continue;
      ASSERT_EQ(found[0].data(), wanted[0].data()) << pattern << ": " << line;
      ASSERT_EQ(found[1], wanted[1]) << pattern << ": " << line;
    }
  }
}

TEST(LogLineTest, MatchesLinesThatAreNotText) {
  Fixture take("match a(?<x>.*)b(?<n>\\d+)$\n  sample i/s{x:{x}} = {n}\n");
  EXPECT_EQ(take(std::string_view("a\xff\0\x1b/b5", 7)), "i/s{x:%FF%00%1B%2F} 5; ");
}

TEST(LogLineTest, TakesNumbersExactly) {
  Fixture take("match ^(?<n>.*)$\n  sample a/b = {n} decimals=6 units=seconds/x\n");
  const auto number = [&](std::string_view text) {
    const std::string said = take(text);
    return said.empty() ? std::exchange(take.refused, {}) : said.substr(4, said.size() - 6);
  };
  EXPECT_EQ(number("0.005"), "5000");
  EXPECT_EQ(number("1"), "1000000");
  EXPECT_EQ(number("-0.1"), "-100000");
  EXPECT_EQ(number("9223372036854.775807"), "9223372036854775807");
  EXPECT_EQ(take.counts.rounded, 0U);
  EXPECT_EQ(number("0.0000005"), "0");
  EXPECT_EQ(number("0.0000015"), "2");
  EXPECT_EQ(number("0.00000251"), "3");
  EXPECT_EQ(take.counts.rounded, 3U);
  EXPECT_EQ(number("9223372036854.775808"), "range:9223372036854.775808 ");
  for (const char* const text : {"", "-", "1,5", "0x10", "nan", "1 2", "1..2"}) {
    EXPECT_EQ(number(text), "value:" + std::string(text) + " ");
  }
}

TEST(LogLineTest, MultipliesAndReadsUnits) {
  Fixture take(
      "match ^ms (?<n>.*)$\n  sample a/b = {n}*1000\n"
      "match ^us (?<n>.*)$\n  sample a/b = {n|duration}*1000000\n"
      "match ^b (?<n>.*)$\n  sample a/b = {n|bytes}\n");
  EXPECT_EQ(take("ms 1.25"), "a/b 1250; ");
  EXPECT_EQ(take("us 12ms"), "a/b 12000; ");
  EXPECT_EQ(take("us 1.5s"), "a/b 1500000; ");
  EXPECT_EQ(take("us 250\xc2\xb5s"), "a/b 250; ");
  EXPECT_EQ(take("us 250\xce\xbcs"), "a/b 250; ") << "the Greek letter";
  EXPECT_EQ(take("us 2m"), "a/b 120000000; ");
  EXPECT_EQ(take("b 3.5KiB"), "a/b 3584; ");
  EXPECT_EQ(take("b 10 MB"), "a/b 10000000; ");
  EXPECT_EQ(take("b 7"), "a/b 7; ");
  EXPECT_EQ(take("b 7 apples"), "");
  EXPECT_EQ(take.refused, "value:7 apples ");
}

// Digits beyond 19 decide how the product is rounded.
TEST(LogLineTest, MultipliesNumbersOfAnyLengthExactly) {
  Fixture take(
      "match ^ms (?<n>.*)$\n  sample a/b = {n}*1000\n"
      "match ^d (?<n>.*)$\n  sample a/b = {n|duration}*1000\n"
      "match ^x (?<n>.*)$\n  sample a/b = {n}*9999999999999999999\n");
  EXPECT_EQ(take("ms 0.01234567890123456789012345678901234567890"), "a/b 12; ");
  EXPECT_EQ(take("ms 0.0005" + std::string(40, '0')), "a/b 0; ");
  EXPECT_EQ(take("ms 0.0015" + std::string(40, '0')), "a/b 2; ");
  EXPECT_EQ(take("ms -0.0005" + std::string(40, '0') + "1"), "a/b -1; ");
  EXPECT_EQ(take("ms 9223372036854775.807000000000000000000000000"), "a/b 9223372036854775807; ");
  EXPECT_EQ(take("ms 12345678901234567890123e-10"), "a/b 1234567890123457; ");
  EXPECT_EQ(take("d 0.00000000000000000000001d"), "a/b 0; ");
  EXPECT_EQ(take("d 1.00000000000000000000001h"), "a/b 3600000; ");
  EXPECT_EQ(take("x 0.3333333333333333333"), "a/b 3333333333333333333; ");
  EXPECT_EQ(take.counts.rounded, 8U);
  EXPECT_EQ(take("ms 123456789012345678901"), "");
  EXPECT_EQ(take.refused, "range:123456789012345678901 ");
}

TEST(LogLineTest, AddsThePartsOfADuration) {
  Fixture take("match ^(?<n>.*)$\n  sample a/b = {n|duration}*1000000\n");
  EXPECT_EQ(take("1m30s"), "a/b 90000000; ");
  EXPECT_EQ(take("1h2m3.5s"), "a/b 3723500000; ");
  EXPECT_EQ(take("2 d 3 h"), "a/b 183600000000; ");
  EXPECT_EQ(take("-1m0.000001s"), "a/b -60000001; ");
  EXPECT_EQ(take("1s500ms"), "a/b 1500000; ");
  for (const char* const wrong : {"1m30", "30s1m", "1s2s", "m30s", "1mx3s", "1m-3s", "-", "1m.s"}) {
    EXPECT_EQ(take(wrong), "") << wrong;
  }
}

TEST(LogLineTest, FiltersNames) {
  Fixture take(
      "match ^(?<p>\\S*) (?<s>\\S*)$\n  count a/b{f:{p|first:/|lower},r:{p|route},s:{s|class}}\n");
  EXPECT_EQ(take("/Cart/17/x?y=1 404"), "a/b{f:cart,r:%2FCart%2F*%2Fx,s:4xx} 1; ");
  EXPECT_EQ(take("/a/8d3c2f1a/550e8400-e29b-41d4-a716-446655440000 ok"),
            "a/b{f:a,r:%2Fa%2F*%2F*,s:ok} 1; ");
  EXPECT_EQ(take("/" + std::string(41, 'z') + "/ 99"),
            "a/b{f:" + std::string(41, 'z') + ",r:%2F*%2F,s:99} 1; ");
}

TEST(LogLineTest, MakesNothingOfAbsentGroups) {
  Fixture take("match ^a(?: (?<n>\\d+))?$\n  sample a/n = {n}\n  count a/{n}\n  count a/all\n");
  EXPECT_EQ(take("a 5"), "a/n 5; a/5 1; a/all 1; ");
  EXPECT_EQ(take("a"), "a/all 1; ");
  EXPECT_EQ(take.counts.absent, 2U);
}

TEST(LogLineTest, SendsBeyondItsBoundsToTheOverflow) {
  Fixture take("match ^(?<u>.*)$\n  count a/b{u:{u}}\n", 2);
  EXPECT_EQ(take("x"), "a/b{u:x} 1; ");
  EXPECT_EQ(take("y"), "a/b{u:y} 1; ");
  EXPECT_EQ(take("z"), "a/b{*} 1; ");
  EXPECT_EQ(take("x"), "a/b{u:x} 1; ");
  EXPECT_EQ(take("z"), "a/b{*} 1; ");
  EXPECT_EQ(take(std::string(300, 'w')), "a/b{*} 1; ");
  EXPECT_EQ(take.counts.overflowed, 3U);
}

// A scanner has filled the name with paths that never come again.
TEST(LogLineTest, GivesUpWhatWasUnusedLongest) {
  Fixture take("match ^(?<u>.*)$\n  count a/b{u:{u}}\n  count a/all\n", 2);
  const auto at = [&](std::chrono::hours hour) {
    take.reader.set_now({std::chrono::hours(1'000) + hour, std::chrono::seconds(1'700'000'000)});
  };
  take("x");
  take("y");
  at(std::chrono::hours(1));
  EXPECT_EQ(take("y"), "a/b{u:y} 1; a/all 1; ");
  EXPECT_EQ(take("z"), "removed a/b{u:x}; a/b{u:z} 1; a/all 1; ");
  EXPECT_EQ(take("x"), "a/b{*} 1; a/all 1; ") << "y and z are in use";
  EXPECT_EQ(take("z"), "a/b{u:z} 1; a/all 1; ");
  EXPECT_EQ(take.counts.names_given_up, 1U);
  EXPECT_EQ(take.book.bounds().last_given_up(), "a/b{u:x}");
  at(std::chrono::hours(2));
  take("z");
  at(std::chrono::hours(3));
  EXPECT_EQ(take("x"), "removed a/b{u:y}; a/b{u:x} 1; a/all 1; ");
}

TEST(LogLineTest, GivesUpNamesThatAreUnused) {
  Fixture take("match ^(?<u>.*)$\n  count a/n{u}\n");
  for (int i = 0; i < 5'000; ++i) take(std::to_string(i));
  EXPECT_EQ(take("5000"), "");
  EXPECT_EQ(take.refused, "name: ");
  take.reader.set_now({std::chrono::hours(1'002), std::chrono::seconds(1'700'000'000)});
  EXPECT_EQ(take("4999"), "a/n4999 1; ");
  EXPECT_EQ(take("5000").substr(0, 11), "removed a/n");
  EXPECT_EQ(take("4999"), "a/n4999 1; ");
}

// Their labels have no room, so that NAME{*} is all that they have.
TEST(LogLineTest, GivesUpNamesThatHaveOverflowsAlone) {
  Fixture take("match ^(?<n>\\w+) (?<u>.*)$\n  count a/n{n}{u:{u}}\n");
  const std::string label(300, 'x');
  for (int i = 0; i < 5'000; ++i) take(std::to_string(i) + " " + label);
  EXPECT_EQ(take("5000 " + label), "");
  take.reader.set_now({std::chrono::hours(1'001), std::chrono::seconds(1'700'000'000)});
  EXPECT_EQ(take("1 " + label), "a/n1{*} 1; ");
  for (int i = 0; i < 4'999; ++i) {
    EXPECT_EQ(take("new" + std::to_string(i) + " y").substr(0, 11), "removed a/n");
  }
  EXPECT_EQ(take("more y"), "") << "all are in use";
  EXPECT_EQ(take("1 " + label), "a/n1{*} 1; ") << "and this one stayed";
  EXPECT_EQ(take("1 y"), "a/n1{u:y} 1; ");
}

// That would make no room for it.
TEST(LogLineTest, GivesUpNothingForANameThatIsFull) {
  Fixture take("match ^a(?<u>.*)$\n  count a/a{u:{u}}\nmatch ^b$\n  count a/b\n", 2, 3);
  take("b");
  take.reader.set_now({std::chrono::hours(1'001), std::chrono::seconds(1'700'000'000)});
  take("a1");
  take("a2");
  EXPECT_EQ(take("a3"), "a/a{*} 1; ");
}

TEST(LogLineTest, KeepsNothingOfNamesThatAreTooLong) {
  Fixture take("match ^(?<u>.*)$\n  count a/{u}\n");
  for (int i = 0; i < 5'000; ++i) take(std::string(300, 'x') + std::to_string(i));
  EXPECT_EQ(take.counts.refused[static_cast<std::size_t>(Reason::kName)], 5'000U);
  EXPECT_EQ(take("x"), "a/x 1; ") << "there is room for names";
}

TEST(LogLineTest, KnowsWhetherLabelsWereTooLongOrTooMany) {
  Fixture take("match ^(?<u>.*)$\n  count a/b{u:{u}}\n");
  EXPECT_EQ(take(std::string(300, 'x')), "a/b{*} 1; ");
  EXPECT_EQ(take.book.bounds().last_overflow(), SeriesBounds::Overflow::kLongName);
}

TEST(LogLineTest, RefusesOtherDecimalsOfANameThatLinesMake) {
  Fixture take(
      "match ^(?<u>\\w+)$\n  sample a/{u} = 1 decimals=3\n"
      "match ^(?<v>\\w+) $\n  count a/{v}{x:y}\n");
  EXPECT_EQ(take("b"), "a/b 1000; ");
  EXPECT_EQ(take("b "), "");
  EXPECT_EQ(take("c "), "a/c{x:y} 1; ");
  EXPECT_EQ(take("c"), "");
  EXPECT_EQ(take.refused, "name: name: ");
}

TEST(LogLineTest, RefusesOtherUnitsOfANameThatLinesMake) {
  Fixture take(
      "match ^(?<u>\\w+)$\n  sample a/{u} = 1 units=milliseconds/n\n"
      "match ^(?<v>\\w+) $\n  sample a/{v}{x:y} = 1 units=microseconds/n\n"
      "match ^(?<w>\\w+)  $\n  sample a/{w}{x:z} = 1 units=milliseconds/q\n");
  EXPECT_EQ(take("b"), "a/b 1; ");
  EXPECT_EQ(take("b "), "");
  EXPECT_EQ(take("b  "), "a/b{x:z} 1; ");
  EXPECT_EQ(take.refused, "name: ");
}

TEST(LogLineTest, RefusesNamesThatAreNone) {
  Fixture take("match ^(?<i>.*)/(?<s>.*)$\n  count {i}/x{s}\n  count x/{s}\n");
  EXPECT_EQ(take("/a"), "x/a 1; ");
  EXPECT_EQ(take.refused, "name: ");
}

TEST(LogLineTest, WritesEvents) {
  Fixture take(
      "match ^(?<p>\\S+) (?<s>\\S+)$\n  event web/request path={p|route} us={s}*1000000 one=1\n");
  EXPECT_EQ(take("/x/1 0.5"), "web/request path=/x/* us=500000 one=1; ");
  EXPECT_EQ(take("/x/1 -"), "");
  EXPECT_EQ(take.counts.events, 1U) << "its line waits for a confirmation, as one with samples";
}

TEST(LogLineTest, TakesTheTimeOfTheLine) {
  Fixture take(
      "time %Y-%m-%dT%H:%M:%S.%f%z\nmatch ^(?<time>\\S+) x\n  count a/b\nmatch ^y$\n  count a/y\n");
  // 1,700,000,000 is 2023-11-14T22:13:20Z, at which 1,000 h have gone since the boot.
  EXPECT_EQ(take("2023-11-14T22:13:19.25+0000 x"), "a/b 1 @3599999250000000; ");
  EXPECT_EQ(take("2023-11-15T00:13:19.25+0200 x"), "a/b 1 @3599999250000000; ");
  EXPECT_EQ(take("2023-11-14T22:13:20.000001+0000 x"), "a/b 1; ");
  EXPECT_EQ(take("y"), "a/y 1; ");
  EXPECT_EQ(take("2023-11-13T23:13:21.0+0000 x"), "a/b 1 @3517201000000000; ") << "23 hours";
  EXPECT_EQ(take.counts.undated, 0U);
  EXPECT_EQ(take("2023-11-13T23:13:19.0+0000 x"), "a/b 1; ");
  EXPECT_EQ(take("yesterday x"), "a/b 1; ");
  EXPECT_EQ(take("1578-11-14T22:13:19.25+0000 x"), "a/b 1; ");
  EXPECT_EQ(take("2023-11-14T22:13:19.25+0000junk x"), "a/b 1; ");
  EXPECT_EQ(take.counts.undated, 4U);
  EXPECT_EQ(take("2023-11-14T22:13:20.9+0000 x"), "a/b 1; ");
  EXPECT_EQ(take.counts.undated, 4U) << "a clock that is a little ahead";
  EXPECT_EQ(take("2023-11-14T22:13:22.0+0000 x"), "a/b 1; ");
  EXPECT_EQ(take.counts.undated, 5U);
}

// In a zone that is nine hours ahead of UTC.
TEST(LogLineTest, TakesAZAtTheEndOfTheFormatAsUtc) {
  ::setenv("TZ", "JST-9", 1);
  ::tzset();
  const auto added = [](const std::string& format, const std::string& time) {
    Fixture take("time " + format + "\nmatch ^(?<time>\\S+)$\n  count a/b\n");
    return take(time);
  };
  EXPECT_EQ(added("%Y-%m-%dT%H:%M:%SZ", "2023-11-14T22:13:19Z"), "a/b 1 @3599999000000000; ");
  EXPECT_EQ(added("%Y-%m-%dT%H:%M:%S.%fZ", "2023-11-14T22:13:19.5Z"), "a/b 1 @3599999500000000; ");
  EXPECT_EQ(added("%Y-%m-%dT%H:%M:%S%z", "2023-11-14T22:13:19Z"), "a/b 1 @3599999000000000; ");
  EXPECT_EQ(added("%Y-%m-%dT%H:%M:%S%z", "2023-11-15T00:13:19+02:00"), "a/b 1 @3599999000000000; ");
  EXPECT_EQ(added("%Y-%m-%dT%H:%M:%S", "2023-11-15T07:13:19"), "a/b 1 @3599999000000000; ");
  EXPECT_EQ(added("%Y-%m-%dT%H:%M:%S%Z", "2023-11-15T07:13:19"), "a/b 1 @3599999000000000; ");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(LogLineTest, TakesTheTimeThatEachRuleNames) {
  Fixture take(
      "time %Y-%m-%dT%H:%M:%S%z\nmatch ^(?<time>\\S+) \n  count a/first\n"
      "match at (?<time>\\S+)$\n  count a/second\n");
  EXPECT_EQ(take("none at 2023-11-14T22:13:19+0000"),
            "a/first 1; a/second 1 @3599999000000000; ");
  EXPECT_EQ(take.counts.undated, 1U);
  EXPECT_EQ(take("2023-11-14T22:13:19+0000 at 2023-11-14T22:13:18+0000"),
            "a/first 1 @3599999000000000; a/second 1 @3599998000000000; ");
  EXPECT_EQ(take("none at all"), "a/first 1; a/second 1; ");
  EXPECT_EQ(take.counts.undated, 2U) << "a line is undated once";
}

}  // namespace
}  // namespace tallyfs::logs
