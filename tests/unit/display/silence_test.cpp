#include "tools/display/silence.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/random.h"

namespace tallyfs::view {
namespace {

constexpr int kSeconds = 10 * 60;

// `count` of each unit, and nothing in the last `quiet` ones.
Past past_of(int quiet, const std::function<double(int unit)>& count) {
  Past past;
  for (int i = 0; i < kSeconds; ++i) past.add({.count = i < kSeconds - quiet ? count(i) : 0});
  return past;
}
Past steady(int quiet) {
  return past_of(quiet, [](int) { return 10.0; });
}

TEST(SilenceTest, BeginsWithAMinuteAndEndsWithTwoOfBaseline) {
  EXPECT_FALSE(silence_of(steady(0)));
  EXPECT_FALSE(silence_of(steady(55)));
  for (const int quiet : {60, 61, 120, 300, 480}) {
    const auto found = silence_of(steady(quiet));
    ASSERT_TRUE(found) << quiet;
    EXPECT_EQ(found->units, static_cast<std::size_t>(quiet));
    EXPECT_NEAR(found->before, 10, 0.5);
  }
  EXPECT_FALSE(silence_of(steady(490)));
}

TEST(SilenceTest, WhatNeverHadASampleIsNotSilent) {
  EXPECT_FALSE(silence_of(past_of(0, [](int) { return 0.0; })));
}

// A job that runs for a minute each three is silent after six.
TEST(SilenceTest, APauseThatIsUsualIsNone) {
  const auto job = [](int unit) { return unit / 60 % 3 == 0 ? 10.0 : 0.0; };
  EXPECT_FALSE(silence_of(past_of(120, job)));
  EXPECT_FALSE(silence_of(past_of(180, job)));
  const auto once_more = [](int unit) { return unit / 20 % 3 == 0 ? 10.0 : 0.0; };
  EXPECT_FALSE(silence_of(past_of(60, once_more)));
  EXPECT_TRUE(silence_of(past_of(300, once_more)));
}

TEST(SilenceTest, AFewSamplesAMinuteNeedLonger) {
  const auto each_10_s = [](int unit) { return unit % 10 == 7 ? 1.0 : 0.0; };
  EXPECT_FALSE(silence_of(past_of(70, each_10_s)));
  EXPECT_TRUE(silence_of(past_of(300, each_10_s)));
}

// 50,000 looks, of which 10^-7 may be wrong.
TEST(SilenceTest, SamplesByChanceAreNotSilent) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::uint64_t each = 1 + i;  // a sample in so many seconds, on the mean
    Past past;
    for (int unit = 0; unit < kSeconds; ++unit) {
      past.add({.count = random.below(each) == 0 ? 1.0 : 0.0});
      if (unit % 5 == 4) {
        ASSERT_FALSE(silence_of(past)) << each;
      }
    }
  }
}

TEST(SilenceTest, ThoseOfAnInterfaceThatStoppedTogetherAreOneRow) {
  const std::vector<Past> pasts = {steady(100), steady(103), steady(0),
                                   steady(98),  steady(200), past_of(99, [](int) { return 50.0; })};
  std::vector<Watched> watched;
  for (const Past& each : pasts) watched.push_back({"web", &each});
  watched.push_back({"db", &pasts[0]});
  std::vector<ChangedRow> none;
  const auto rows = take_silent(watched, none);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].members.front(), 5u);
  EXPECT_EQ(rows[0].members.size(), 4u);
  EXPECT_EQ(count_members(rows), 6u);
  EXPECT_TRUE(reason_of(rows[0], 6).starts_with("4 of 6 statistics: silent, before "))
      << reason_of(rows[0], 6);
}

TEST(SilenceTest, EachIsToldOnce) {
  const std::vector<Past> pasts = {steady(60), steady(60)};
  const std::vector<Watched> watched = {{"web", &pasts[0]}, {"web", &pasts[1]}};
  std::vector<ChangedRow> unusual = {
      {.members = {0}, .onset = {.is_silent = true}, .is_unusual = true}};
  const auto rows = take_silent(watched, unusual);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].members.front(), 1u);
  EXPECT_EQ(unusual.size(), 1u);
  std::vector<ChangedRow> pale = {{.members = {0}, .onset = {.is_silent = true}},
                                  {.members = {1}, .onset = {.is_silent = false}}};
  EXPECT_EQ(take_silent(watched, pale).size(), 2u);
  ASSERT_EQ(pale.size(), 1u);
  EXPECT_EQ(pale[0].members.front(), 1u);
}

}  // namespace
}  // namespace tallyfs::view
