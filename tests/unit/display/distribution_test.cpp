#include "tools/display/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

#include "core/base/exponential_buckets.h"

namespace tallyfs::view {
namespace {

// scale=log2: bounds 0, 1, 2, 4, ... 2^steps.
Statistic log2_array(int steps) {
  Statistic made{.name = "us", .on = true, .type = "array", .units = "microseconds/requests"};
  made.definition = {{"type", "array"}, {"scale", "log2"}};
  Array array;
  array.bounds.push_back(0);
  for (int i = 0; i <= steps; ++i) array.bounds.push_back(std::int64_t{1} << i);
  array.counts.resize(array.bounds.size() + 1);
  made.values = array;
  return made;
}

void count(Statistic& statistic, std::int64_t x) {
  auto& array = std::get<Array>(statistic.values);
  const auto at = std::ranges::lower_bound(array.bounds, x) - array.bounds.begin();
  array.counts[static_cast<std::size_t>(at)] += 1;
}

Percentile at(const Statistic& statistic, std::uint32_t millionths) {
  return percentile(*distribution_of(statistic, Detail::kFine), millionths).value();
}

std::string text(const Percentile& percentile) {
  return percentile_text(percentile, quantity_of_x("microseconds/requests"), false,
                         Charset::kAscii);
}

TEST(DistributionTest, AnEmptyArrayHasNoPercentile) {
  const Statistic statistic = log2_array(4);
  EXPECT_FALSE(percentile(*distribution_of(statistic, Detail::kFine), 500'000));
}

TEST(DistributionTest, BoundsAreThoseOfTheBin) {
  Statistic statistic = log2_array(10);
  for (const int x : {20, 20, 20, 100, 100}) count(statistic, x);
  EXPECT_EQ(at(statistic, 500'000).low, 17);
  EXPECT_EQ(at(statistic, 500'000).high, 32);
  EXPECT_EQ(at(statistic, 610'000).low, 65);
}

TEST(DistributionTest, AWidthOfOneIsExact) {
  Statistic statistic = log2_array(10);
  count(statistic, 2);
  EXPECT_EQ(text(at(statistic, 500'000)), "2us");
}

TEST(DistributionTest, BinsWithoutAnEndAreShownAsSuch) {
  Statistic statistic = log2_array(20);
  count(statistic, -5);
  EXPECT_EQ(text(at(statistic, 500'000)), "<=0us");
  statistic = log2_array(20);
  count(statistic, 5'000'000);
  EXPECT_EQ(text(at(statistic, 500'000)), ">1.04s");
}

TEST(DistributionTest, ALinearBinIsCutInRanks) {
  Statistic statistic{.name = "depth", .on = true, .type = "array"};
  statistic.values = Array{.bounds = {0, 100}, .counts = {0, 10, 0}};
  EXPECT_EQ(at(statistic, 100'000).estimate, 5);
  EXPECT_EQ(at(statistic, 900'000).estimate, 85);
}

TEST(DistributionTest, RanksDoNotOverflow) {
  Statistic statistic{.name = "w", .on = true, .type = "array"};
  const Int128 large = Int128{1} << 110;
  statistic.values = Array{.bounds = {0, 1, 2}, .counts = {0, large, 3 * large, 0}};
  EXPECT_EQ(at(statistic, 250'000).high, 1);
  EXPECT_EQ(at(statistic, 250'001).high, 2);
}

// The nearest-rank percentile of sorted samples lies within the bounds, whatever the shape.
TEST(DistributionTest, BoundsHoldTheTruePercentile) {
  std::mt19937 random(4711);
  std::lognormal_distribution<double> lognormal(5, 1.5);
  std::exponential_distribution<double> exponential(0.002);
  std::uniform_real_distribution<double> uniform(0, 3000);
  const std::vector<std::function<double()>> shapes = {[&] { return lognormal(random); },
                                                       [&] { return exponential(random); },
                                                       [&] { return uniform(random); }};
  for (const auto& shape : shapes) {
    Statistic statistic = log2_array(30);
    std::vector<std::int64_t> sorted;
    for (int i = 0; i < 20'000; ++i) {
      sorted.push_back(static_cast<std::int64_t>(shape()));
      count(statistic, sorted.back());
    }
    std::ranges::sort(sorted);
    for (const std::uint32_t q : {1u, 500'000u, 900'000u, 990'000u, 999'000u, 999'999u}) {
      const auto rank = std::max<std::size_t>(1, (sorted.size() * q + 999'999) / 1'000'000);
      const std::int64_t truth = sorted[rank - 1];
      const Percentile found = at(statistic, q);
      if (found.ends == Bin::Ends::kNoFirst) continue;
      EXPECT_LE(found.low, truth) << q;
      EXPECT_GE(found.high, truth) << q;
      EXPECT_GE(found.estimate, static_cast<double>(found.low));
      EXPECT_LE(found.estimate, static_cast<double>(found.high));
    }
  }
}

Statistic quantiles_of(const std::vector<std::int64_t>& samples) {
  Statistic made{.name = "q", .on = true, .type = "quantiles", .units = "microseconds/requests"};
  made.definition = {{"precision", "5"}, {"quantiles", "50,99"}};
  const auto& edges = ExponentialBuckets::get(5, unit_of_x(made.units).factor);
  Quantiles values;
  for (const std::int64_t x : samples) {
    values.all.number += 1;
    if (x == 0) values.zero += 1;
    if (x == 0) continue;
    Buckets& side = x > 0 ? values.positive : values.negative;
    const auto index =
        edges.first_index() +
        static_cast<std::int32_t>(edges.place(static_cast<std::uint64_t>(std::abs(x))));
    const auto found = std::ranges::lower_bound(side.indexes, index);
    const auto place = found - side.indexes.begin();
    if (found == side.indexes.end() || *found != index) {
      side.indexes.insert(found, index);
      side.counts.insert(side.counts.begin() + place, 0);
    }
    side.counts[static_cast<std::size_t>(place)] += 1;
  }
  values.all.max = *std::ranges::max_element(samples);
  made.values = values;
  return made;
}

TEST(DistributionTest, BucketsOfBothSignsAndZeroHoldTheTruePercentile) {
  std::vector<std::int64_t> samples;
  for (std::int64_t x = -3000; x <= 7000; x += 7) samples.push_back(x);
  samples.push_back(0);
  const Statistic statistic = quantiles_of(samples);
  std::ranges::sort(samples);
  for (const std::uint32_t q : {10'000u, 100'000u, 299'000u, 300'000u, 500'000u, 990'000u}) {
    const auto rank = std::max<std::size_t>(1, (samples.size() * q + 999'999) / 1'000'000);
    const Percentile found = at(statistic, q);
    EXPECT_LE(found.low, samples[rank - 1]) << q;
    EXPECT_GE(found.high, samples[rank - 1]) << q;
  }
}

TEST(DistributionTest, APercentileOfBucketsIsNeverAboveMax) {
  EXPECT_EQ(at(quantiles_of({90, 120, 4700}), 990'000).high, 4700);
}

// Buckets between 1 and 2 microseconds, as a damaged recording may count them.
TEST(DistributionTest, CountsWhereNoIntegerIsKeepBoundsInOrder) {
  Statistic statistic = quantiles_of({1});
  auto& values = std::get<Quantiles>(statistic.values);
  values.positive.indexes.front() += 1;
  for (const Buckets& negative : {Buckets{}, values.positive}) {
    values.negative = negative;
    for (const std::uint32_t q : {1u, 500'000u, 999'999u}) {
      const Percentile found = at(statistic, q);
      EXPECT_LE(found.low, found.high) << q;
    }
  }
}

TEST(DistributionTest, OctavesKeepTheCountAndLeaveNoGap) {
  const Statistic statistic = quantiles_of({1, 2, 3, 100, 150, 4700, 16000});
  const auto octaves = *distribution_of(statistic, Detail::kOctaves);
  EXPECT_EQ(octaves.total(), 7);
  for (std::size_t i = 1; i < octaves.bins.size(); ++i) {
    EXPECT_EQ(octaves.bins[i].first, octaves.bins[i - 1].last + 1) << i;
    // From 4 microseconds on they are twice as wide as the octave before, but for rounding.
    if (octaves.bins[i].last > 4) {
      EXPECT_LE(octaves.bins[i].last, 2 * octaves.bins[i - 1].last + 2) << i;
    }
  }
}

TEST(DistributionTest, MergingKeepsCountsAndEnds) {
  Statistic statistic = log2_array(40);
  for (std::int64_t x = -1; x < 100; ++x) count(statistic, x);
  count(statistic, std::int64_t{1} << 50);
  const auto all = *distribution_of(statistic, Detail::kFine);
  const auto fewer = merged(all, 12);
  EXPECT_LE(fewer.bins.size(), 12u);
  EXPECT_EQ(fewer.total(), all.total());
  EXPECT_EQ(fewer.bins.front().ends, Bin::Ends::kNoFirst);
  EXPECT_EQ(fewer.bins.front().count, all.bins.front().count);
  EXPECT_EQ(fewer.bins.back().ends, Bin::Ends::kNoLast);
  EXPECT_EQ(fewer.bins.back().count, 1);
}

TEST(DistributionTest, BoundsThatLookTheSameGetAnotherDigit) {
  EXPECT_EQ(text({.low = 15'900, .high = 16'020, .estimate = 16'020}), "16.0ms (15.9-16.1)");
  EXPECT_EQ(text({.low = 16'019, .high = 16'020, .estimate = 16'020}), "16ms");
}

TEST(DistributionTest, NoValueIsOutsideItsShownBounds) {
  EXPECT_EQ(text({.low = 9'941, .high = 10'361, .estimate = 10'000}), "10ms (9.9-11)");
  EXPECT_EQ(text({.low = 9'970, .high = 11'200, .estimate = 10'000}), "10ms (9.9-12)");
  EXPECT_EQ(text({.low = -3'060, .high = -1'060, .estimate = -2'000}), "-2.0ms (-3.1--1.0)");
  const Percentile above{.ends = Bin::Ends::kNoLast, .high = 4'096};
  EXPECT_EQ(text(above), ">4.09ms");
  const Percentile below{.ends = Bin::Ends::kNoFirst, .high = 4'091};
  EXPECT_EQ(text(below), "<=4.10ms");
}

TEST(DistributionTest, ABoundThatIsShownExactlyStaysAsItIs) {
  EXPECT_EQ(text({.low = 4'100, .high = 5'700, .estimate = 5'000}), "5.0ms (4.1-5.7)");
  EXPECT_EQ(text({.low = 65, .high = 128, .estimate = 91}), "91us (65-128)");
}

TEST(DistributionTest, LabelsOfBinsExcludeTheLowerEnd) {
  Statistic statistic = log2_array(20);
  count(statistic, 9);
  const auto bins = distribution_of(statistic, Detail::kFine)->bins;
  const Quantity quantity = quantity_of_x("microseconds/requests");
  EXPECT_EQ(bin_text(bins[5], quantity, false, Charset::kAscii), "8us - 16us");
  EXPECT_EQ(bin_text(bins.front(), quantity, false, Charset::kAscii), "<=0us");
  EXPECT_EQ(bin_text(bins.back(), quantity, false, Charset::kAscii), ">1.0s");
}

}  // namespace
}  // namespace tallyfs::view
