// Removals in steps: they end, also of what grows meanwhile.
#include "core/branch/removal_steps.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(RemovalStepsTest, EndWithTheLastStepOrAFailure) {
  int steps = 0;
  EXPECT_TRUE(remove_in_steps([&](const IsLate& is_late) -> Result<RemovalStep> {
    EXPECT_TRUE(is_late());
    return ++steps == 3 ? RemovalStep::kLast : RemovalStep::kMore;
  }));
  EXPECT_EQ(steps, 3);
  const Result<void> failed = remove_in_steps(
      [](const IsLate&) -> Result<RemovalStep> { return Error{ErrorCode::kNotFound, "gone"}; });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().reason, "gone");
}

TEST(RemovalStepsTest, WhatGrowsMeanwhileIsRemovedWholeAtLast) {
  EXPECT_TRUE(remove_in_steps([](const IsLate& is_late) -> Result<RemovalStep> {
    return is_late() ? RemovalStep::kMore : RemovalStep::kLast;
  }));
}

}  // namespace
}  // namespace tallyfs
