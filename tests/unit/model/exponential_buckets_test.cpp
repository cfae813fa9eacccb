#include "core/base/exponential_buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <random>
#include <string_view>

namespace tallyfs {
namespace {

using Number = boost::multiprecision::cpp_int;

constexpr std::string_view kUnits[] = {"nanoseconds/n", "microseconds/n", "seconds/n",
                                       "minutes/n",     "bits/n",         "GiB/n",
                                       "percent/n",     "furlongs/n"};

// Whether X times the factor is at most base^index, by integers alone: both sides to the power of
// 2^precision.
bool is_within(std::uint64_t x, const ExponentialBuckets& buckets, const UnitFactor& factor,
               std::int32_t index) {
  const unsigned power = 1u << buckets.precision();
  Number left = boost::multiprecision::pow(Number(x) * factor.numerator, power);
  Number right = boost::multiprecision::pow(Number(factor.denominator), power);
  if (index < 0) {
    left <<= static_cast<unsigned>(-index);
  } else {
    right <<= static_cast<unsigned>(index);
  }
  return left <= right;
}

void expect_exact(const ExponentialBuckets& buckets, const UnitFactor& factor,
                  std::uint32_t place) {
  const std::int32_t index = buckets.first_index() + static_cast<std::int32_t>(place);
  const std::uint64_t edge = buckets.upper(place);
  EXPECT_TRUE(is_within(edge, buckets, factor, index)) << place;
  EXPECT_FALSE(is_within(edge + 1, buckets, factor, index)) << place;
}

TEST(ExponentialBucketsTest, EachEdgeIsTheLargestIntegerOfItsBucket) {
  for (const std::string_view units : kUnits) {
    const UnitFactor factor = unit_of_x(units).factor;
    for (const unsigned precision : {0u, 1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << units << " " << precision);
      const auto& buckets = ExponentialBuckets::get(precision, factor);
      for (std::uint32_t place = 0; place + 1 < buckets.places(); ++place) {
        expect_exact(buckets, factor, place);
      }
    }
  }
}

TEST(ExponentialBucketsTest, EdgesAreExactAtHighPrecisionToo) {
  for (const std::string_view units : {kUnits[1], kUnits[2]}) {
    const UnitFactor factor = unit_of_x(units).factor;
    const auto& buckets = ExponentialBuckets::get(8, factor);
    for (std::uint32_t place = 5; place + 1 < buckets.places(); place += 487) {
      expect_exact(buckets, factor, place);
    }
  }
}

TEST(ExponentialBucketsTest, IndicesAreThoseOfTheBaseUnit) {
  // 2^-20 < 10^-6 <= 2^-19
  EXPECT_EQ(ExponentialBuckets::get(0, {1, 1'000'000}).first_index(), -19);
  EXPECT_EQ(ExponentialBuckets::get(0, {1, 1}).first_index(), 0);
  EXPECT_EQ(ExponentialBuckets::get(0, {60, 1}).first_index(), 6);
  EXPECT_EQ(ExponentialBuckets::get(3, {1, 1}).place(2), 8u);
}

TEST(ExponentialBucketsTest, APlaceHasXBetweenItsEnds) {
  std::mt19937_64 random(1);
  for (const std::string_view units : kUnits) {
    for (unsigned precision = 0; precision <= ExponentialBuckets::kPrecisionMax; ++precision) {
      SCOPED_TRACE(testing::Message() << units << " " << precision);
      const auto& buckets = ExponentialBuckets::get(precision, unit_of_x(units).factor);
      const auto expect_between = [&](std::uint64_t x) {
        const std::uint32_t place = buckets.place(x);
        ASSERT_LT(place, buckets.places()) << x;
        ASSERT_LE(buckets.lower(place), x);
        ASSERT_GE(buckets.upper(place), x);
      };
      for (std::uint64_t x = 1; x <= 600; ++x) expect_between(x);
      for (int i = 0; i < 2'000; ++i) expect_between((random() >> random() % 64) / 2 + 1);
      for (std::uint32_t place = 0; place < buckets.places(); place += 7) {
        const std::uint64_t edge = std::min(buckets.upper(place), ExponentialBuckets::kXMax - 1);
        expect_between(edge);
        expect_between(edge + 1);
      }
      expect_between(ExponentialBuckets::kXMax);
      EXPECT_EQ(buckets.place(1), 0u);
      EXPECT_EQ(buckets.place(ExponentialBuckets::kXMax) + 1, buckets.places());
    }
  }
}

TEST(ExponentialBucketsTest, AreMadeOnce) {
  EXPECT_EQ(&ExponentialBuckets::get(5, unit_of_x("seconds/n").factor),
            &ExponentialBuckets::get(5, unit_of_x("furlongs/n").factor));
  EXPECT_NE(&ExponentialBuckets::get(5, unit_of_x("seconds/n").factor),
            &ExponentialBuckets::get(5, unit_of_x("minutes/n").factor));
}

TEST(UnitFactorTest, OneWordAloneIsNoUnitOfX) {
  EXPECT_EQ(unit_of_x("microseconds").factor, (UnitFactor{1, 1}));
  EXPECT_EQ(unit_of_x("seconds/seconds").base, "");
  EXPECT_EQ(unit_of_x("").base, "");
}

TEST(UnitFactorTest, UnitsComeToTheirBase) {
  EXPECT_EQ(unit_of_x("microseconds/requests").base, "seconds");
  EXPECT_EQ(unit_of_x("microseconds/requests").factor, (UnitFactor{1, 1'000'000}));
  EXPECT_EQ(unit_of_x("MiB/files").factor, (UnitFactor{1'048'576, 1}));
  EXPECT_EQ(unit_of_x("furlongs/fortnights").base, "furlongs");
}

}  // namespace
}  // namespace tallyfs
