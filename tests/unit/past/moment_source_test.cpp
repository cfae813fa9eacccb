// Moments of a store, one after the other, against what was written in each second.
#include "tools/past/moment_source.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/display/change.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

using std::chrono::microseconds;

std::unique_ptr<MomentSource> open(const std::string& directory, const Span& span,
                                   const MomentSource::Wanted& wanted = {}) {
  auto made = MomentSource::open(StoreReader::open(directory).value(), span, wanted);
  EXPECT_TRUE(made) << (made ? "" : made.error().reason);
  return std::move(made).value();
}

// Of the interval that ends at each moment, what is known of it.
std::map<std::uint64_t, std::optional<std::vector<Int128>>> intervals_of(
    MomentSource& source, microseconds every = microseconds(0)) {
  std::map<std::uint64_t, std::optional<std::vector<Int128>>> made;
  view::Interface before = read_interface(source, "web").value();
  while (source.next(every).value() == Source::Next::kMoment) {
    view::Interface now = read_interface(source, "web").value();
    const auto change = view::change_between(before, now, "us");
    auto& counts = made[now.time_us];
    if (change.counted) counts = std::get<view::Array>(change.counted->values).counts;
    before = std::move(now);
  }
  return made;
}

TEST(MomentSourceTest, EachIntervalIsWhatItsSecondsCounted) {
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  Model model(*writer);
  model.write(kBeginUs, 400);
  ASSERT_TRUE(writer->end());
  const Span span{kBeginUs + 37 * kSecondUs, kBeginUs + 301 * kSecondUs};
  const auto source = open(directory / "store", span);
  EXPECT_EQ(source->period(), std::chrono::seconds(1));
  const auto found = intervals_of(*source);
  EXPECT_EQ(found.size(), 264u);
  for (const auto& [end, counts] : found) {
    EXPECT_EQ(counts, model.counts({end - kSecondUs, end})) << model.seed();
  }
  const auto coarse = intervals_of(*open(directory / "store", span), std::chrono::seconds(60));
  EXPECT_EQ(coarse.size(), 5u);
  EXPECT_EQ(coarse.begin()->second,
            model.counts({span.begin_us, span.begin_us + 60 * kSecondUs}));
}

TEST(MomentSourceTest, WhatWasNotObservedIsNotZero) {
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  Model model(*writer);
  model.write(kBeginUs, 20);
  model.write(kBeginUs + 25 * kSecondUs, 20);
  ASSERT_TRUE(writer->end());
  const auto found =
      intervals_of(*open(directory / "store", {kBeginUs, kBeginUs + 45 * kSecondUs}));
  for (std::uint64_t second = 1; second <= 45; ++second) {
    const std::uint64_t end = kBeginUs + second * kSecondUs;
    const auto interval = found.find(end);
    const bool is_known = interval != found.end() && interval->second.has_value();
    EXPECT_EQ(is_known, second <= 20 || second > 25) << second;
    if (is_known) {
      EXPECT_EQ(interval->second, model.counts({end - kSecondUs, end})) << model.seed();
    }
  }
}

// Of an interval with a gap in it nothing is known, also where little was counted before.
TEST(MomentSourceTest, AGapWithinAnIntervalIsNoLowerRate) {
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  const std::uint64_t id = writer->series("web", "us", kShape);
  for (std::uint64_t second = 0; second < 60; ++second) {
    if (second >= 25 && second < 28) continue;
    writer->go_to(kBeginUs + second * kSecondUs + kSecondUs / 2);
    writer->add(id, second_of(1, second < 25 ? 0 : 100));
    ASSERT_TRUE(!writer->is_due() || writer->flush());
  }
  ASSERT_TRUE(writer->end());
  const auto source = open(directory / "store", {kBeginUs, kBeginUs + 60 * kSecondUs});
  view::Interface before = read_interface(*source, "web").value();
  std::vector<std::optional<std::uint64_t>> samples;
  while (source->next(std::chrono::seconds(20)).value() == Source::Next::kMoment) {
    view::Interface now = read_interface(*source, "web").value();
    samples.push_back(view::change_between(before, now, "us").samples);
    before = std::move(now);
  }
  EXPECT_EQ(samples, (std::vector<std::optional<std::uint64_t>>{0, std::nullopt, 2000}));
}

TEST(MomentSourceTest, OldSpansHaveTheirCoarserPoints) {
  TemporaryDirectory directory;
  const auto writer =
      write_to(directory / "store", {.tiers = parse_tiers("1s:2m,10s:10m,1m:1h").value()});
  Model model(*writer);
  model.write(kBeginUs, 1800);
  ASSERT_TRUE(writer->flush());
  const auto source =
      open(directory / "store", {kBeginUs + 1300 * kSecondUs, kBeginUs + 1500 * kSecondUs});
  EXPECT_EQ(source->period(), std::chrono::seconds(10));
  const auto found = intervals_of(*source);
  EXPECT_EQ(found.size(), 20u);
  for (const auto& [end, counts] : found) {
    EXPECT_EQ(counts, model.counts({end - 10 * kSecondUs, end})) << model.seed();
  }
}

TEST(MomentSourceTest, ASpanWithoutAnythingHasNoMoments) {
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store");
  Model(*writer).write(kBeginUs, 20);
  ASSERT_TRUE(writer->end());
  const auto source = open(directory / "store", {kBeginUs + kHourUs, kBeginUs + 2 * kHourUs});
  EXPECT_EQ(source->next(microseconds(0)).value(), Source::Next::kEnd);
  EXPECT_TRUE(read_tree(*source).value().interfaces.empty());
}

// Each span has more steps than a test could wait for, if they were taken one by one.
TEST(MomentSourceTest, TimesOfWhichTheStoreHasNothingCostNoSteps) {
  constexpr std::uint64_t kLongUs = 1'000'000 * kHourUs;
  TemporaryDirectory directory;
  const auto writer = write_to(directory / "store", {.tiers = parse_tiers("1s:3000d").value()});
  Model model(*writer);
  model.write(kBeginUs, 20);
  model.write(kBeginUs + 60'000 * kHourUs, 20);
  ASSERT_TRUE(writer->end());
  const auto future = open(directory / "store", {kBeginUs + kLongUs, kBeginUs + 2 * kLongUs});
  EXPECT_EQ(future->next(microseconds(0)).value(), Source::Next::kEnd);
  const auto past = open(directory / "store", {kSecondUs, kBeginUs - kHourUs});
  EXPECT_EQ(past->next(microseconds(0)).value(), Source::Next::kEnd);
  const auto found = intervals_of(*open(directory / "store", {kSecondUs, kBeginUs + kLongUs}));
  // The first second after a gap ends an interval of which nothing is known.
  std::size_t known = 0;
  for (const auto& [end, counts] : found) {
    if (!counts) continue;
    ++known;
    EXPECT_EQ(counts, model.counts({end - kSecondUs, end})) << model.seed();
  }
  EXPECT_EQ(known, 40u);
}

TEST(MomentSourceTest, OfOneStatisticACoarserTierHasEnoughPoints) {
  TemporaryDirectory directory;
  const auto writer =
      write_to(directory / "store", {.tiers = parse_tiers("1s:1h,10s:1h,1m:1h").value()});
  Model model(*writer);
  const std::uint64_t other = writer->series("web", "other", kShape);
  writer->go_to(kBeginUs + kSecondUs / 2);
  writer->add(other, second_of(1, 1));
  model.write(kBeginUs, 1800);
  ASSERT_TRUE(writer->end());
  const Span span{kBeginUs, kBeginUs + 1200 * kSecondUs};
  for (const auto& [points, seconds] : {std::pair(0, 1), {121, 1}, {120, 10}, {20, 60}, {1, 60}}) {
    const auto source =
        open(directory / "store", span,
             {.interface = "web",
              .statistics = {"us"},
              .points = static_cast<std::uint64_t>(points)});
    EXPECT_EQ(source->period(), std::chrono::seconds(seconds)) << points;
    EXPECT_EQ(read_interface(*source, "web").value().statistics.size(), 1u);
    const auto found = intervals_of(*source);
    EXPECT_EQ(found.size(), 1200u / static_cast<unsigned>(seconds));
    for (const auto& [end, counts] : found) {
      const std::uint64_t begin = end - static_cast<std::uint64_t>(seconds) * kSecondUs;
      EXPECT_EQ(counts, model.counts({begin, end})) << model.seed();
    }
  }
}

}  // namespace
}  // namespace tallyfs::past
