#include "feeders/client/packer.h"

#include <gtest/gtest.h>

#include <array>

#include "packer_fixture.h"

namespace tallyfs {
namespace {

class PackerTest : public PackerFixture {};

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

TEST_F(PackerTest, LeavesTheBufferAsItIs) {
  FedStatistic& hits = numbered(7);
  add(hits, 5);
  const std::string first(pack().datagram);
  EXPECT_EQ(buffer_->held(), 1u);
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
  consume(*buffer_, packed.entries);
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
  consume(*buffer_, packed.entries);
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

TEST_F(PackerTest, FindsWhatLiesBeyondTheWrapOfTheBuffer) {
  FedStatistic& hits = numbered(7);
  add_many(hits, 8190);
  consume(*buffer_, 8190);
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
  consume(*buffer_, 2);
  const Packed none = pack();
  EXPECT_EQ(none.entries, 0u);
  EXPECT_EQ(none.unknown, &later);
  later.number = 8;
  EXPECT_EQ(all_of(pack().datagram), (std::vector<Told>{{8, 3}, {7, 4}}));
}

TEST_F(PackerTest, AStatisticThatIsGoneOrAskedForWaitsForItsNumber) {
  for (const Registration registration : {Registration::kUnregistered, Registration::kRequested,
                                          Registration::kRegistered, Registration::kRemoved}) {
    FedStatistic& waits = unknown();
    waits.registration = registration;
    add(waits, 1);
    const Packed packed = pack();
    EXPECT_EQ(packed.entries, 0u);
    EXPECT_EQ(packed.unknown, &waits);
    consume(*buffer_, 1);
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
  consume(*buffer_, packed.entries);
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
  consume(*buffer_, packed.entries);
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
  while (buffer_->held() != 0) {
    const Packed packed = pack();
    ASSERT_EQ(packed.entries, packed.samples + packed.refused);
    ASSERT_TRUE(packed.samples == 0 || packed.refused == 0);
    steps.emplace_back(packed.samples, packed.refused);
    consume(*buffer_, packed.entries);
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
  consume(*buffer_, packed.entries);
  packed = pack();
  EXPECT_EQ(all_of(packed.datagram), (std::vector<Told>{{7, 2}}));
  consume(*buffer_, packed.entries);
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
  buffer_->append(UnsentSample(hits, 1, 1, at_cycles(400)));
  buffer_->append(UnsentSample(hits, 2, 1, at_cycles(900)));
  const auto all = all_of(pack(at(1000, 5000)).datagram);
  EXPECT_EQ(all, (std::vector<Told>{{7, 1, 1, 4400}, {7, 2, 1, 4900}}));
}

TEST_F(PackerTest, NoTimeIsToCome) {
  FedStatistic& hits = numbered(7);
  buffer_->append(UnsentSample(hits, 1, 1, at_cycles(1500)));
  EXPECT_EQ(all_of(pack(at(1000, 5000)).datagram), (std::vector<Told>{{7, 1, 1, 5000}}));
}

TEST_F(PackerTest, TimesDoNotGoBackFromOneDatagramToTheNext) {
  FedStatistic& hits = numbered(7);
  buffer_->append(UnsentSample(hits, 1, 1, at_cycles(1000)));
  EXPECT_EQ(all_of(pack(at(1000, 5000)).datagram), (std::vector<Told>{{7, 1, 1, 5000}}));
  consume(*buffer_, 1);
  // A better rate puts what came later 10 ns earlier.
  buffer_->append(UnsentSample(hits, 2, 1, at_cycles(1100)));
  EXPECT_EQ(all_of(pack(at(2100, 5990)).datagram), (std::vector<Told>{{7, 2, 1, 5000}}));
}

TEST_F(PackerTest, TimesInNanosecondsDoNotBindThoseThatFollow) {
  FedStatistic& hits = numbered(7);
  add(hits, 1, 1, 1'000'000);
  buffer_->append(UnsentSample(hits, 2, 1, at_cycles(10)));
  EXPECT_EQ(all_of(pack(at(100, 100)).datagram),
            (std::vector<Told>{{7, 1, 1, 1'000'000}, {7, 2, 1, 10}}));
}

// What a signal handler adds while its thread is inside stands behind what the thread adds then,
// and has been stamped before.
TEST_F(PackerTest, TimesDoNotGoBackWithinADatagram) {
  FedStatistic& hits = numbered(7);
  buffer_->append(UnsentSample(hits, 1, 1, at_cycles(500)));
  buffer_->append(UnsentSample(hits, 2, 1, at_cycles(490)));
  buffer_->append(UnsentSample(hits, 3, 1, at_cycles(510)));
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

}  // namespace
}  // namespace tallyfs
