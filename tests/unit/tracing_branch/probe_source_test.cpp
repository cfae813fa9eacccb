#include "core/tracing/branch/probe_source.h"

#include <gtest/gtest.h>

namespace tallyfs::tracing {
namespace {

TEST(FileOfAPlaceTest, IsAnotherOneWhenItWasWrittenSince) {
  EXPECT_TRUE(is_same_file("8:1:77:1000", "8:1:77:1000"));
  EXPECT_FALSE(is_same_file("8:1:77:1000", "8:1:77:1001"));
  EXPECT_FALSE(is_same_file("8:1:77:1000", "8:1:78:1000"));
  EXPECT_FALSE(is_same_file("8:1:77:1000", "-"));
}

TEST(FileOfAPlaceTest, OfAnEarlierStateFileHasNoTime) {
  EXPECT_TRUE(is_same_file("8:1:77", "8:1:77:1000"));
  EXPECT_FALSE(is_same_file("8:1:77", "8:1:778:1000"));
  EXPECT_FALSE(is_same_file("8:1:77", "8:1:78:1000"));
  EXPECT_FALSE(is_same_file("8:1:77", "-"));
}

}  // namespace
}  // namespace tallyfs::tracing
