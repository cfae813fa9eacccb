// type=quantiles: what is shown, against sorted samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/statistics/types/quantiles_statistic.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr auto kNumberMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kNumberMin = std::numeric_limits<std::int64_t>::min();

TEST(QuantilesTest, ShowsCountMinAvgPercentilesAndMax) {
  Fixture fixture("on=1 type=quantiles precision=5 quantiles=50,99.9");
  for (std::int64_t x = 1; x <= 10; ++x) fixture.add(x);
  EXPECT_EQ(fixture.data(), "s count 10\ns min 1\ns avg 5.500\ns p50 5\ns p99.9 10\ns max 10\n");
}

TEST(QuantilesTest, ShowsOneLineWithoutSamples) {
  Fixture fixture("on=1 type=quantiles precision=0 quantiles=50");
  EXPECT_EQ(fixture.data(), "s count 0\n");
  fixture.add(7, 0);
  EXPECT_EQ(fixture.data(), "s count 0\n");
}

TEST(QuantilesTest, APercentileIsAtMostTheGreatestX) {
  Fixture fixture("on=1 type=quantiles precision=0 quantiles=50");
  fixture.add(1'000'000);
  EXPECT_EQ(fixture.data(),
            "s count 1\ns min 1000000\ns avg 1000000.000\ns p50 1000000\ns max 1000000\n");
}

TEST(QuantilesTest, EndsOfBucketsFollowTheUnits) {
  Fixture fixture("on=1 type=quantiles precision=0 quantiles=50 units=microseconds/requests");
  // 2^-1 seconds, and a second sample far above
  fixture.add({{.x = 400'000}, {.x = 5'000'000}});
  EXPECT_NE(fixture.data().find("s p50 500000\n"), std::string::npos);
}

TEST(QuantilesTest, BelowZeroTheEndIsTheOneNearerToZero) {
  Fixture fixture("on=1 type=quantiles precision=0 quantiles=25,50,75");
  // -100 is in (-128, -64], -3 in (-4, -2]: integers from -127 and from -3 on
  fixture.add({{.x = -100}, {.x = -3}, {.x = 0}, {.x = 5}});
  EXPECT_EQ(fixture.data(),
            "s count 4\ns min -100\ns avg -24.500\ns p25 -65\ns p50 -3\ns p75 0\ns max 5\n");
}

TEST(QuantilesTest, ChangingThePercentilesKeepsTheData) {
  Fixture fixture("on=1 type=quantiles precision=5 quantiles=50");
  fixture.add(7);
  EXPECT_EQ(fixture.define("quantiles=10,20"), "");
  EXPECT_EQ(fixture.data(), "s count 1\ns min 7\ns avg 7.000\ns p10 7\ns p20 7\ns max 7\n");
  EXPECT_EQ(fixture.attribute("quantiles"), "10,20");
  EXPECT_EQ(fixture.define("precision=4"), "");
  EXPECT_EQ(fixture.data(), "s count 0\n");
}

TEST(QuantilesTest, ANarrowerRangeKeepsTheDataAndItsShareOfTheLedger) {
  Fixture fixture("on=1 type=quantiles precision=8 quantiles=50 range_min=1");
  const std::uint64_t bytes = fixture.ledger.total().bytes;
  fixture.add({{.x = 1}, {.x = 1'000'000}});
  EXPECT_EQ(fixture.define("range_min=10 range_max=20"), "");
  EXPECT_EQ(fixture.ledger.total().bytes, bytes);
  fixture.add({{.x = 5}, {.x = 15}});
  EXPECT_NE(fixture.data().find("s count 3\ns min 1\n"), std::string::npos);
  EXPECT_EQ(fixture.define("data=reset"), "");
  EXPECT_LT(fixture.ledger.total().bytes, bytes - 100'000);
  EXPECT_EQ(fixture.define("range_min=1 range_max=9223372036854775807"), "");
  EXPECT_EQ(fixture.ledger.total().bytes, bytes);
}

TEST(QuantilesTest, ExtremesCount) {
  Fixture fixture("on=1 type=quantiles precision=8 quantiles=1,99");
  fixture.add({{.x = kNumberMin}, {.x = kNumberMax}});
  EXPECT_NE(fixture.data().find("s p99 9223372036854775807\n"), std::string::npos);
  EXPECT_EQ(fixture.add(5, std::numeric_limits<std::uint64_t>::max()), 1u);
  EXPECT_NE(fixture.data().find("s count 18446744073709551615\n"), std::string::npos);
}

TEST(ExponentialHistogramTest, MergesAsIfAllHadGoneIntoOne) {
  const auto& buckets = ExponentialBuckets::get(4, {1, 1'000});
  ExponentialHistogram one(buckets), other(buckets), all(buckets);
  const Span any;
  std::mt19937_64 random(7);
  for (int i = 0; i < 5'000; ++i) {
    const Sample sample{.x = static_cast<std::int64_t>(random()) >> random() % 64,
                        .y = random() % 4};
    (i % 3 == 0 ? one : other).add({&sample, 1}, any);
    all.add({&sample, 1}, any);
  }
  EXPECT_FALSE(one.merge(other, any));
  const auto saved = [](const ExponentialHistogram& histogram) {
    std::string bytes;
    ByteWriter out(bytes);
    histogram.save(out);
    return bytes;
  };
  EXPECT_EQ(saved(one), saved(all));
}

// ---- the promise

struct Case {
  const char* name;
  std::vector<Sample> samples;
};

constexpr std::size_t kSampleCount = kSanitized ? 100'000 : 1'000'000;

template <typename Draw>
Case draw(const char* name, Draw x) {
  Case drawn{name, std::vector<Sample>(kSampleCount)};
  for (Sample& sample : drawn.samples) sample.x = static_cast<std::int64_t>(x());
  return drawn;
}

std::vector<Case> cases(std::mt19937_64& random) {
  std::lognormal_distribution<double> lognormal(6, 1.5);
  std::vector<Case> all;
  all.push_back(draw("uniform", [&] { return random() % 1'000'000; }));
  all.push_back(draw("lognormal", [&] { return lognormal(random); }));
  all.push_back(draw("bimodal", [&] {
    return random() % 10 == 0 ? 900'000 + random() % 1'000 : 100 + random() % 10;
  }));
  all.push_back(draw("constant", [] { return 120; }));
  all.push_back(draw("negative", [&] { return -lognormal(random); }));
  all.push_back(
      draw("both signs", [&] { return static_cast<std::int64_t>(random()) >> random() % 64; }));
  all.push_back(draw("largest", [&] { return kNumberMax - (random() % 4 == 0 ? 0 : 1 << 20); }));
  all.push_back(draw("weighted", [&] { return random() % 5'000; }));
  for (Sample& sample : all.back().samples) {
    sample.y = random() % 3 == 0 ? std::uint64_t{1} << 40 : random() % 8;
  }
  return all;
}

// By the definition of the nearest rank.
std::vector<std::int64_t> true_percentiles(const std::vector<Sample>& sorted,
                                           const QuantileList& list) {
  UInt128 all = 0;
  for (const Sample& sample : sorted) all += sample.y;
  std::vector<std::int64_t> found;
  UInt128 seen = 0;
  for (const Sample& sample : sorted) {
    seen += sample.y;
    while (found.size() < list.size() && seen * 1'000'000 >= all * list.millionths(found.size())) {
      found.push_back(sample.x);
    }
  }
  return found;
}

void expect_promise(std::int64_t shown, std::int64_t wanted, unsigned precision) {
  ASSERT_GE(shown, wanted);
  const double base = std::exp2(std::exp2(-static_cast<double>(precision)));
  const double ratio = wanted >= 0 ? static_cast<double>(shown) / static_cast<double>(wanted)
                                   : static_cast<double>(wanted) / static_cast<double>(shown);
  if (wanted == 0 || shown == wanted) return;
  ASSERT_LT(ratio, base * (1 + 1e-12)) << wanted << " is shown as " << shown;
}

TEST(QuantilesPromiseTest, NeverBelowTheTrueValueAndLessThanABucketAbove) {
  std::mt19937_64 random(20261122);
  const QuantileList list = QuantileList::parse("0.01,1,10,25,50,75,90,99,99.9,99.99").value();
  for (Case& one : cases(random)) {
    std::vector<Sample> sorted = one.samples;
    std::sort(sorted.begin(), sorted.end(),
              [](const Sample& a, const Sample& b) { return a.x < b.x; });
    const auto wanted = true_percentiles(sorted, list);
    ASSERT_EQ(wanted.size(), list.size());
    for (const unsigned precision : {0u, 3u, 5u, 8u}) {
      SCOPED_TRACE(testing::Message() << one.name << " at precision " << precision);
      ExponentialHistogram histogram(ExponentialBuckets::get(precision, {1, 1'000'000}));
      for (std::span<const Sample> rest = one.samples; !rest.empty();) {
        const auto run = rest.first(std::min<std::size_t>(rest.size(), 256));
        histogram.add(run, Span{});
        rest = rest.subspan(run.size());
      }
      std::size_t seen = 0;
      histogram.each_quantile(list, [&](std::size_t i, std::int64_t shown) {
        EXPECT_EQ(i, seen++);
        expect_promise(shown, wanted[i], precision);
      });
      EXPECT_EQ(seen, list.size());
    }
  }
}

}  // namespace
}  // namespace tallyfs::statistics
