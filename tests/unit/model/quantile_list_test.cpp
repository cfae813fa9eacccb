#include "core/base/quantile_list.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(QuantileListTest, KeepsNumbersAsTheyWereGiven) {
  const QuantileList list = QuantileList::parse("0.0001,05,50.0,99.9").value();
  EXPECT_EQ(list.text(), "0.0001,05,50.0,99.9");
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list.millionths(0), 1u);
  EXPECT_EQ(list.label(1), "05");
  EXPECT_EQ(list.millionths(1), 50'000u);
  EXPECT_EQ(list.label(3), "99.9");
  EXPECT_EQ(list.millionths(3), 999'000u);
}

TEST(QuantileListTest, CopiesAreEqualAndApart) {
  const QuantileList list = QuantileList::parse("50").value();
  const QuantileList copy = list;
  EXPECT_EQ(copy, list);
  EXPECT_NE(copy, QuantileList());
  EXPECT_EQ(QuantileList(), QuantileList());
}

TEST(QuantileListTest, RefusesAllElse) {
  for (const char* text :
       {"",      ",",       "50,",   ",50",
        "0",     "0.0000",  "100",   "99.99999",
        "50,50", "50,50.0", "60,50", "-1",
        "+1",    "1e1",     "0x10",  ".5",
        "5.",    "5..5",    "5.5.5", "50 ",
        "p50",   "150",     "nan",   "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"}) {
    EXPECT_FALSE(QuantileList::parse(text)) << text;
  }
  EXPECT_TRUE(QuantileList::parse("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"));
}

}  // namespace
}  // namespace tallyfs
