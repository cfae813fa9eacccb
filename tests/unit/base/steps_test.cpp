// Work in steps: it ends, also of what grows meanwhile.
#include "core/base/steps.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(StepsTest, EndWithTheLastStepOrAFailure) {
  int steps = 0;
  EXPECT_TRUE(work_in_steps([&](const IsLate& is_late) -> Result<Step> {
    EXPECT_TRUE(is_late());
    return ++steps == 3 ? Step::kLast : Step::kMore;
  }));
  EXPECT_EQ(steps, 3);
  const Result<void> failed = work_in_steps(
      [](const IsLate&) -> Result<Step> { return Error{ErrorCode::kNotFound, "gone"}; });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().reason, "gone");
}

TEST(StepsTest, WhatGrowsMeanwhileIsDoneWholeAtLast) {
  EXPECT_TRUE(work_in_steps([](const IsLate& is_late) -> Result<Step> {
    return is_late() ? Step::kMore : Step::kLast;
  }));
}

}  // namespace
}  // namespace tallyfs
