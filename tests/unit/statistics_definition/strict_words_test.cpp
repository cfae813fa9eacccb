#include "core/statistics/definition/strict_words.h"

#include <gtest/gtest.h>

#include "core/statistics/definition/change.h"
#include "core/statistics/definition/unread_words.h"

namespace tallyfs::statistics {
namespace {

Error strict_refusal(std::string_view line) {
  const auto change = parse_change(line, Strictness::kStrict);
  return change ? Error{.reason = "accepted"} : change.error();
}

struct RefusedLine {
  const char* line;
  std::size_t at;
  const char* reason;
};

TEST(StrictWordsTest, AWordThatNothingReadsIsRefusedWithWhatToWrite) {
  for (const RefusedLine& each :
       {RefusedLine{"name=a types=range", 7, "there is no key 'types'; did you mean type?"},
        RefusedLine{"rnage_min=5 on=1", 0, "there is no key 'rnage_min'; did you mean range_min?"},
        RefusedLine{"on=1 now", 5, "'now' is no key=value, and values have no blanks"},
        RefusedLine{"on=1 units=milli seconds", 17,
                    "'seconds' is no key=value, and values have no blanks"},
        RefusedLine{"data=clear", 0, "the only value of data is reset"},
        RefusedLine{"data=[1.5]", 0, "the only value of data is reset"},
        RefusedLine{"on=0 on=1", 5, "on is given twice"},
        RefusedLine{"data=reset data=reset", 11, "data is given twice"},
        RefusedLine{"hits_missed=x", 0, "hits_missed is read-only"},
        RefusedLine{"started=now", 0, "started is read-only"},
        RefusedLine{"strict=0", 0, "there is no key 'strict'; the keys are "}}) {
    const Error error = strict_refusal(each.line);
    EXPECT_TRUE(error.reason.starts_with(each.reason)) << each.line << ": " << error.reason;
    EXPECT_EQ(error.token_at, each.at) << each.line;
  }
}

TEST(StrictWordsTest, AWordThatIsNearToNoneIsRefusedWithTheList) {
  EXPECT_EQ(strict_refusal("colour=1").reason,
            "there is no key 'colour'; the keys are name of on data undo type range_min "
            "range_max entries_max base base_interval scale mode period precision quantiles "
            "decimals units help");
}

TEST(StrictWordsTest, WhatIsPrintedIsAccepted) {
  EXPECT_TRUE(
      parse_change("name=a on=1 type=range range_min=0 range_max=9 hits_out_of_range=7 "
                   "hits_missed=3 data=[3.000000] started=[2.000000] stopped=[1.000000] "
                   "units=us/requests data=reset",
                   Strictness::kStrict));
}

TEST(StrictWordsTest, TheMarkMakesAnyLineStrict) {
  EXPECT_FALSE(parse_change("strict=1 name=a types=range"));
  EXPECT_FALSE(parse_change("name=a types=range strict=1"));
  EXPECT_TRUE(parse_change("name=a types=range"));
  EXPECT_TRUE(parse_change("strict=1 on=1"));
}

TEST(StrictWordsTest, MessagesLeaveTheMarkOut) {
  EXPECT_EQ(without_strict_mark("strict=1 name=a on=2"), "name=a on=2");
  EXPECT_EQ(without_strict_mark("name=a strict=1  on=2"), "name=a on=2");
  EXPECT_EQ(without_strict_mark("name=a on=2"), "name=a on=2");
  const Error error = without_strict_mark(invalid("on must be 0 or 1", 16), "strict=1 name=a on=2");
  EXPECT_EQ(error.token_at, 7u);
  EXPECT_EQ(error.text, "name=a on=2");
}

TEST(StrictWordsTest, FractionsAreNoPercentages) {
  EXPECT_EQ(strict_refusal("quantiles=0.5,0.99").reason, "quantiles are percentages: 50,99");
  EXPECT_EQ(strict_refusal("quantiles=0.5,0.999").reason, "quantiles are percentages: 50,99.9");
  EXPECT_EQ(strict_refusal("quantiles=0.5,99").reason, "accepted");
  EXPECT_TRUE(parse_change("quantiles=0.5,0.99"));
}

TEST(StrictWordsTest, AKeyOfAnotherTypeIsRefusedWithItsTypes) {
  const auto read = [](std::string_view line, const Settings& settings) {
    const auto all = check_all_read(line, attributes_of(settings));
    return all ? std::string("read") : all.error().reason;
  };
  EXPECT_EQ(read("on=1 entries_max=5", RangeSettings{}),
            "entries_max is for type=list, history or raw");
  EXPECT_EQ(read("precision=5", HistorySettings{}),
            "precision is for type=history with mode=quantiles or quantiles");
  EXPECT_EQ(read("units=us/requests", RangeSettings{}), "read");
  EXPECT_EQ(read("entries_max=5", RawSettings{}), "read");
}

}  // namespace
}  // namespace tallyfs::statistics
