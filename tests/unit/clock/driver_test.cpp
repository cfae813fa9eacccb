#include "feeders/clock/driver.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace tallyfs {
namespace {

// No descriptor is to be had. A driver that is in use stays, and is not begun with.
TEST(DriverTest, WhatCannotBeReadIsNotAVerdict) {
  const Trust before = is_counter_trusted();
#if defined(__x86_64__)
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Trust meanwhile = is_counter_trusted();
  const Driver* const best = best_driver();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (before == Trust::kYes) {
    EXPECT_EQ(meanwhile, Trust::kUnknown);
  }
  EXPECT_EQ(best, &kMonotonicDriver);
#endif
  EXPECT_EQ(is_counter_trusted(), before);
}

}  // namespace
}  // namespace tallyfs
