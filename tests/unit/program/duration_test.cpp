// Lengths of time as people type them.
#include "program/duration.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(DurationTest, ATimeHasAUnit) {
  EXPECT_EQ(parse_duration("250us"), 250u);
  EXPECT_EQ(parse_duration("500ms"), 500'000u);
  EXPECT_EQ(parse_duration("10m"), 600'000'000u);
  EXPECT_EQ(parse_duration("2h"), 7'200'000'000u);
  EXPECT_EQ(parse_duration("3660d"), 316'224'000'000'000u);
  for (const char* const text : {"", "5", "s", "-1s", "1.5s", "1 s", "1w", "s1", "3661d",
                                 "18446744073709551616s", "0x1d", "0xd", "0x10s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationTest, ANumberAloneHasTheUnitOfItsOption) {
  EXPECT_EQ(parse_duration("5", TimeUnit::kMicroseconds), 5u);
  EXPECT_EQ(parse_duration("5", TimeUnit::kMilliseconds), 5'000u);
  EXPECT_EQ(parse_duration("5", TimeUnit::kSeconds), 5'000'000u);
  EXPECT_EQ(parse_duration("5m", TimeUnit::kMilliseconds), 300'000'000u);
}

TEST(DurationTest, ItsTextIsReadBack) {
  for (const char* const text : {"0s", "1us", "1500us", "250ms", "90s", "90m", "36h", "30d"}) {
    EXPECT_EQ(duration_text(*parse_duration(text)), text);
  }
  EXPECT_EQ(duration_text(60'000'000), "1m");
}

}  // namespace
}  // namespace tallyfs
