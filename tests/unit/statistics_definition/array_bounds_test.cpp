#include "core/statistics/definition/array_bounds.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/base/doublings.h"
#include "core/base/text.h"

namespace tallyfs::statistics {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string all(const ArrayBounds& bounds) {
  std::string text;
  for (std::uint64_t i = 0; i < bounds.size(); ++i) {
    append_number(text, bounds[i]);
    text.push_back(' ');
  }
  return text;
}

TEST(ArrayBoundsTest, LinearBoundsEndWithTheFirstAtOrAboveRangeMax) {
  EXPECT_EQ(all({{10, Scale::kLin}, 0, 30}), "0 10 20 30 ");
  EXPECT_EQ(all({{10, Scale::kLin}, 0, 25}), "0 10 20 30 ");
  EXPECT_EQ(all({{10, Scale::kLin}, -15, 6}), "-15 -5 5 15 ");
  EXPECT_EQ(all({{10, Scale::kLin}, 7, 7}), "7 ");
}

TEST(ArrayBoundsTest, LogarithmicBoundsDoubleTheirDistance) {
  EXPECT_EQ(all({{1, Scale::kLog2}, 0, 16}), "0 1 2 4 8 16 ");
  EXPECT_EQ(all({{1, Scale::kLog2}, 0, 17}), "0 1 2 4 8 16 32 ");
  EXPECT_EQ(all({{3, Scale::kLog2}, -2, 9}), "-2 1 4 10 ");
  EXPECT_EQ(all({{5, Scale::kLog2}, 7, 7}), "7 ");
}

TEST(ArrayBoundsTest, TheLastBoundMayLieBeyond64Bits) {
  EXPECT_EQ(all({{kMax, Scale::kLin}, 1, kMax}), "1 9223372036854775808 ");
  EXPECT_EQ(all({{std::numeric_limits<std::uint64_t>::max(), Scale::kLin}, kMin, kMax}),
            "-9223372036854775808 9223372036854775807 ");
  const ArrayBounds full({1, Scale::kLog2}, kMin, kMax);
  ASSERT_EQ(full.size(), 66u);
  EXPECT_EQ(full[65], static_cast<Int128>(kMin) + (static_cast<Int128>(1) << 64));
}

TEST(ArrayBoundsTest, CountsBeyond64BitsWithoutWrapping) {
  const ArrayBounds bounds({1, Scale::kLin}, kMin, kMax);
  EXPECT_EQ(bounds.size(), UInt128{1} << 64);
  EXPECT_FALSE(bounds.is_small_enough());
}

TEST(ArrayBoundsTest, DoublingsAreTheFewestThatReachTheDistance) {
  for (const std::uint64_t base : {1ull, 2ull, 3ull, 5ull, 1000ull, (1ull << 63) + 1, ~0ull}) {
    for (std::uint64_t distance : {1ull, 2ull, 3ull, 4ull, 5ull, 999ull, 1000ull, 1001ull, 2000ull,
                                   2001ull, 1ull << 63, (1ull << 63) + 1, ~0ull}) {
      unsigned expected = 0;
      while ((UInt128{base} << expected) < distance) ++expected;
      EXPECT_EQ(doublings(distance, base), expected) << distance << " from " << base;
    }
  }
}

}  // namespace
}  // namespace tallyfs::statistics
