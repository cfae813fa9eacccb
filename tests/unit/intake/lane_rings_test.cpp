// What is taken from the rings of lanes, and what of them is a fault. Longer than most: all of it
// is played on one stand.
#include "feeders/intake/lane_rings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <random>
#include <thread>

#include "core/lane/ring_writer.h"
#include "lanes_fixture.h"
#include "ring_feeder.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// Two cycles are a nanosecond.
class FakeCounter final : public CounterTimes {
 public:
  CounterLine line() override { return {.cycles = 0, .ns = 0, .rate = std::int64_t{1} << 31}; }
  void check() override {}
};

// A feeder with a thread or two that have rings.
class RingsFixture : public LanesFixture {
 public:
  static constexpr std::uint32_t kRingAt = kLaneHeapAt + 64 * 1024;

  explicit RingsFixture(const std::string& text, CounterTimes* counter = nullptr)
      : LanesFixture(text, counter) {
    make_lane();
    const auto tails = lanes_->tails(sender(), lane_);
    EXPECT_TRUE(tails);
    tails_ = static_cast<const LaneTails*>(
        ::mmap(nullptr, sizeof(LaneTails), PROT_READ, MAP_SHARED, tails.value().fd, 0));
    EXPECT_NE(tails_, MAP_FAILED);
  }
  ~RingsFixture() { ::munmap(const_cast<LaneTails*>(tails_), sizeof(LaneTails)); }

  LaneEntry& entry(std::size_t thread = 0) {
    return reinterpret_cast<LaneEntry*>(memory_ + kLaneEntriesAt)[thread];
  }
  RingWriter ring(std::size_t thread = 0) {
    const auto at = kRingAt + static_cast<std::uint32_t>(thread) * kRingBytesMin;
    entry(thread).thread = static_cast<std::uint32_t>(thread + 1);
    entry(thread).ring = std::uint64_t{kRingBytesMin} << 32 | at;
    note_change();
    return RingWriter({.begin = reinterpret_cast<std::byte*>(memory_) + at,
                       .bytes = kRingBytesMin,
                       .entry = &entry(thread),
                       .tail = &tails_->tails[thread]});
  }
  void note_change() { reinterpret_cast<LaneHeader*>(memory_)->changes += 1; }
  static bool put(RingWriter& writer, std::int64_t x, std::uint64_t y = 1) {
    if (!writer.has_room(4) && writer.look() == RingWriter::Room::kNone) return false;
    writer.put(kIdOfS, kRecordY, x, y, 0);
    return true;
  }
  LaneRings::Done take(std::chrono::nanoseconds at_most = 1h) {
    lanes_->note_heads();
    return lanes_->take(clock_.now().monotonic + at_most);
  }
  const LaneTails* tails_ = nullptr;
};

TEST(LaneRingsTest, WhatRingsHoldIsTakenOnce) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  EXPECT_TRUE(RingsFixture::put(ring, 3));
  EXPECT_TRUE(RingsFixture::put(ring, 5, 7));
  EXPECT_EQ(fixture.take().records, 2u);
  EXPECT_EQ(fixture.read("data"), "s 0x5 7\ns 0x3 1\n");
  EXPECT_EQ(fixture.tails_->tails[0].position, 6u);
  EXPECT_EQ(fixture.tails_->tails[0].samples, 2u);
  EXPECT_EQ(fixture.take().records, 0u);
  EXPECT_EQ(fixture.own("ring_samples"), 2u);
  EXPECT_TRUE(RingsFixture::put(ring, 3));
  EXPECT_EQ(fixture.lanes_->take_of(LanesFixture::sender(), 1h).records, 1u);
  EXPECT_EQ(fixture.read("data"), "s 0x5 7\ns 0x3 2\n");
  EXPECT_NE(fixture.read("data.json").find("\"samples\":3"), std::string::npos);
}

TEST(LaneRingsTest, OnlyWhatWasThereAtTheLookIsTaken) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  RingsFixture::put(ring, 1);
  fixture.lanes_->note_heads();
  RingsFixture::put(ring, 2);
  EXPECT_EQ(fixture.lanes_->take(1h).records, 1u);
  EXPECT_EQ(fixture.read("data"), "s 0x1 1\n");
}

TEST(LaneRingsTest, RecordsWaitForTheirTurnWhenTimeIsOver) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter first = fixture.ring(), second = fixture.ring(1);
  for (int i = 0; i < 1000; ++i) {
    RingsFixture::put(first, 1);
    RingsFixture::put(second, 2);
  }
  std::uint64_t taken = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const auto done = fixture.take(0h);
    EXPECT_NE(done.records, 0u);
    taken += done.records;
    if (done.all) break;
  }
  EXPECT_EQ(taken, 2000u);
  EXPECT_EQ(fixture.read("data"), "s 0x1 1000\ns 0x2 1000\n");
}

// Its uid pays for the looks, and nothing is lost.
TEST(LaneRingsTest, AFeederThatHasNewRingsAllTheTimeWaitsForItsCredit) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  const Sender user{1234, kFeeder + 1};
  RingFeeder feeder(*fixture.lanes_, user);
  ASSERT_TRUE(feeder.bind(*fixture.lanes_, fixture.number_));
  for (std::size_t i = 0; i < kLaneEntries; ++i) (&feeder.entry())[i].thread = 1;
  const auto change = [&] { feeder.changes() += 1; };
  const std::uint64_t before = fixture.own("drains_cut");
  for (int i = 0; i < 1000; ++i) {
    change();
    fixture.take();
  }
  EXPECT_GT(fixture.own("drains_cut"), before + 500);
  // Its known ring is taken in, and that of another is found.
  feeder.put(1);
  RingWriter other = fixture.ring();
  RingsFixture::put(other, 2);
  EXPECT_EQ(fixture.take().records, 2u);
  (&feeder.entry())[1].ring = std::uint64_t{kRingBytesMin} << 32 | (kLaneHeapAt + (256u << 10));
  change();
  fixture.take();
  fixture.own("rings");
  EXPECT_EQ(fixture.own("rings"), 2u);
  fixture.clock_.advance(CellCredit::kRefill);
  fixture.take();
  EXPECT_EQ(fixture.own("rings"), 3u);
}

TEST(LaneRingsTest, TimesAreConvertedAndNoneIsLaterThanNowOrGoesBack) {
  FakeCounter counter;
  RingsFixture fixture("type=raw entries_max=9", &counter);
  RingWriter ring = fixture.ring();
  fixture.take();
  EXPECT_EQ(fixture.tails_->takes_cycles, 1u);
  fixture.clock_.advance(7s);
  const auto now = static_cast<std::uint64_t>(fixture.clock_.now().monotonic.count());
  ASSERT_EQ(ring.look(), RingWriter::Room::kThere);
  ring.put(kIdOfS, kRecordCycles, 1, 1, 2 * (now - 2000));
  ring.put(kIdOfS, kRecordCycles, 2, 1, 2 * (now - 3000));
  ring.put(kIdOfS, kRecordNs, 3, 1, now - 1000);
  ring.put(kIdOfS, kRecordNs, 4, 1, now + 1000);
  ring.put(kIdOfS, 0, 5, 1, 0);
  fixture.take();
  const auto at = [&](std::uint64_t ns) {
    const std::string us = std::to_string(ns / 1000 % 1'000'000);
    return "s [" + std::to_string(ns / 1'000'000'000) + "." + std::string(6 - us.size(), '0') + us +
           "] ";
  };
  EXPECT_EQ(fixture.read("data"), at(now - 2000) + "0 1 1\n" + at(now - 2000) + "1 2 1\n" +
                                    at(now - 1000) + "2 3 1\n" + at(now) + "3 4 1\n" + at(now) +
                                    "4 5 1\n");
}

TEST(LaneRingsTest, TimesFarAwayCountAsADayAgoOrNow) {
  FakeCounter counter;
  RingsFixture fixture("type=raw entries_max=9", &counter);
  RingWriter ring = fixture.ring();
  fixture.clock_.advance(100h - fixture.clock_.now().monotonic);
  ASSERT_EQ(ring.look(), RingWriter::Room::kThere);
  ring.put(kIdOfS, kRecordNs, 1, 1, std::uint64_t{1} << 63);  // INT64_MIN
  ring.put(kIdOfS, kRecordNs, 2, 1, 0);
  ring.put(kIdOfS, kRecordNs, 3, 1, UINT64_MAX);  // -1
  ring.put(kIdOfS, kRecordNs, 4, 1, INT64_MAX);
  ring.put(kIdOfS, kRecordCycles, 5, 1, 0);
  ring.put(kIdOfS, kRecordCycles, 6, 1, UINT64_MAX);
  ring.put(kIdOfS, kRecordCycles, 7, 1, INT64_MAX);
  fixture.take();
  const std::string day = "s [273600.000000] ", now = "s [360000.000000] ";
  EXPECT_EQ(fixture.read("data"), day + "0 1 1\n" + day + "1 2 1\n" + day + "2 3 1\n" + now +
                                    "3 4 1\n" + day + "4 5 1\n" + day + "5 6 1\n" + now +
                                    "6 7 1\n");
}

TEST(LaneRingsTest, WhatAKilledFeederLeftIsTaken) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  for (int i = 0; i < 700; ++i) RingsFixture::put(ring, 1);
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 0x1 700\n");
  EXPECT_EQ(fixture.own("rings"), 0u);
}

TEST(LaneRingsTest, TheNextServerGoesOnWhereTheLastOneWas) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  RingsFixture::put(ring, 1);
  fixture.take();
  RingsFixture::put(ring, 1, 5);
  const auto on = fixture.on();
  fixture.hand_over();
  EXPECT_EQ(fixture.on(), on);
  EXPECT_EQ(fixture.read("data"), "s 0x1 1\n");
  EXPECT_EQ(fixture.take().records, 1u);
  RingsFixture::put(ring, 1, 10);
  fixture.hand_over();
  fixture.hand_over();
  EXPECT_EQ(fixture.take().records, 1u);
  EXPECT_EQ(fixture.read("data"), "s 0x1 16\n");
  EXPECT_EQ(fixture.tails_->tails[0].samples, 3u);
  RingsFixture::put(ring, 1, 100);
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 0x1 116\n");
}

TEST(LaneRingsTest, AServerWithoutRoomForItsUidKeepsTheLane) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  RingsFixture::put(ring, 1, 5);
  const Holdings little{.interfaces = 9, .statistics = 199, .bytes = 2 << 20};
  fixture.hand_over({.per_uid = little, .total = little});
  EXPECT_EQ(fixture.take().records, 1u);
  EXPECT_EQ(fixture.read("data"), "s 0x1 5\n");
}

TEST(LaneRingsTest, SamplesOfAStatisticThatIsGoneAreLost) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  RingsFixture::put(ring, 1);
  ASSERT_TRUE(fixture.execute("remove web/s"));
  EXPECT_EQ(fixture.take().records, 1u);
  EXPECT_EQ(fixture.own("rejects"), 1u);
  EXPECT_EQ(fixture.own("lane_bad"), 0u);
}

TEST(LaneRingsTest, WhatNoFeederWritesIsSkippedAndTheThirdTimeTheLaneIsClosed) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  fixture.take();
  fixture.entry().head = kRingBytesMin;  // more than a ring ahead
  EXPECT_EQ(fixture.take().records, 0u);
  EXPECT_EQ(fixture.own("lane_bad"), 1u);
  EXPECT_EQ(fixture.tails_->tails[0].position, kRingBytesMin);
  fixture.entry().head = kRingBytesMin + 3;  // zeros are no record
  EXPECT_EQ(fixture.take().records, 0u);
  EXPECT_EQ(fixture.own("lane_bad"), 2u);
  fixture.entry().head = 0;
  fixture.take();
  EXPECT_EQ(fixture.own("lane_bad"), 3u);
  const std::string errors = fixture.read_errors();
  std::size_t at = 0;
  for (const std::string each :
       {": this is not what a feeder writes: a ring's head is more than the ring ahead: read "
        "65536, allowed 8192, era 0\n",
        ": this is not what a feeder writes: a record has another form: read 0, allowed 3, era 0\n",
        ": closed: this is not what a feeder writes: a ring's head is behind what was taken "
        "out: read 0, allowed 65539, era 0\n"}) {
    at = errors.find(each, at);
    EXPECT_NE(at, std::string::npos) << each << errors;
  }
  RingsFixture::put(ring, 1);
  EXPECT_EQ(fixture.take().records, 0u);
  EXPECT_EQ(fixture.read("data"), "");
}

TEST(LaneRingsTest, WhatWasWrongIsReportedWhenTheFeederHasEnded) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  ASSERT_EQ(ring.look(), RingWriter::Room::kThere);
  ring.put(kIdOfS, 7, 1, 1, 0);  // two times
  fixture.end_feeder();
  EXPECT_TRUE(
      fixture.has_error("this is not what a feeder writes: a record has another form: read " +
                      std::to_string(record_head(kIdOfS, 4, 7)) + ", allowed 4, era 0"));
  EXPECT_NE(fixture.read_errors().find("at " + std::to_string(RingsFixture::kRingAt)),
            std::string::npos);
}

TEST(LaneRingsTest, TheNextServerDoesNotReportAgainAndClosesTheLaneAtTheThirdFault) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  fixture.ring();
  for (const std::uint64_t head : {kRingBytesMin, 0u}) {
    fixture.entry().head = head;
    fixture.take();
  }
  EXPECT_EQ(fixture.own("lane_bad"), 2u);
  fixture.hand_over();
  fixture.entry().head = kRingBytesMin;
  fixture.take();
  EXPECT_EQ(fixture.own("lane_bad"), 3u);
  const std::string errors = fixture.read_errors();
  EXPECT_EQ(errors.find("the server before"), std::string::npos) << errors;
  EXPECT_TRUE(
      fixture.has_error("closed: this is not what a feeder writes: a ring's head is more "
                      "than the ring ahead: read 65536, allowed 8192, era 0"));
}

TEST(LaneRingsTest, AnIdThatWasNotBoundCountsForNothing) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  ASSERT_EQ(ring.look(), RingWriter::Room::kThere);
  ring.put(kIdOfS + 1, 0, 1, 1, 0);
  ring.put(kIdOfS, 0, 2, 1, 0);
  fixture.take();
  EXPECT_EQ(fixture.read("data"), "s 0x2 1\n");
  EXPECT_EQ(fixture.own("lane_bad"), 1u);
  EXPECT_TRUE(fixture.has_error("a record has an id that was not bound: read " +
                              std::to_string(kIdOfS + 1) + ", allowed 1, era 0"));
}

TEST(LaneRingsTest, RingsTogetherAreNoLongerThanTheFile) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  for (std::size_t i = 0; i < 3; ++i) {
    fixture.entry(i).thread = 1;
    fixture.entry(i).ring = std::uint64_t{kRingBytesMax} << 32 | kLaneHeapAt;
  }
  fixture.note_change();
  fixture.take();
  EXPECT_EQ(fixture.own("rings"), 2u);
  EXPECT_EQ(fixture.own("lane_bad"), 1u);
  EXPECT_TRUE(fixture.has_error(
      "the rings are longer than the file: read 3145728, allowed 2097152, era 0"));
}

TEST(LaneRingsTest, AFullRingIsSaid) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  RingWriter ring = fixture.ring();
  while (RingsFixture::put(ring, 1)) {
  }
  ring.count_dropped();
  ring.count_dropped();
  fixture.take();
  EXPECT_EQ(fixture.own("lane_dropped"), 2u);
  EXPECT_TRUE(RingsFixture::put(ring, 1));
}

TEST(LaneRingsTest, ClaimsOfDroppedSamplesCountUpToTheBoundOfTheUid) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 40;
  RingsFixture fixture("type=list entries_max=9 base=16");
  fixture.ring();
  fixture.take();
  for (std::uint64_t i = 1; i <= 2 * DropClaims::kOfUidMax / kStep; ++i) {
    fixture.entry().dropped = i * kStep;
    fixture.take();
  }
  EXPECT_EQ(fixture.own("lane_dropped"), DropClaims::kOfUidMax);
  EXPECT_EQ(fixture.own("rejects"), 1u);
  EXPECT_TRUE(fixture.has_error("more dropped samples are reported than a uid can have sent"));
  EXPECT_EQ(fixture.own("lane_bad"), 0u);
}

TEST(LaneRingsTest, WhatWasDroppedIsClaimedWhenTheFeederHasEnded) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  fixture.ring();
  fixture.entry().dropped = 3;
  fixture.end_feeder();
  EXPECT_EQ(fixture.own("lane_dropped"), 3u);
  EXPECT_EQ(fixture.own("lane_dropped"), 3u);
}

TEST(LaneRingsTest, ANumberOfDroppedSamplesThatFallsOrLeapsIsAFault) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  fixture.ring();
  for (const std::uint64_t dropped : {5ull, 4ull, 1ull << 41}) {
    fixture.entry().dropped = dropped;
    fixture.take();
  }
  EXPECT_EQ(fixture.own("lane_dropped"), 5u);
  EXPECT_EQ(fixture.own("lane_bad"), 2u);
  EXPECT_TRUE(fixture.has_error(
      "a thread has dropped fewer samples than before: read 4, allowed 5, era 0"));
  EXPECT_TRUE(
      fixture.has_error("a thread has dropped more samples than it can have had: read "
                      "2199023255552, allowed 1099511627780, era 0"));
}

TEST(LaneRingsTest, AnotherProcessGetsNoTails) {
  RingsFixture fixture("type=list entries_max=9 base=16");
  EXPECT_FALSE(fixture.lanes_->tails({0, kFeeder + 1}, fixture.lane_));
  EXPECT_FALSE(fixture.lanes_->tails(LanesFixture::sender(), fixture.lane_ + 1));
}

// What a hostile feeder writes all over its rings and entries: records with any id among it, also
// with what names another process's statistic, and what no feeder writes.
class HostileWriter {
 public:
  HostileWriter(RingsFixture& fixture, std::uint64_t seed, std::uint64_t others_number)
      : fixture_(fixture), random_(seed), others_number_(others_number) {}
  ~HostileWriter() { end(); }

  void end() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::uint64_t steps() const { return steps_; }

 private:
  void step() {
    RingsFixture::put(ring_, 1);
    if (steps_ < 100) return;
    auto* const words = reinterpret_cast<std::atomic<std::uint64_t>*>(fixture_.memory_);
    if (random_() % 64 == 0) {
      words[kLaneEntriesAt / 8 + random_() % 16] = random_() >> random_() % 64;
      fixture_.note_change();
    }
    // Where the daemon reads next.
    const std::uint64_t near = fixture_.entry().head - random_() % 64;
    const std::uint64_t at = RingsFixture::kRingAt / 8 + near % (kRingBytesMin / 8);
    const auto id =
        static_cast<std::uint32_t>(random_() % 2 == 0 ? others_number_ : random_() % 16);
    const auto follows = static_cast<std::uint32_t>(random_() % 8);
    const std::uint32_t count = 2 + static_cast<std::uint32_t>(std::popcount(follows)) % 3;
    words[at] = random_() % 8 != 0 ? record_head(id, count, follows) : random_() >> random_() % 64;
  }

  RingsFixture& fixture_;
  std::mt19937_64 random_;
  const std::uint64_t others_number_;
  RingWriter ring_ = fixture_.ring();
  std::atomic<bool> ends_{false};
  std::atomic<std::uint64_t> steps_{0};
  std::thread thread_{[this] {
    for (; !ends_; ++steps_) step();
  }};
};

// Anything may stand in rings and entries, and change while they are read.
TEST(LaneRingsTest, HostileRingsHarmTheirOwnStatisticOnlyConcurrently) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::uint64_t taken = 0, bad = 0;
  for (unsigned round = 0; round < 20 || taken <= 20 || bad <= 20; ++round) {
    ASSERT_LT(round, 1000u);
    RingsFixture fixture("type=list entries_max=9 base=16");
    const auto t =
        fixture.execute("create web/t on=1 type=list entries_max=9 base=16").value().number;
    RingFeeder neighbour(*fixture.lanes_, {0, kFeeder + 1});
    ASSERT_TRUE(neighbour.bind(*fixture.lanes_, t));
    HostileWriter hostile(fixture, seed + round, t);
    std::uint64_t put = 0;
    while (put < 50 || hostile.steps() < 5000) {
      ASSERT_TRUE(neighbour.put(77));
      fixture.take();
      ASSERT_EQ(neighbour.taken(), ++put);
    }
    hostile.end();
    const auto of_t = [&] {
      const std::string all = fixture.read("data");
      return all.substr(std::min(all.find("t "), all.size()));
    };
    EXPECT_EQ(of_t(), "t 0x4d " + std::to_string(put) + "\n");
    taken += fixture.own("ring_samples") - put;
    bad += fixture.own("lane_bad");
    fixture.end_feeder();
    EXPECT_EQ(of_t(), "t 0x4d " + std::to_string(put) + "\n");
  }
}

}  // namespace
}  // namespace tallyfs
