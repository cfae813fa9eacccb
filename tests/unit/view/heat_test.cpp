#include "core/view/heat.h"

#include <gtest/gtest.h>

namespace tallyfs::view {
namespace {

TEST(HeatTopTest, RisesAtOnceAndFallsAfterAWholeWindow) {
  HeatTop top(3);
  top.add(100);
  EXPECT_EQ(top.top(), 128);
  top.add(5);
  top.add(5);
  EXPECT_EQ(top.top(), 128);
  top.add(5);
  EXPECT_EQ(top.top(), 8);
  top.add(1000);
  EXPECT_EQ(top.top(), 1024);
}

}  // namespace
}  // namespace tallyfs::view
