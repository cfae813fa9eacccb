#include "tools/display/paced_past.h"

#include <gtest/gtest.h>

namespace tallyfs::view {
namespace {

TEST(PacedPastTest, WhatComesLateIsSpreadOverTheUnitsSince) {
  PacedPast past(0.25, 100);
  past.add({.count = 4});
  past.add({.count = 6, .buckets = {{3, 5}}});
  past.go_to(105);
  past.go_to(105);
  past.go_to(101);  // read early
  EXPECT_EQ(past.end_of_blocks(), 105u);
  past.go_to(109);
  EXPECT_EQ(past.end_of_blocks(), 105u);
  past.add({.count = 20});
  past.go_to(110);
  EXPECT_EQ(past.end_of_blocks(), 110u);
  EXPECT_EQ(past.begin(), 100u);
  ASSERT_EQ(past.past().blocks().size(), 2u);
  EXPECT_FLOAT_EQ(past.past().blocks()[0].count, 10);
  EXPECT_FLOAT_EQ(past.past().blocks()[1].count, 20);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(past.past().unit(i).count, 2);
    EXPECT_FLOAT_EQ(past.past().unit(i).buckets.at(0).count, 1);
  }
  EXPECT_DOUBLE_EQ(past.past().unit(8).count, 0);
  EXPECT_DOUBLE_EQ(past.past().unit(9).count, 20);
}

}  // namespace
}  // namespace tallyfs::view
