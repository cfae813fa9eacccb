#include "core/sums/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/allocated.h"

namespace tallyfs {
namespace {

std::vector<int> contents(const Ring<int>& ring) {
  std::vector<int> all;
  for (std::size_t i = 0; i < ring.size(); ++i) all.push_back(ring[i]);
  return all;
}

std::vector<int> numbers(int from, std::size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST(RingTest, HoldsTheNewestWhateverTheirNumber) {
  std::mt19937 random(7);
  for (const std::uint32_t bound : {1u, 2u, 1023u, 1024u, 1025u, 5000u}) {
    Ring<int> ring(bound);
    std::deque<int> expected;
    for (int next = 0; next < 30'000;) {
      const auto some = numbers(next, random() % (bound + 1000));
      next += static_cast<int>(some.size());
      ring.push(some);
      expected.insert(expected.end(), some.begin(), some.end());
      while (expected.size() > bound) expected.pop_front();
      ASSERT_EQ(contents(ring), std::vector<int>(expected.begin(), expected.end())) << bound;
      ASSERT_TRUE(ring.empty() || ring.newest() == next - 1);
    }
  }
}

TEST(RingTest, BlanksAreElementsLikeAllOthers) {
  std::mt19937 random(7);
  for (const std::uint32_t bound : {1u, 2u, 1023u, 1024u, 1025u, 5000u}) {
    Ring<int> ring(bound);
    std::deque<int> expected;
    for (int next = 1; next < 1'000; ++next) {
      const std::size_t count = random() % 3 == 0 ? random() % (2 * bound) : random() % 3;
      if (random() % 2 == 0) {
        ring.push_blanks(count);
        expected.resize(expected.size() + count);
      } else {
        const auto some = numbers(next, count);
        ring.push(some);
        expected.insert(expected.end(), some.begin(), some.end());
      }
      while (expected.size() > bound) expected.pop_front();
      if (!expected.empty()) {
        const std::size_t at = random() % expected.size();
        expected[at] = ring.change(at) = -next;
      }
      ASSERT_EQ(contents(ring), std::vector<int>(expected.begin(), expected.end())) << bound;
    }
  }
}

TEST(RingTest, BlanksTakeNoMemoryAndGiveBackWhatWasTheirs) {
  Ring<int> ring(1'000'000);
  const std::size_t before = allocated_bytes();
  ring.push_blanks(1'000'000);
  EXPECT_LT(allocated_bytes() - before, 40'000u);  // the table of blocks
  ring.push(numbers(0, 1'000'000));
  const Ring<int> copy = ring;
  const std::size_t full = allocated_bytes();
  ring.push_blanks(1'000'000);
  EXPECT_LT(allocated_bytes() - full, 10'000u);
  EXPECT_EQ(ring.newest(), 0);
  EXPECT_EQ(copy.newest(), 999'999);
}

TEST(RingTest, ACopyStaysAsItWasWhateverIsDoneToTheOriginal) {
  Ring<int> ring(3000);
  ring.push(numbers(0, 2500));
  const Ring<int> growing = ring;
  ring.push(numbers(2500, 100));
  ring.change(3) = -1;
  const Ring<int> changed = ring;
  ring.push(numbers(2600, 5000));
  EXPECT_EQ(contents(growing), numbers(0, 2500));
  EXPECT_EQ(changed[3], -1);
  EXPECT_EQ(changed.newest(), 2599);
  EXPECT_EQ(contents(ring), numbers(4600, 3000));
}

TEST(RingTest, ACopyTakesNextToNoMemoryAndAWriteABlock) {
  Ring<int> ring(1'000'000);
  ring.push(numbers(0, 1'000'000));
  const std::size_t before = allocated_bytes();
  const Ring<int> copy = ring;
  EXPECT_LT(allocated_bytes() - before, 10'000u);
  ring.change_newest() = 1;
  EXPECT_LT(allocated_bytes() - before, 20'000u);
  EXPECT_EQ(copy.newest(), 999'999);
}

TEST(RingTest, AllocatesNoMoreThanItTellsTheLedger) {
  for (const std::uint32_t bound : {1u, 5u, 1024u, 1500u}) {
    const auto all = numbers(0, 2 * bound);
    const std::size_t before = allocated_bytes();
    Ring<int> ring(bound);
    ring.push(all);
    EXPECT_LE(allocated_bytes() - before, Ring<int>::worst_case_bytes(bound)) << bound;
  }
}

// For ThreadSanitizer: a reader that frees its copy, and the next writer.
TEST(RingTest, ConcurrentReadersSeeWhatWasCopied) {
  Ring<int> ring(2000);
  ring.push(numbers(0, 2000));
  for (int round = 0; round < 50; ++round) {
    std::thread reader([copy = ring, first = round * 10] {
      for (std::size_t i = 0; i < copy.size(); ++i) {
        ASSERT_EQ(copy[i], first + static_cast<int>(i));
      }
    });
    ring.push(numbers(2000 + round * 10, 10));
    reader.join();
  }
}

}  // namespace
}  // namespace tallyfs
