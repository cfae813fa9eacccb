#include "core/statistics/definition/change.h"
#include "core/statistics/definition/unread_words.h"

#include <gtest/gtest.h>

namespace tallyfs::statistics {
namespace {

Definition defined(std::string_view text) {
  return apply(parse_new_statistic(text).value(), Definition{}).value();
}

Definition after(std::string_view line, const Definition& before) {
  return apply(parse_change(line).value(), before).value();
}

std::string printed(const Definition& definition) {
  std::string text;
  append_definition(text, definition);
  return text;
}

// What is wrong with the line, for a statistic of that definition.
Error refusal(std::string_view line, const Definition& before = {}) {
  const auto change = parse_change(line);
  if (!change) return change.error();
  const auto applied = apply(change.value(), before);
  return applied ? Error{ErrorCode::kInvalid, "accepted: " + printed(applied.value())}
                 : applied.error();
}

const char* const kOneOfEachType[] = {
    "type=value mode=increments",
    "type=value mode=products",
    "type=range",
    "type=list entries_max=7",
    "type=array base_interval=3 scale=lin range_min=-20 range_max=20",
    "type=array base_interval=3 scale=log2",
    "type=history entries_max=1048576 mode=range period=3153600000000000",
    "type=raw entries_max=1 units=a/b",
    "type=quantiles precision=8 quantiles=0.0001,50,99.9999",
    "type=last",
    "type=history entries_max=9 mode=quantiles period=1 precision=0 quantiles=50",
};

TEST(ChangeTest, DefaultsAreAValueOfIncrementsOverTheFullRange) {
  EXPECT_EQ(printed(defined("")),
            "type=value range_min=-9223372036854775808 range_max=9223372036854775807 "
            "mode=increments units=");
  EXPECT_TRUE(Definition{}.has_full_range());
}

TEST(ChangeTest, EveryTypeIsReadAsItIsPrinted) {
  for (const char* text : kOneOfEachType) {
    const Definition definition = defined(text);
    EXPECT_EQ(defined(printed(definition)), definition) << text;
  }
}

TEST(ChangeTest, WritingALineBackChangesNothing) {
  for (const char* text : kOneOfEachType) {
    const Definition before = defined(text);
    std::string line;
    append_line(line, "a", before, {.on = true, .hits_out_of_range = 5, .hits_missed = 6});
    const auto change = parse_change(line);
    ASSERT_TRUE(change.has_value()) << line;
    EXPECT_FALSE(change.value().data_reset);
    EXPECT_EQ(apply(change.value(), before).value(), before) << line;
  }
}

TEST(ChangeTest, TakesTheLastOfTwo) {
  const auto change = parse_change("on=0 name=a on=1 name=b");
  EXPECT_EQ(change.value().name->value, "b");
  EXPECT_TRUE(change.value().on->value);
  EXPECT_EQ(refusal("on=7 on=1").token_at, 0u);
}

TEST(ChangeTest, IgnoresJunk) {
  const auto change = parse_change(
      " \t words = =1 Name=x ON=1 name=a hits_out_of_range=-1 hits_missed=x started=y stopped=z "
      "data=[1.0] data= unknown=5 units=\r\n");
  ASSERT_TRUE(change.has_value());
  EXPECT_FALSE(change.value().on || change.value().data_reset);
  EXPECT_EQ(apply(change.value(), Definition{}).value(), Definition{});
}

TEST(ChangeTest, JunkRefusesALineForAllStatistics) {
  for (const char* junk : {"nmae=foo", "words", "=", "=1", "Name=x", "#", "entrys_max=5"}) {
    for (const std::string before : {"", "on=1 ", "hits_missed=3 data=reset "}) {
      const Error error = refusal(before + junk + " data=reset unknown=5");
      EXPECT_EQ(error.code, ErrorCode::kInvalid);
      EXPECT_EQ(error.token_at, before.size()) << before << junk << ": " << error.reason;
      EXPECT_TRUE(parse_change(before + junk + " name=a").has_value());
    }
  }
  EXPECT_EQ(refusal("nmae=foo").reason,
            "no such key, 'nmae': a line without name= is for all statistics");
  EXPECT_EQ(refusal("on=1 n\x1bow").reason,
            "no key=value, 'n\\x1bow': a line without name= is for all statistics");
  EXPECT_TRUE(parse_change("on=1 hits_out_of_range=1 hits_missed=x started=y stopped=z units=w "
                           "data=[1.0]")
                  .has_value());
}

TEST(ChangeTest, ResetsOnlyWhenToldTo) {
  EXPECT_TRUE(parse_change("data=reset").value().data_reset);
  EXPECT_TRUE(parse_change("data=reset data=[5.000000]").value().data_reset);
  EXPECT_FALSE(parse_change("data=RESET").value().data_reset);
  EXPECT_FALSE(parse_new_statistic("data=reset").value().data_reset);
}

TEST(ChangeTest, UnitsAreSetAndClearedAndEmptyOnesSayNothing) {
  EXPECT_EQ(defined("units=us/requests").units, "us/requests");
  EXPECT_EQ(defined("units=-").units, "");
  EXPECT_EQ(after("units=other", defined("units=mine")).units, "other");
  EXPECT_EQ(after("units=", defined("units=mine")).units, "mine");
  EXPECT_EQ(after("units=-", defined("units=mine")).units, "");
  EXPECT_FALSE(parse_change("units=").value().redefines());
  EXPECT_EQ(refusal("on=1 units=a=b").token_at, 5u);
  EXPECT_FALSE(parse_new_statistic("units=a=b").has_value());
  EXPECT_FALSE(parse_new_statistic("name=/").value().name.has_value());
}

TEST(ChangeTest, HelpIsOneWordWithEscapes) {
  for (const char* help : {"Time", "Time%20of%20all", "100%25", "a=b", "%e2%82%AC"}) {
    const std::string line = std::string("name=a help=") + help;
    const auto change = parse_change(line);
    ASSERT_TRUE(change) << help;
    EXPECT_EQ(change.value().help->value, help);
  }
  for (const std::string help : {"100%", "a%2", "a%2g", "a\"b",
                                 "a\x01"
                                 "b"}) {
    EXPECT_EQ(refusal("on=1 help=" + help).token_at, 5u) << help;
  }
  EXPECT_TRUE(parse_change("help=" + std::string(255, 'x')));
  EXPECT_FALSE(parse_change("help=" + std::string(256, 'x')));
  EXPECT_EQ(parse_change("help=-").value().help->value, "");
  EXPECT_FALSE(parse_change("help=").value().redefines());
}

TEST(ChangeTest, ReadsHexadecimalNumbers) {
  const Definition definition =
      defined("type=list entries_max=0x10 range_min=-0x10 range_max=0xff");
  EXPECT_EQ(definition, defined("type=list entries_max=16 range_min=-16 range_max=255"));
}

TEST(ChangeTest, RefusesWhatDoesNotParseWithTheCaretUnderIt) {
  for (const char* token : {"on=",
                            "on=2",
                            "on=true",
                            "type=",
                            "type=histogram",
                            "range_min=",
                            "range_min=1.5",
                            "range_max=9223372036854775808",
                            "range_min=-9223372036854775809",
                            "entries_max=0",
                            "entries_max=1048577",
                            "entries_max=-1",
                            "entries_max=4294967297",
                            "base_interval=0",
                            "base_interval=18446744073709551616",
                            "scale=log",
                            "scale=",
                            "mode=sum",
                            "mode=",
                            "period=0",
                            "period=-1",
                            "period=3153600000000001",
                            "period=1s",
                            "name=",
                            "name=a/b",
                            "name=..",
                            "name=a=b"}) {
    const Error error = refusal(std::string("  data=x ") + token + " on=1");
    EXPECT_EQ(error.code, ErrorCode::kInvalid);
    EXPECT_EQ(error.token_at, 9u) << token << ": " << error.reason;
  }
}

TEST(ChangeTest, RefusesAWrongValueAlsoOfAKeyTheTypeHasNoUseFor) {
  EXPECT_EQ(refusal("name=a period=0", defined("type=range")).token_at, 7u);
}

TEST(ChangeTest, IgnoresARightValueOfAKeyTheTypeHasNoUseFor) {
  const Definition before = defined("type=range");
  EXPECT_EQ(after("period=5 entries_max=5 mode=range scale=lin base_interval=1", before), before);
}

TEST(ChangeTest, ATypeNeedsAllItsAttributesInTheSameLine) {
  const auto missing = [](std::string_view line, std::string_view before) {
    const Error error = refusal(line, defined(before));
    EXPECT_EQ(error.token_at, line.find("type="));
    return error.reason;
  };
  EXPECT_EQ(missing("type=value", ""), "this type also needs: mode");
  EXPECT_EQ(missing("on=1 type=list", "type=list entries_max=5"),
            "this type also needs: entries_max");
  EXPECT_EQ(missing("type=array scale=lin", ""), "this type also needs: base_interval");
  EXPECT_EQ(missing("type=array base_interval=1", ""), "this type also needs: scale");
  EXPECT_EQ(missing("type=history", ""), "this type also needs: entries_max mode period");
  EXPECT_EQ(missing("type=raw period=1 mode=range", ""), "this type also needs: entries_max");
  EXPECT_EQ(after("type=range", Definition{}), defined("type=range"));
}

TEST(ChangeTest, AnAttributeAloneChangesOnlyItself) {
  const Definition before = defined("type=history entries_max=5 mode=range period=7");
  EXPECT_EQ(after("entries_max=6", before),
            defined("type=history entries_max=6 mode=range period=7"));
  EXPECT_EQ(after("mode=products", before),
            defined("type=history entries_max=5 mode=products period=7"));
}

TEST(ChangeTest, ModeRangeIsForHistoriesOnly) {
  EXPECT_EQ(refusal("on=1 mode=range").token_at, 5u);
  EXPECT_EQ(refusal("type=value mode=range", defined("type=range")).token_at, 11u);
}

TEST(ChangeTest, RangeMinMustNotBeAboveRangeMaxOfBeforeEither) {
  const Definition before = defined("range_min=5 range_max=10");
  EXPECT_EQ(refusal("on=1 range_min=11", before).token_at, 5u);
  EXPECT_EQ(refusal("on=1 range_max=4", before).token_at, 5u);
  EXPECT_EQ(after("range_min=20 range_max=20", before).range_min, 20);
}

TEST(ChangeTest, AnArrayHasAtMost65536Intervals) {
  const auto array = [](std::string_view range) {
    return "type=array scale=lin base_interval=1 " + std::string(range);
  };
  EXPECT_TRUE(parse_change(array("range_min=0 range_max=65534")).has_value());
  EXPECT_EQ(after(array("range_min=0 range_max=65534"), {}).range_max, 65534);
  EXPECT_EQ(refusal(array("range_min=0 range_max=65535")).token_at, 21u);
  EXPECT_EQ(refusal(array("")).token_at, 21u);
  // The range of an array that stands is bounded too.
  EXPECT_EQ(refusal("range_max=65535", defined(array("range_min=0 range_max=9"))).token_at, 0u);
  EXPECT_EQ(after("type=array scale=log2 base_interval=1", {}),
            defined("type=array scale=log2 base_interval=1"));
}

TEST(ChangeTest, DataIsDiscardedByTypeAttributesAndAnArraysRange) {
  const auto discards = [](std::string_view before, std::string_view line) {
    const Definition definition = defined(before);
    return discards_data(definition, after(line, definition));
  };
  const char* const array = "type=array scale=lin base_interval=1 range_min=0 range_max=9";
  EXPECT_TRUE(discards("", "mode=products"));
  EXPECT_TRUE(discards("", "type=range"));
  EXPECT_TRUE(discards("type=list entries_max=3", "type=raw entries_max=3"));
  EXPECT_TRUE(discards(array, "range_min=1"));
  EXPECT_TRUE(discards(array, "range_max=10"));
  EXPECT_FALSE(discards(array, "range_min=0 range_max=9 scale=lin on=1"));
  EXPECT_FALSE(discards("type=list entries_max=3", "range_min=0"));
  EXPECT_FALSE(discards("", "mode=increments"));
}

// Of these definitions.
Attributes attributes_of_all(std::initializer_list<std::string_view> texts) {
  Attributes attributes;
  for (const std::string_view text : texts) attributes |= attributes_of(defined(text).settings);
  return attributes;
}

TEST(ChangeTest, AKeyThatNoDefinitionHasIsPointedAt) {
  const Attributes value = attributes_of_all({""});
  EXPECT_EQ(find_ignored_key("name=a entrys_max=3 foo=1", value)->token_at, 7u);
  EXPECT_TRUE(find_ignored_key("on=1 =5", value));
  EXPECT_EQ(find_ignored_key("name=a units=milli seconds", value)->token_at, 19u);
  for (const char* line :
       {"",
        "name=a on=1 type=value range_min=0 range_max=1 mode=increments "
        "hits_out_of_range=0 hits_missed=0 data=[1.0] started=[1.0] stopped=[1.0] units=x"}) {
    EXPECT_FALSE(find_ignored_key(line, value)) << line;
  }
}

TEST(ChangeTest, AKeyOfOtherTypesIsPointedAt) {
  const auto error = find_ignored_key("name=a on=1 period=5", attributes_of_all({"type=range"}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->token_at, 12u);
  EXPECT_EQ(error->reason, "period is for other types, and it was ignored");
  EXPECT_TRUE(
      find_ignored_key("entries_max=5 scale=lin", attributes_of_all({"type=list entries_max=1"})));
  // One of the statistics that the line is for has the key.
  EXPECT_FALSE(
      find_ignored_key("entries_max=5", attributes_of_all({"", "type=raw entries_max=1"})));
  for (const char* text : kOneOfEachType) {
    EXPECT_FALSE(find_ignored_key(printed(defined(text)), attributes_of_all({text}))) << text;
  }
}

TEST(ChangeTest, AnAttributeOfAnotherModeIsIgnored) {
  const Attributes range =
      attributes_of_all({"type=history entries_max=9 mode=range period=1000000"});
  EXPECT_TRUE(find_ignored_key("name=a precision=3", range));
  EXPECT_FALSE(find_ignored_key("name=a period=3", range));
}

TEST(ChangeTest, WordsOfOtherToolsAreRefusedWithTheWordThatIsMeant) {
  EXPECT_EQ(refusal("type=counter").reason, "a counter is type=value here");
  EXPECT_EQ(refusal("mode=sum").reason,
            "a sum of X is mode=products, a sum of Y is mode=increments");
  EXPECT_EQ(refusal("mode=avg").reason,
            "an average is in type=range, or in mode=range of type=history");
  EXPECT_EQ(refusal("mode=none").reason,
            "mode must be increments (it adds Y), products (X*Y), range or quantiles");
  EXPECT_EQ(refusal("type=gauge").reason, "a gauge is type=last here");
  EXPECT_EQ(refusal("type=histogram").reason, "a histogram is type=array or type=quantiles here");
  EXPECT_EQ(refusal("type=summary").reason, "a summary is type=quantiles here");
  EXPECT_EQ(refusal("type=percentiles").reason, "percentiles are type=quantiles here");
  EXPECT_TRUE(refusal("type=lisp").reason.starts_with("type must be value, range, "));
  EXPECT_TRUE(refusal("type=quantile").reason.ends_with("or last; did you mean quantiles?"));
}

TEST(ChangeTest, ABlankLineAsksForNothing) {
  for (const char* line : {"", " ", "\t\r\n\v\f "}) {
    EXPECT_EQ(apply(parse_change(line).value(), Definition{}).value(), Definition{});
  }
}

}  // namespace
}  // namespace tallyfs::statistics
