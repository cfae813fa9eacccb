#include "core/base/nearest.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(NearestTest, FindsTheWordWithTheFewestChanges) {
  EXPECT_EQ(nearest("shwo", {"ls", "show", "top"}), "show");
  EXPECT_EQ(nearest("latncy_us", {"latency", "latency_us"}), "latency_us");
  EXPECT_EQ(nearest("web", {"wab", "web"}), "web");
}

TEST(NearestTest, FindsNothingThatIsFar) {
  EXPECT_EQ(nearest("web", {"database"}), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(nearest(std::string(300, 'a'), {std::string(300, 'a')}), std::nullopt);
}

TEST(NearestTest, AMessageAsksForIt) {
  EXPECT_EQ(did_you_mean("latncy", {"latency", "hits"}, "web/"), "; did you mean web/latency?");
  EXPECT_EQ(did_you_mean("latncy", {"hits"}), "");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace tallyfs
