#include "tools/display/behaviour.h"

#include <gtest/gtest.h>

#include <functional>

#include "tools/display/onset.h"

namespace tallyfs::view {
namespace {

constexpr int kSpan = 60;  // units

using MakeUnit = std::function<Portion(int unit)>;

// Units from 0 on; `spans` of them.
Past past_of(int spans, const MakeUnit& make) {
  Past past;
  for (int i = 0; i < spans * kSpan; ++i) past.add(make(i));
  return past;
}

// A count that is never twice the same, without chance: 9, 10 or 11.
double about_ten(int unit) { return 9 + unit * 7 % 3; }

Portion counted(double count) { return {.count = count}; }

// Samples around 2^level.
Portion leveled(int unit, double level, float count = 10) {
  const auto middle = static_cast<std::int16_t>(4 * level + unit % 2);
  return {.count = count,
          .buckets = {{static_cast<std::int16_t>(middle - 2), count / 4},
                      {middle, count / 2},
                      {static_cast<std::int16_t>(middle + 2), count / 4}}};
}

TEST(BehaviourTest, NeedsTwoSpansOfBaseline) {
  const MakeUnit steady = [](int unit) { return counted(about_ten(unit)); };
  EXPECT_FALSE(behaviour_of(past_of(2, steady)));
  EXPECT_TRUE(behaviour_of(past_of(3, steady)));
}

TEST(BehaviourTest, WhatIsSteadyIsAsBefore) {
  EXPECT_EQ(behaviour_of(past_of(10, [](int unit) { return counted(about_ten(unit)); }))->score, 0);
  EXPECT_EQ(behaviour_of(past_of(10, [](int unit) { return leveled(unit, 10); }))->score, 0);
}

TEST(BehaviourTest, NothingAtAllIsAsBefore) {
  EXPECT_EQ(behaviour_of(past_of(10, [](int) { return Portion(); }))->score, 0);
}

TEST(BehaviourTest, ARateThatGrewTenfoldIsUnusual) {
  const Past past = past_of(
      10, [](int unit) { return counted(about_ten(unit) * (unit >= 10 * kSpan - 30 ? 10 : 1)); });
  const Behaviour found = *behaviour_of(past);
  EXPECT_EQ(found.channel, Channel::kRate);
  EXPECT_EQ(found.direction, Direction::kUp);
  EXPECT_GT(found.score, 5);
  const Onset onset = onset_of(past, found, baseline_of(past, found.channel, 9));
  EXPECT_EQ(onset.begin, 30u);
  EXPECT_EQ(onset.end, 0u);
}

TEST(BehaviourTest, SilenceIsSinceTheLastSample) {
  const Past past =
      past_of(10, [](int unit) { return counted(unit >= 10 * kSpan - 20 ? 0 : about_ten(unit)); });
  const Behaviour found = *behaviour_of(past);
  EXPECT_EQ(found.channel, Channel::kRate);
  EXPECT_EQ(found.direction, Direction::kDown);
  EXPECT_GT(found.score, 5);
  const Onset onset = onset_of(past, found, baseline_of(past, found.channel, 9));
  EXPECT_TRUE(onset.is_silent);
  EXPECT_EQ(onset.begin, 20u);
}

TEST(BehaviourTest, SlowerByAnOctaveIsUnusual) {
  const Past past =
      past_of(10, [](int unit) { return leveled(unit, unit >= 10 * kSpan - 20 ? 11 : 10); });
  const Behaviour found = *behaviour_of(past);
  EXPECT_NE(found.channel, Channel::kRate);
  EXPECT_EQ(found.direction, Direction::kUp);
  EXPECT_GT(found.score, 5);
  EXPECT_EQ(onset_of(past, found, baseline_of(past, found.channel, 9)).begin, 20u);
}

TEST(BehaviourTest, FasterByTwoOctavesIsALevel) {
  const Past past =
      past_of(10, [](int unit) { return leveled(unit, unit >= 10 * kSpan - 20 ? 8 : 10); });
  const Behaviour found = *behaviour_of(past);
  EXPECT_EQ(found.channel, Channel::kLevel);
  EXPECT_EQ(found.direction, Direction::kDown);
  EXPECT_GT(found.score, 5);
  EXPECT_EQ(onset_of(past, found, baseline_of(past, found.channel, 9)).begin, 20u);
}

TEST(BehaviourTest, AFewSlowSamplesAreATail) {
  const Past past = past_of(10, [](int unit) {
    Portion made = leveled(unit, 10, 100);
    if (unit >= 10 * kSpan - 30) made.buckets.push_back({60, 3});
    return made;
  });
  const Behaviour found = *behaviour_of(past);
  EXPECT_TRUE(found.channel == Channel::kTail || found.channel == Channel::kFarTail);
  EXPECT_GT(found.score, 5);
  EXPECT_EQ(onset_of(past, found, baseline_of(past, found.channel, 9)).begin, 30u);
}

TEST(BehaviourTest, ASpikeIsNoChange) {
  EXPECT_EQ(behaviour_of(past_of(10,
                                 [](int unit) {
                                   const bool is_spike = unit == 10 * kSpan - 13;
                                   return counted(about_ten(unit) * (is_spike ? 100 : 1));
                                 }))
                ->score,
            0);
}

TEST(BehaviourTest, ABurstOfEachMinuteIsUsual) {
  const auto burst = [](int unit) {
    return counted(about_ten(unit) * (unit % kSpan < 15 ? 10 : 1));
  };
  EXPECT_LT(behaviour_of(past_of(15, burst))->score, 3);
}

TEST(BehaviourTest, AGaugeThatDoubledIsUnusualAndOneThatWalksIsNot) {
  const auto gauge = [](int unit, double factor) {
    return Portion{.value = (1000 + unit % 7) * factor};
  };
  const Past doubled =
      past_of(10, [&](int unit) { return gauge(unit, unit >= 10 * kSpan - 30 ? 2 : 1); });
  const Behaviour found = *behaviour_of(doubled);
  EXPECT_EQ(found.channel, Channel::kValue);
  EXPECT_GT(found.score, 5);
  EXPECT_EQ(onset_of(doubled, found, baseline_of(doubled, found.channel, 9)).begin, 30u);
  const Past walks = past_of(10, [&](int unit) { return gauge(unit, 1 + unit % 100 / 1000.0); });
  EXPECT_EQ(behaviour_of(walks)->score, 0);
}

TEST(BehaviourTest, ALongPastIsBounded) {
  const Past past = past_of(40, [](int unit) { return leveled(unit, 10); });
  EXPECT_LE(past.blocks().size(), Past::kBlocksMax + 4 * Past::kSpanBlocks);
  EXPECT_LE(past.units(), Past::kUnitsMax);
  EXPECT_FLOAT_EQ(static_cast<float>(past.baseline().count), 9 * kSpan * 10);
}

TEST(BehaviourTest, ExtremeSamplesHaveABucket) {
  EXPECT_EQ(bucket_of(-5), kLowestBucket);
  EXPECT_EQ(bucket_of(0), kLowestBucket);
  EXPECT_EQ(bucket_of(1), 0);
  EXPECT_EQ(bucket_of(2), 4);
  EXPECT_LT(place_of_bucket(bucket_of(1e300)), kPastBuckets);
}

}  // namespace
}  // namespace tallyfs::view
