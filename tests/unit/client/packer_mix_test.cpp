// Whatever is packed arrives once and in order: any mix of samples, and those of a thread that goes
// on meanwhile.
#include <map>
#include <thread>

#include "packer_fixture.h"

namespace tallyfs {
namespace {

class MixTest : public PackerFixture {
 protected:
  // Of `statistics` statistics, with runs, and Y other than 1 now and then.
  void fill(Random& random, std::uint64_t statistics) {
    for (std::uint64_t n = 1; n <= statistics; ++n) numbered(n << 32 | n);
    const std::uint64_t y_of = 1 + random.below(100);
    const std::uint64_t run_max = 1 + random.below(40);
    while (buffer_->held() < 4096) {
      FedStatistic& one = statistics_[random.below(statistics)];
      for (std::uint64_t left = 1 + random.below(run_max); left != 0; --left) {
        const std::uint64_t y = random.below(y_of) == 0 ? random.any() : 1;
        const auto x = static_cast<std::int64_t>(random.any());
        const auto ns = random.below(static_cast<std::uint64_t>(kNearMax.count()));
        add(one, x, y, ns);
        added_[one.number].push_back({one.number, x, y, static_cast<std::int64_t>(ns)});
      }
    }
  }
  // What the datagrams say, by statistic.
  std::map<std::uint64_t, std::vector<Told>> told_;
  std::map<std::uint64_t, std::vector<Told>> added_;
};

TEST_F(MixTest, AnyMixArrivesInOrderInDatagramsOf8KiBAtMost) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (int round = 0; round < 60; ++round) {
    statistics_.clear();
    told_.clear();
    added_.clear();
    fill(random, 1 + random.below(round % 2 == 0 ? 8 : 600));
    while (buffer_->held() != 0) {
      const std::uint64_t tail = buffer_->tail();
      const Packed packed = pack();
      ASSERT_GT(packed.entries, 0u);
      ASSERT_EQ(packed.entries, packed.samples);
      ASSERT_LE(packed.datagram.size(), 8192u);
      // What is left out for want of room is one of at most 16 + 16 bytes, or gives a run its Y.
      const bool is_last = packed.entries == buffer_->held();
      std::size_t samples = 0;
      std::map<std::uint64_t, bool> has_run;
      for (const Packet& run : runs_of(packed.datagram)) {
        ASSERT_FALSE(has_run[run.number]) << "two runs of one statistic";
        has_run[run.number] = true;
        samples += run.samples.size();
        auto& told = told_[run.number];
        told.insert(told.end(), run.samples.begin(), run.samples.end());
      }
      ASSERT_EQ(samples, packed.samples);
      if (!is_last) {
        const MutexLock lock(buffer_->mutex());
        const bool next_has_y = buffer_->entry(tail + packed.entries).y() != 1;
        ASSERT_TRUE(next_has_y || packed.datagram.size() > 8192 - 40 || samples == 510);
      }
      consume(*buffer_, packed.entries);
    }
    ASSERT_EQ(told_, added_);
  }
}

// Samples that arrive while others are packed: each buffer is its own thread's.
TEST(PackerConcurrentTest, WhatAThreadAddsWhileItIsPackedArrivesOnceAndInOrder) {
  constexpr std::int64_t kSamples = 50'000;
  FedStatistic statistic;
  statistic.number = 7;
  statistic.registration = Registration::kRegistered;
  SampleTime time;
  const BufferPointer buffer = make_buffer(2048);
  std::thread producer([&] {
    for (std::int64_t x = 0; x < kSamples; ++x) {
      while (buffer->held() == buffer->capacity()) std::this_thread::yield();
      buffer->append(UnsentSample(statistic, x, 1, at_cycles(time.cycles())));
    }
  });
  std::int64_t next = 0;
  std::int64_t last_ns = 0;
  bool in_order = true;
  while (next != kSamples) {
    const SampleTimes times = time.times();
    std::vector<Told> all;
    {
      const MutexLock lock(buffer->mutex());
      const Packed packed = pack(*buffer, times, kEpoch);
      if (packed.samples != 0) all = all_of(packed.datagram);
      buffer->consume(packed.entries);
    }
    for (const Told& told : all) {
      in_order &= told.x == next++ && told.ns >= last_ns && told.ns <= times.now_ns;
      last_ns = told.ns;
    }
  }
  producer.join();
  EXPECT_TRUE(in_order);
}

}  // namespace
}  // namespace tallyfs
