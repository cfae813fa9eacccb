#include "feeders/client/packer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <thread>
#include <utility>

#include "core/wire/binary.h"
#include "lane_stand.h"

namespace tally {
namespace {

constexpr std::uint64_t kEpoch = 0x1122334455667788;

// A sample as the daemon gets it.
struct Told {
  std::uint64_t number = 0;
  std::int64_t x = 0;
  std::uint64_t y = 1;
  std::int64_t ns = 0;

  bool operator==(const Told&) const = default;
  friend void PrintTo(const Told& told, std::ostream* out) {
    *out << told.number << ": x=" << told.x << " y=" << told.y << " ns=" << told.ns;
  }
};

// A message of samples as it stands in the datagram.
struct Packet {
  std::uint64_t number = 0;
  std::vector<Told> samples;
};

std::vector<Packet> runs_of(std::string_view datagram) {
  std::vector<std::uint64_t> words((datagram.size() + 7) / 8);
  std::memcpy(words.data(), datagram.data(), datagram.size());
  auto reader =
      wire::DatagramReader::open(std::span(reinterpret_cast<char*>(words.data()), datagram.size()));
  EXPECT_TRUE(reader);
  EXPECT_EQ(reader.value().epoch(), kEpoch);
  std::vector<Packet> runs;
  while (auto message = reader.value().next()) {
    EXPECT_TRUE(*message);
    auto& packed = std::get<wire::PackedSamples>(message->value());
    Packet& run = runs.emplace_back();
    run.number = packed.number();
    std::array<Sample, 16> scratch;
    const auto never = std::chrono::nanoseconds::max();
    for (auto some = packed.unpack(scratch, never); !some.empty();
         some = packed.unpack(scratch, never)) {
      for (const Sample& sample : some) {
        run.samples.push_back({packed.number(), sample.x, sample.y, sample.time.count()});
      }
    }
  }
  return runs;
}

std::vector<Told> all_of(std::string_view datagram) {
  std::vector<Told> all;
  for (const Packet& run : runs_of(datagram)) {
    all.insert(all.end(), run.samples.begin(), run.samples.end());
  }
  return all;
}

class PackerTest : public testing::Test {
 protected:
  FedStatistic& numbered(std::uint64_t number) {
    FedStatistic& made = statistics_.emplace_back();
    made.number = number;
    made.standing = Standing::kKnown;
    return made;
  }
  FedStatistic& unknown() { return statistics_.emplace_back(); }
  FedStatistic& refused() {
    FedStatistic& made = statistics_.emplace_back();
    made.standing = Standing::kRefused;
    return made;
  }
  void add(FedStatistic& statistic, std::int64_t x, std::uint64_t y = 1, std::uint64_t ns = 0) {
    lane_->append(Entry(statistic, x, y, at_ns(ns)));
  }
  void add_many(FedStatistic& statistic, int samples, std::uint64_t y = 1) {
    for (int i = 0; i < samples; ++i) add(statistic, i, y);
  }
  void make_void(const FedStatistic& statistic) {
    const MutexLock lock(lane_->mutex());
    lane_->make_void(&statistic);
  }
  Packed pack() { return pack(at(0, INT64_MAX)); }
  Packed pack(const SampleTimes& times) {
    const MutexLock lock(lane_->mutex());
    return tally::pack(*lane_, times, kEpoch);
  }
  // It is `ns`, and so many cycles of a nanosecond.
  static SampleTimes at(std::uint64_t cycles, std::int64_t ns) {
    const auto begun = static_cast<std::uint64_t>(ns);
    return {.line = {.cycles = cycles, .ns = begun, .rate = std::uint64_t{1} << 32}, .now_ns = ns};
  }

  std::deque<FedStatistic> statistics_;
  LanePointer lane_ = make_lane(8192);
};

TEST_F(PackerTest, OfNothingMakesNothing) {
  const Packed packed = pack();
  EXPECT_EQ(packed.entries, 0u);
  EXPECT_EQ(packed.samples, 0u);
  EXPECT_EQ(packed.unknown, nullptr);
  EXPECT_TRUE(packed.datagram.empty());
}

TEST_F(PackerTest, PacksWhatIsHeldOfOneStatisticInItsOrder) {
  FedStatistic& hits = numbered(7);
  add(hits, 5, 2, 10);
  add(hits, -1, 3, 20);
  add(hits, INT64_MIN, UINT64_MAX, 30);
  const Packed packed = pack();
  EXPECT_EQ(packed.entries, 3u);
  EXPECT_EQ(packed.samples, 3u);
  EXPECT_EQ(packed.refused, 0u);
  EXPECT_EQ(packed.unknown, nullptr);
  EXPECT_EQ(all_of(packed.datagram),
            (std::vector<Told>{{7, 5, 2, 10}, {7, -1, 3, 20}, {7, INT64_MIN, UINT64_MAX, 30}}));
}

TEST_F(PackerTest, LeavesTheLaneAsItIs) {
  FedStatistic& hits = numbered(7);
  add(hits, 5);
  const std::string first(pack().datagram);
  EXPECT_EQ(lane_->held(), 1u);
  EXPECT_EQ(std::string(pack().datagram), first);
}

TEST_F(PackerTest, StatisticsThatTakeTurnsStandEachTogetherInTheOrderOfTheirFirst) {
  FedStatistic& a = numbered(1);
  FedStatistic& b = numbered(2);
  FedStatistic& c = numbered(3);
  add(b, 1);
  add(a, 2);
  add(b, 3);
  add(c, 4);
  add(a, 5);
  add(b, 6);
  const auto runs = runs_of(pack().datagram);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].samples, (std::vector<Told>{{2, 1}, {2, 3}, {2, 6}}));
  EXPECT_EQ(runs[1].samples, (std::vector<Told>{{1, 2}, {1, 5}}));
  EXPECT_EQ(runs[2].samples, (std::vector<Told>{{3, 4}}));
}

TEST_F(PackerTest, LeavesYOutWhereItIs1Throughout) {
  add_many(numbered(7), 10);
  EXPECT_EQ(pack().datagram.size(), 16u + 16 + 10 * 16);
}

TEST_F(PackerTest, OneYOtherThan1GivesAYToItsRunOnly) {
  FedStatistic& a = numbered(1);
  FedStatistic& b = numbered(2);
  add_many(a, 3);
  add(b, 8);
  add(a, 9, 0);
  add(a, 10);
  const Packed packed = pack();
  EXPECT_EQ(packed.datagram.size(), 16u + (16 + 5 * 24) + (16 + 16));
  EXPECT_EQ(all_of(packed.datagram),
            (std::vector<Told>{{1, 0}, {1, 1}, {1, 2}, {1, 9, 0}, {1, 10}, {2, 8}}));
}

TEST_F(PackerTest, TakesUpTo510SamplesOfOneStatistic) {
  add_many(numbered(7), 1000);
  const Packed packed = pack();
  EXPECT_EQ(packed.samples, 510u);
  EXPECT_EQ(packed.entries, 510u);
  EXPECT_EQ(packed.datagram.size(), 8192u);
  EXPECT_EQ(all_of(packed.datagram).back(), (Told{7, 509}));
  consume(*lane_, packed.entries);
  EXPECT_EQ(pack().samples, 490u);
}

TEST_F(PackerTest, TakesUpTo340SamplesThatHaveAY) {
  add_many(numbered(7), 1000, 2);
  const Packed packed = pack();
  EXPECT_EQ(packed.samples, 340u);
  EXPECT_EQ(packed.datagram.size(), 16u + 16 + 340 * 24);
}

TEST_F(PackerTest, EndsWhereAYWouldMakeItTooLong) {
  FedStatistic& hits = numbered(7);
  add_many(hits, 400);
  add(hits, 400, 2);
  const Packed packed = pack();
  EXPECT_EQ(packed.samples, 400u);
  EXPECT_EQ(packed.unknown, nullptr);
  EXPECT_EQ(packed.datagram.size(), 16u + 16 + 400 * 16);
  consume(*lane_, packed.entries);
  EXPECT_EQ(all_of(pack().datagram), (std::vector<Told>{{7, 400, 2}}));
}

TEST_F(PackerTest, TakesUpTo255Statistics) {
  for (std::uint64_t n = 1; n <= 300; ++n) add(numbered(n), 5);
  const Packed packed = pack();
  EXPECT_EQ(packed.samples, 255u);
  EXPECT_EQ(packed.datagram.size(), 16u + 255 * 32);
  const auto all = all_of(packed.datagram);
  for (std::uint64_t n = 1; n <= 255; ++n) ASSERT_EQ(all[n - 1], (Told{n, 5}));
}

TEST_F(PackerTest, FindsWhatLiesBeyondTheWrapOfTheLane) {
  FedStatistic& hits = numbered(7);
  add_many(hits, 8190);
  consume(*lane_, 8190);
  for (std::int64_t x = 1; x <= 4; ++x) add(hits, x);
  EXPECT_EQ(all_of(pack().datagram), (std::vector<Told>{{7, 1}, {7, 2}, {7, 3}, {7, 4}}));
}

TEST_F(PackerTest, StopsExactlyBeforeAStatisticWithoutANumber) {
  FedStatistic& hits = numbered(7);
  FedStatistic& later = unknown();
  add(hits, 1);
  add(hits, 2);
  add(later, 3);
  add(hits, 4);
  const Packed packed = pack();
  EXPECT_EQ(packed.entries, 2u);
  EXPECT_EQ(packed.samples, 2u);
  EXPECT_EQ(packed.unknown, &later);
  consume(*lane_, 2);
  const Packed none = pack();
  EXPECT_EQ(none.entries, 0u);
  EXPECT_EQ(none.unknown, &later);
  later.number = 8;
  EXPECT_EQ(all_of(pack().datagram), (std::vector<Told>{{8, 3}, {7, 4}}));
}

TEST_F(PackerTest, AStatisticThatIsGoneOrAskedForWaitsForItsNumber) {
  for (const Standing standing :
       {Standing::kUnknown, Standing::kAsked, Standing::kKnown, Standing::kGone}) {
    FedStatistic& waits = unknown();
    waits.standing = standing;
    add(waits, 1);
    const Packed packed = pack();
    EXPECT_EQ(packed.entries, 0u);
    EXPECT_EQ(packed.unknown, &waits);
    consume(*lane_, 1);
  }
}

TEST_F(PackerTest, RefusedOnesFirstAreDealtWithByThemselves) {
  FedStatistic& bad = refused();
  FedStatistic& hits = numbered(7);
  add_many(bad, 3);
  add(hits, 1);
  const Packed packed = pack();
  EXPECT_EQ(packed.entries, 3u);
  EXPECT_EQ(packed.refused, 3u);
  EXPECT_EQ(packed.samples, 0u);
  EXPECT_TRUE(packed.datagram.empty());
  EXPECT_EQ(bad.dropped, 3u);
  consume(*lane_, packed.entries);
  EXPECT_EQ(all_of(pack().datagram), (std::vector<Told>{{7, 1}}));
  EXPECT_EQ(bad.dropped, 3u);
}

TEST_F(PackerTest, RefusedOnesLastAreLeftForTheNext) {
  FedStatistic& bad = refused();
  FedStatistic& hits = numbered(7);
  add(hits, 1);
  add_many(bad, 2);
  const Packed packed = pack();
  EXPECT_EQ(packed.entries, 1u);
  EXPECT_EQ(packed.samples, 1u);
  EXPECT_EQ(packed.refused, 0u);
  EXPECT_EQ(bad.dropped, 0u);
  consume(*lane_, packed.entries);
  EXPECT_EQ(pack().refused, 2u);
}

TEST_F(PackerTest, RefusedOnesBetweenAreEachDroppedOnce) {
  FedStatistic& bad = refused();
  FedStatistic& worse = refused();
  FedStatistic& hits = numbered(7);
  add(hits, 1);
  add(bad, 2);
  add(worse, 3);
  add(hits, 4);
  add(bad, 5);
  add(hits, 6);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;  // samples, refused
  while (lane_->held() != 0) {
    const Packed packed = pack();
    ASSERT_EQ(packed.entries, packed.samples + packed.refused);
    ASSERT_TRUE(packed.samples == 0 || packed.refused == 0);
    steps.emplace_back(packed.samples, packed.refused);
    consume(*lane_, packed.entries);
  }
  EXPECT_EQ(steps, (decltype(steps){{1, 0}, {0, 2}, {1, 0}, {0, 1}, {1, 0}}));
  EXPECT_EQ(bad.dropped, 2u);
  EXPECT_EQ(worse.dropped, 1u);
  EXPECT_EQ(hits.dropped, 0u);
}

TEST_F(PackerTest, AnUnknownOneBehindRefusedOnesIsNamed) {
  FedStatistic& later = unknown();
  add(refused(), 1);
  add(later, 2);
  const Packed packed = pack();
  EXPECT_EQ(packed.entries, 1u);
  EXPECT_EQ(packed.refused, 1u);
  EXPECT_EQ(packed.unknown, &later);
}

TEST_F(PackerTest, VoidOnesAreDroppedLikeRefusedOnes) {
  FedStatistic& hits = numbered(7);
  FedStatistic& removed = numbered(8);
  add(removed, 1);
  add(hits, 2);
  add(removed, 3);
  make_void(removed);
  Packed packed = pack();
  EXPECT_EQ(packed.refused, 1u);
  consume(*lane_, packed.entries);
  packed = pack();
  EXPECT_EQ(all_of(packed.datagram), (std::vector<Told>{{7, 2}}));
  consume(*lane_, packed.entries);
  EXPECT_EQ(pack().refused, 1u);
}

// ---- times

TEST_F(PackerTest, TimesInNanosecondsAreKeptAsTheyAreThoseToComeToo) {
  FedStatistic& hits = numbered(7);
  const std::vector<std::uint64_t> times{5, 3, 9'000'000'000, 0};
  for (const auto ns : times) add(hits, 1, 1, ns);
  const auto all = all_of(pack(at(0, 1000)).datagram);
  ASSERT_EQ(all.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(all[i].ns, static_cast<std::int64_t>(times[i]));
  }
}

TEST_F(PackerTest, CyclesBecomeTimesByTheLine) {
  FedStatistic& hits = numbered(7);
  // A cycle of this line takes a nanosecond.
  lane_->append(Entry(hits, 1, 1, at_cycles(400)));
  lane_->append(Entry(hits, 2, 1, at_cycles(900)));
  const auto all = all_of(pack(at(1000, 5000)).datagram);
  EXPECT_EQ(all, (std::vector<Told>{{7, 1, 1, 4400}, {7, 2, 1, 4900}}));
}

TEST_F(PackerTest, NoTimeIsToCome) {
  FedStatistic& hits = numbered(7);
  lane_->append(Entry(hits, 1, 1, at_cycles(1500)));
  EXPECT_EQ(all_of(pack(at(1000, 5000)).datagram), (std::vector<Told>{{7, 1, 1, 5000}}));
}

TEST_F(PackerTest, TimesDoNotGoBackFromOneDatagramToTheNext) {
  FedStatistic& hits = numbered(7);
  lane_->append(Entry(hits, 1, 1, at_cycles(1000)));
  EXPECT_EQ(all_of(pack(at(1000, 5000)).datagram), (std::vector<Told>{{7, 1, 1, 5000}}));
  consume(*lane_, 1);
  // A better rate puts what came later 10 ns earlier.
  lane_->append(Entry(hits, 2, 1, at_cycles(1100)));
  EXPECT_EQ(all_of(pack(at(2100, 5990)).datagram), (std::vector<Told>{{7, 2, 1, 5000}}));
}

TEST_F(PackerTest, TimesInNanosecondsDoNotBindThoseThatFollow) {
  FedStatistic& hits = numbered(7);
  add(hits, 1, 1, 1'000'000);
  lane_->append(Entry(hits, 2, 1, at_cycles(10)));
  EXPECT_EQ(all_of(pack(at(100, 100)).datagram),
            (std::vector<Told>{{7, 1, 1, 1'000'000}, {7, 2, 1, 10}}));
}

// What a signal handler adds while its thread is inside stands behind what the thread adds then,
// and has been stamped before.
TEST_F(PackerTest, TimesDoNotGoBackWithinADatagram) {
  FedStatistic& hits = numbered(7);
  lane_->append(Entry(hits, 1, 1, at_cycles(500)));
  lane_->append(Entry(hits, 2, 1, at_cycles(490)));
  lane_->append(Entry(hits, 3, 1, at_cycles(510)));
  const auto all = all_of(pack(at(1000, 1000)).datagram);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_LE(all[0].ns, all[1].ns);
  EXPECT_LE(all[1].ns, all[2].ns);
}

// ---- golden

// The packer's way of saying what FORMAT.md's example all-records says: always with times.
TEST_F(PackerTest, PacksTheWorkedExampleByteForByte) {
  FedStatistic& first = numbered(0x100000005);
  FedStatistic& second = numbered(7);
  add(first, -9, 3, 1'000'000'001);
  add(second, 1, 1, 1'000'000'001);
  add(second, 2, 1, 1'000'000'002);
  constexpr unsigned char kGolden[] = {
      0xfe, 0x54, 0x4c, 0x59, 0x01, 0x00, 0x00, 0x00, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
      0x11, 0x01, 0x00, 0x03, 0x00, 0x20, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x01, 0x00,
      0x00, 0x00, 0xf7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x01, 0xca, 0x9a, 0x3b, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00,
      0x28, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xca, 0x9a, 0x3b, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xca, 0x9a, 0x3b, 0x00, 0x00, 0x00, 0x00,
  };
  EXPECT_EQ(pack().datagram,
            std::string_view(reinterpret_cast<const char*>(kGolden), sizeof kGolden));
}

TEST_F(PackerTest, WritesWhatTheDatagramWriterWrites) {
  FedStatistic& first = numbered(0x100000005);
  FedStatistic& second = numbered(7);
  const std::array with_y{Sample{5, 2, std::chrono::nanoseconds(100)},
                          Sample{-1, 1, std::chrono::nanoseconds(300)}};
  const std::array without_y{Sample{8, 1, std::chrono::nanoseconds(200)}};
  add(first, 5, 2, 100);
  add(second, 8, 1, 200);
  add(first, -1, 1, 300);
  wire::DatagramWriter writer(kEpoch);
  writer.samples(0x100000005, with_y, wire::kFull);
  writer.samples(7, without_y, wire::kWithTime);
  EXPECT_EQ(pack().datagram, writer.bytes());
}

// ---- any mix

class MixTest : public PackerTest {
 protected:
  // Of `statistics` statistics, with runs, and Y other than 1 now and then.
  void fill(Random& random, std::uint64_t statistics) {
    for (std::uint64_t n = 1; n <= statistics; ++n) numbered(n << 32 | n);
    const std::uint64_t y_of = 1 + random.below(100);
    const std::uint64_t run_max = 1 + random.below(40);
    while (lane_->held() < 4096) {
      FedStatistic& one = statistics_[random.below(statistics)];
      for (std::uint64_t left = 1 + random.below(run_max); left != 0; --left) {
        const std::uint64_t y = random.below(y_of) == 0 ? random.any() : 1;
        const auto x = static_cast<std::int64_t>(random.any());
        const auto ns = random.below(INT64_MAX);
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
    while (lane_->held() != 0) {
      const std::uint64_t tail = lane_->tail();
      const Packed packed = pack();
      ASSERT_GT(packed.entries, 0u);
      ASSERT_EQ(packed.entries, packed.samples);
      ASSERT_LE(packed.datagram.size(), 8192u);
      // What is left out for want of room is one of at most 16 + 16 bytes, or gives a run its Y.
      const bool is_last = packed.entries == lane_->held();
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
        const MutexLock lock(lane_->mutex());
        const bool next_has_y = lane_->entry(tail + packed.entries).y() != 1;
        ASSERT_TRUE(next_has_y || packed.datagram.size() > 8192 - 40 || samples == 510);
      }
      consume(*lane_, packed.entries);
    }
    ASSERT_EQ(told_, added_);
  }
}

// Samples that arrive while others are packed: each lane is its own thread's.
TEST(PackerConcurrentTest, WhatAThreadAddsWhileItIsPackedArrivesOnceAndInOrder) {
  constexpr std::int64_t kSamples = 50'000;
  FedStatistic statistic;
  statistic.number = 7;
  statistic.standing = Standing::kKnown;
  SampleTime time;
  const LanePointer lane = make_lane(2048);
  std::thread producer([&] {
    for (std::int64_t x = 0; x < kSamples; ++x) {
      while (lane->held() == lane->capacity()) std::this_thread::yield();
      lane->append(Entry(statistic, x, 1, at_cycles(time.cycles())));
    }
  });
  std::int64_t next = 0;
  std::int64_t last_ns = 0;
  bool in_order = true;
  while (next != kSamples) {
    const SampleTimes times = time.times();
    std::vector<Told> all;
    {
      const MutexLock lock(lane->mutex());
      const Packed packed = pack(*lane, times, kEpoch);
      if (packed.samples != 0) all = all_of(packed.datagram);
      lane->consume(packed.entries);
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
}  // namespace tally
