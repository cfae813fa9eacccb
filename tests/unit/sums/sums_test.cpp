#include "core/sums/sums.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/base/saturating.h"

namespace tallyfs {
namespace {

// Samples of a size: about 2^x_bits and 2^y_bits at most, and now and then just that.
std::vector<Sample> drawn(std::mt19937_64& random, std::size_t size, unsigned x_bits,
                          unsigned y_bits) {
  std::vector<Sample> samples(size);
  for (Sample& sample : samples) {
    const auto limit = static_cast<std::int64_t>((std::uint64_t{1} << x_bits) - 1);
    sample.x = random() % 8 == 0 ? limit : static_cast<std::int64_t>(random()) & limit;
    if (random() % 2 == 0) sample.x = -sample.x - 1;
    const std::uint64_t most = y_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << y_bits) - 1;
    sample.y = random() % 8 == 0 ? most : random() & most;
  }
  return samples;
}

struct SumsTest : testing::TestWithParam<std::pair<unsigned, unsigned>> {};

TEST_P(SumsTest, AddInRunsWhatTheyAddOneByOne) {
  std::mt19937_64 random(1);
  const auto [x_bits, y_bits] = GetParam();
  for (const std::size_t size : {1u, 7u, 256u, 257u, 3000u}) {
    const std::vector<Sample> samples = drawn(random, size, x_bits, y_bits);
    Summary summary, expected;
    Increments total;
    std::uint64_t expected_total = 0;
    SignedSum sum;
    Products products;
    summary.add(samples);
    total.add(samples);
    sum.add(samples);
    products.add(samples);
    for (const Sample& sample : samples) {
      expected.add_exactly({&sample, 1});
      add_saturating(expected_total, sample.y);
    }
    EXPECT_EQ(summary.number, expected.number);
    EXPECT_EQ(summary.min, expected.min);
    EXPECT_EQ(summary.max, expected.max);
    EXPECT_TRUE(summary.sum == expected.sum);
    EXPECT_TRUE(sum.total == expected.sum);
    EXPECT_TRUE(products.total == expected.sum);
    EXPECT_EQ(sum.has_negative, expected.min < 0);
    EXPECT_EQ(total.total, expected_total);
  }
}

// Around the sizes at which sums go into more than 64 bits.
INSTANTIATE_TEST_SUITE_P(Sizes, SumsTest,
                         testing::Values(std::pair{4u, 1u}, std::pair{31u, 22u},
                                         std::pair{31u, 23u}, std::pair{32u, 22u},
                                         std::pair{63u, 22u}, std::pair{63u, 64u}));

TEST(SumsEndTest, TellsTheEndOfACounterOfSmallSamples) {
  const std::vector<Sample> samples(10, Sample{.x = 1, .y = 1});
  Increments total{.total = ~std::uint64_t{0} - 9};
  EXPECT_TRUE(total.add(samples));
  EXPECT_EQ(total.total, ~std::uint64_t{0});
  Summary summary{.number = ~std::uint64_t{0} - 9, .min = 1, .max = 1, .sum = kInt128Max - 10};
  EXPECT_TRUE(summary.add(samples));
  EXPECT_TRUE(summary.sum == kInt128Max);
}

}  // namespace
}  // namespace tallyfs
