#include "core/base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace tallyfs {
namespace {

TEST(IsSameTest, TellsTextsThatDifferInOneByteOrTheirLengthApart) {
  const std::string text = "interface_of_a_long_name";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string one = text.substr(0, size);
    EXPECT_TRUE(is_same(one, std::string(one)));
    EXPECT_FALSE(is_same(one, one + "x"));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = one;
      other[at] = '\0';
      EXPECT_FALSE(is_same(one, other)) << one << " at " << at;
    }
  }
}

TEST(ParseNumberTest, TakesDecimalAndHexadecimalToTheEdgesOf64Bits) {
  EXPECT_EQ(parse_signed("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_signed("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_signed("-0x10"), -16);
  EXPECT_EQ(parse_unsigned("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_unsigned("0xFFffFFffFFffFFff"), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseNumberTest, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* text : {"", "-", "0x", "1.5", "1 ", "+1", "--1", "0x1g", "9223372036854775808",
                           "-9223372036854775809", "1e3", "-0x", "0x-1"}) {
    EXPECT_FALSE(parse_signed(text)) << text;
  }
  for (const char* text : {"", "-1", "18446744073709551616", "0x10000000000000000", "x"}) {
    EXPECT_FALSE(parse_unsigned(text)) << text;
  }
}

TEST(AppendNumberTest, Prints128BitsToBothEnds) {
  std::string out;
  const auto min = static_cast<Int128>(UInt128{1} << 127);
  append_number(out, min);
  out += ' ';
  append_number(out, -(min + 1));
  out += ' ';
  append_number(out, Int128{0});
  EXPECT_EQ(out,
            "-170141183460469231731687303715884105728 170141183460469231731687303715884105727 0");
}

TEST(AppendTimestampTest, TruncatesToMicrosecondsAndDoesNotPadSeconds) {
  std::string out;
  append_timestamp(out, std::chrono::nanoseconds(1'000'345'999));
  append_timestamp(out, std::chrono::nanoseconds(0));
  append_timestamp(out, std::chrono::nanoseconds(-5));
  append_timestamp(out, std::chrono::nanoseconds(2'417'020'832'398'000));
  EXPECT_EQ(out, "[1.000345][0.000000][0.000000][2417020.832398]");
}

TEST(NameTest, IsPrintableUtf8WithoutBlanksSlashesAndEqualsSigns) {
  for (const char* name : {"a", "zfcp-0.0.50d4", "latency_µs", "...", "日本", "a|b", "-", "'"}) {
    EXPECT_TRUE(is_name(name)) << name;
  }
  for (const char* name :
       {"", ".", "..", "a b", "a/b", "a=b", "a\tb", "a\x7f", "\xc3", "\xff", "\xc0\xaf",
        "\xed\xa0\x80", "a\u00a0b", "a\u2028b", "a\u202eb", "\xf4\x90\x80\x80", "a\u0085"}) {
    EXPECT_FALSE(is_name(name)) << name;
  }
  EXPECT_TRUE(is_name(std::string(255, 'x')));
  EXPECT_FALSE(is_name(std::string(256, 'x')));
}

TEST(NameTest, HasNothingThatShowsNothing) {
  for (const char* name :
       {"a\u00ad",     "a\u034f",     "a\u061c",     "a\u115f",     "a\u1160",     "a\u17b4",
        "a\u180b",     "a\u180e",     "a\u200b",     "a\u200f",     "a\u202a",     "a\u2066",
        "a\u2800",     "a\u3164",     "a\ufdd0",     "a\ufdef",     "a\ufe0f",     "a\ufeff",
        "a\uffa0",     "a\ufff9",     "a\ufffb",     "a\ufffe",     "a\uffff",     "a\U0001d173",
        "a\U0001fffe", "a\U000e0000", "a\U000e0041", "a\U000e007f", "a\U000e0100", "a\U0010ffff"}) {
    EXPECT_FALSE(is_name(name)) << name;
    EXPECT_FALSE(is_units(name)) << name;
  }
}

TEST(NameTest, HasTheNeighboursOfWhatShowsNothing) {
  for (const char* name :
       {"\u00a1",     "\u00ac",     "\u00ae",    "\u061b", "\u061d", "\u115e", "\u1161",
        "\u180a",     "\u1810",     "\u2010",    "\u2027", "\u2030", "\u205e", "\u2070",
        "\u27ff",     "\u2801",     "\u3001",    "\u3163", "\u3165", "\ufdcf", "\ufdf0",
        "\ufdff",     "\ufe10",     "\uff9f",    "\uffa1", "\ufffc", "\ufffd", "\U0001f600",
        "\U00020000", "\U000dfffd", "\U000f0000"}) {
    EXPECT_TRUE(is_name(name)) << name;
  }
}

TEST(NameTest, UnitsMayHoldSlashesOrNothing) {
  EXPECT_TRUE(is_units("slots-occupied/incidents"));
  EXPECT_TRUE(is_units(""));
  EXPECT_FALSE(is_units("a=b"));
  EXPECT_FALSE(is_units("a b"));
}

TEST(AppendEscapedTest, LetsNoByteForgeALineAndKeepsTheCaretUnderItsToken) {
  std::string out;
  EXPECT_EQ(append_escaped(out,
                           "a\nb\\\xff"
                           "µ=x",
                           100, 7),
            15u);
  EXPECT_EQ(out, "a\\x0ab\\x5c\\xffµ=x");
}

TEST(AppendEscapedTest, CutsAtItsBoundAndNeverInsideASequence) {
  std::string out = "start ";
  append_escaped(out, std::string(50, '\n'), 10, 0);
  EXPECT_EQ(out, "start \\x0a\\x0a");
}

TEST(AppendEscapedTest, IsTheSameWhereverTextOfSeveralKindsIsCut) {
  const std::string text =
      "ab\\c\n\xff"
      "dµ\x7f"
      "ef~ g";
  const std::string whole = "ab\\x5cc\\x0a\\xffdµ\\x7fef~ g";
  const std::size_t columns[] = {0, 1, 2, 6, 7, 11, 15, 16, 16, 17, 21, 22, 23, 24, 25, 26};
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string out;
    // The second byte of a sequence has the column of the first.
    EXPECT_EQ(append_escaped(out, text, 100, at), columns[at]) << at;
    EXPECT_EQ(out, whole);
  }
  for (std::size_t bytes_max = 0; bytes_max < whole.size() + 4; ++bytes_max) {
    std::string out;
    append_escaped(out, text, bytes_max, 0);
    EXPECT_LE(out.size(), bytes_max);
    EXPECT_TRUE(whole.starts_with(out)) << out;
    EXPECT_GE(out.size() + 7, std::min(bytes_max, whole.size()));
  }
}

TEST(TokensTest, SplitsAtAnyWhiteSpaceAndKnowsWhereEachTokenStood) {
  Tokens tokens(" \ta=1\r\n  b ");
  const auto first = tokens.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text, "a=1");
  EXPECT_EQ(first->at, 2u);
  EXPECT_EQ(tokens.rest().text, "\r\n  b ");
  EXPECT_EQ(tokens.next()->at, 9u);
  EXPECT_FALSE(tokens.next());
}

}  // namespace
}  // namespace tallyfs
