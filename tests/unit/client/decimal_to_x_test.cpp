#include "feeders/client/decimal_to_x.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tally/statistic.hpp"

namespace tallyfs {
namespace {

std::string x_of(double number, unsigned decimals) {
  const auto x = decimal_to_x(number, decimals);
  return x ? std::to_string(x.value()) : x.error().reason;
}

TEST(DecimalToXTest, IsTheNearestIntegerAndHalvesGoToEven) {
  EXPECT_EQ(x_of(0.25, 6), "250000");
  EXPECT_EQ(x_of(-0.1, 3), "-100");
  EXPECT_EQ(x_of(0.25, 1), "2");
  EXPECT_EQ(x_of(0.75, 1), "8");
  EXPECT_EQ(x_of(-0.25, 1), "-2");
  EXPECT_EQ(x_of(-0.75, 1), "-8");
  EXPECT_EQ(x_of(1e-300, 9), "0");
  EXPECT_EQ(x_of(-922337203685477504.0, 1), "-9223372036854775040");
}

TEST(DecimalToXTest, RefusesWhatNoXIs) {
  const char* const beyond = "X does not fit into 64 bits";
  EXPECT_EQ(x_of(std::nan(""), 3), "X is no finite number");
  EXPECT_EQ(x_of(-HUGE_VAL, 3), "X is no finite number");
  EXPECT_EQ(x_of(0x1p63 / 10, 1), beyond);
  EXPECT_EQ(x_of(-0x1p63 / 10, 1), beyond) << "the nearest double is less";
  EXPECT_EQ(x_of(std::numeric_limits<double>::max(), 9), beyond);
  EXPECT_EQ(x_of(2.0, 0), "whole numbers only: the statistic has no decimals");
}

TEST(DecimalToXTest, IsInTheExceptionOfCpp) {
  std::int64_t x = 0;
  try {
    tally::check(statistic_to_x(nullptr, 0.5, &x), "statistic_to_x");
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(),
                 "statistic_to_x: whole numbers only: the statistic has no decimals: "
                 "Invalid argument");
  }
}

}  // namespace
}  // namespace tallyfs
