// statistic_last_error(), and what C++ makes of it. No call here gets as far as making the Client.
#include "feeders/client/last_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <thread>

#include "tally/statistic.hpp"

namespace tallyfs {
namespace {

TEST(LastErrorTest, IsThatOfTheLastCallThatFailed) {
  EXPECT_EQ(statistic_define_range(nullptr, 1, 0), -EINVAL);
  EXPECT_STREQ(statistic_last_error(), "range_min must not be above range_max");
  EXPECT_EQ(statistic_define_list(nullptr, 0, 1, 0), -EINVAL);
  EXPECT_STREQ(statistic_last_error(), "entries_max must be a number from 1 to 1048576");
  EXPECT_EQ(statistic_start(nullptr), -EINVAL);
  EXPECT_STREQ(statistic_last_error(), "the statistic could not be created");
}

TEST(LastErrorTest, IsOfThisThread) {
  EXPECT_EQ(fail_with(EPERM, "mine"), -EPERM);
  std::string others = "not looked at";
  std::thread([&] { others = statistic_last_error(); }).join();
  EXPECT_EQ(others, "");
  EXPECT_STREQ(statistic_last_error(), "mine");
}

TEST(LastErrorTest, IsCutAtItsBound) {
  fail_with(EINVAL, std::string(10 * kReasonBytes, 'x'));
  EXPECT_EQ(statistic_last_error(), std::string(kReasonBytes, 'x'));
}

TEST(LastErrorTest, IsInTheExceptionOfCpp) {
  try {
    tally::check(statistic_define_range(nullptr, 1, 0), "statistic_define");
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EINVAL);
    EXPECT_STREQ(error.what(),
                 "statistic_define: range_min must not be above range_max: Invalid argument");
  }
}

}  // namespace
}  // namespace tallyfs
