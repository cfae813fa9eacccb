// Samples that go by rings, with a daemon that the test plays.
#include "client_stand.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t kRing = kSwitchOn | kWayRing | kWayNeedsY;

class ClientRingsTest : public ClientTest {
 protected:
  void start_with_lane(std::uint64_t epoch = FakeDaemon::kEpoch) {
    start_daemon(epoch);
    daemon_->page = std::make_unique<SwitchPage>(4096);
    daemon_->lane = std::make_unique<FakeLane>();
  }
  // web/s, whose samples go into the ring from now on, of which there has been one.
  FedStatistic& in_ring(Feeder& feeder, std::uint32_t way = kRing) {
    FedStatistic& made = feeder.started(feeder.interface("web"), "s");
    exchange(feeder);
    daemon_->set_way("web/s", way);
    into_ring(feeder, made);
    return made;
  }
  void into_ring(Feeder& feeder, FedStatistic& of) {
    for (int i = 0; i < 10 && feeder.lane->in_ring() == 0; ++i) {
      feeder.add(of, 0);
      exchange(feeder);
    }
    ASSERT_EQ(feeder.lane->in_ring(), 1u);
    ASSERT_EQ(lane().take().size(), 1u);
  }
  FakeLane& lane() { return *daemon_->lane; }
  Xs xs_in_ring() {
    Xs xs;
    for (const RingRecord& each : lane().take()) xs.push_back(each.x);
    return xs;
  }
};

TEST_F(ClientRingsTest, ASampleInTheRingIsSentAndConfirmedWhenTheDaemonHasTakenIt) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  const auto before = feeder.counts();
  feeder.add(s, 7);
  feeder.add(s, -8, 9);
  auto counts = feeder.counts();
  EXPECT_EQ(counts.sent, before.sent + 2);
  EXPECT_EQ(counts.confirmed, before.confirmed);
  EXPECT_EQ(counts.held, 0u);
  const auto records = lane().take();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].x, 7);
  EXPECT_EQ(records[0].follows, 0u);
  EXPECT_EQ(records[1].x, -8);
  EXPECT_EQ(records[1].y, 9u);
  EXPECT_EQ(lane().bound.at(records[0].id), daemon_->number_of("web/s"));
  EXPECT_EQ(feeder.counts().confirmed, before.confirmed + 2);
}

TEST_F(ClientRingsTest, RecordsHaveATimeWhereItIsNeeded) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder, kRing | kWayNeedsTime);
  const auto before = static_cast<std::uint64_t>(monotonic_ns());
  feeder.add(s, 1);
  feeder.client.add(*feeder.lane, s, 2, 1, [] { return Stamp{Stamp::Scale::kNs, 77}; });
  auto records = lane().take();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].follows, kRecordNs);
  EXPECT_GE(records[0].time + 1'000'000, before);
  EXPECT_EQ(records[1].time, 77u);
  lane().page().takes_cycles = 1;
  feeder.add(s, 3);
  records = lane().take();
  ASSERT_EQ(records.size(), 1u);
  // Cycles of the machine's counter, not of another driver that TALLY_CLOCK may name.
  const SampleTime time;
  EXPECT_EQ(records[0].follows, time.is_counter() ? kRecordCycles : kRecordNs);
}

TEST_F(ClientRingsTest, WhatIsHeldIsSentBeforeTheFirstRecord) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  // A change of its own: until the daemon has answered, samples go over the socket.
  daemon_->ignores.insert("define web name=s data=reset");
  EXPECT_EQ(feeder.client.reset(s), 0);
  feeder.add(s, 5);
  EXPECT_EQ(feeder.counts().held, 1u);
  EXPECT_EQ(xs_in_ring(), Xs{});
  daemon_->serve();
  daemon_->set_way("web/s", kRing);
  s.set_switch(&kRing);
  feeder.add(s, 6);
  EXPECT_EQ(feeder.counts().held, 0u);
  EXPECT_TRUE(has(daemon_->serve(), "web/s 5"));
  EXPECT_EQ(xs_in_ring(), Xs{6});
}

TEST_F(ClientRingsTest, AFullRingRingsOnceAndThenDrops) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  const auto added = feeder.counts().added;
  std::int64_t put = 0;
  while (feeder.counts().dropped == 0) feeder.add(s, put++);
  feeder.add(s, put++);
  auto counts = feeder.counts();
  EXPECT_EQ(counts.dropped, 2u);
  EXPECT_EQ(counts.added, added + static_cast<std::uint64_t>(put));
  EXPECT_EQ(s.dropped, 2u);
  EXPECT_EQ(lane().entry().dropped, 2u);
  const Log log = daemon_->serve();
  EXPECT_EQ(std::ranges::count(log, "(bell)"), 1);
  EXPECT_EQ(lane().take().size(), static_cast<std::size_t>(put) - 2);
  feeder.add(s, put++);
  EXPECT_EQ(lane().take().size(), 1u);
  EXPECT_TRUE(has(exchange(feeder), "dropped 2"));
}

TEST_F(ClientRingsTest, AThreadWaitsForRoomOnceInVain) {
  start_with_lane();
  auto waiting = settings();
  waiting.wait_max = 5ms;
  Feeder feeder(waiting);
  FedStatistic& s = in_ring(feeder);
  while (feeder.counts().dropped == 0) feeder.add(s, 1);
  const auto begun = monotonic_ns();
  for (int i = 0; i < 100; ++i) feeder.add(s, 1);
  EXPECT_EQ(feeder.counts().dropped, 101u);
  EXPECT_LT(monotonic_ns() - begun, 400'000'000);
  lane().take(10);
  feeder.add(s, 1);
  EXPECT_EQ(feeder.counts().dropped, 101u);
}

TEST_F(ClientRingsTest, SyncWaitsUntilTheDaemonHasTakenTheRecords) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  feeder.add(s, 1);
  EXPECT_EQ(feeder.client.sync(0ms), -ETIMEDOUT);
  EXPECT_TRUE(has(daemon_->serve(), "(ping)"));
  lane().take();
  EXPECT_EQ(feeder.client.sync(0ms), 0);
}

TEST_F(ClientRingsTest, AnotherDaemonGetsTheRestOverTheSocketBeforeWhatComesLater) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  for (int x = 1; x <= 5; ++x) feeder.add(s, x, 2);
  EXPECT_EQ(lane().take(2).size(), 2u);
  const auto before = feeder.counts();
  daemon_->end();
  // A ping that does not arrive.
  feeder.client.sync(0ms);
  feeder.client.flush();
  feeder.add(s, 6);
  start_with_lane(FakeDaemon::kEpoch + 1);
  exchange(feeder);
  ASSERT_EQ(daemon_->xs("web/s"), (Xs{3, 4, 5, 6}));
  EXPECT_EQ(daemon_->samples["web/s"].front().y, 2u);
  exchange(feeder);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, before.added + 1);
  EXPECT_EQ(counts.dropped, 0u);
  EXPECT_EQ(counts.held, 0u);
  // And a new lane of the next daemon's.
  daemon_->set_way("web/s", kRing);
  for (int i = 0; i < 10 && !lane().file; ++i) {
    feeder.add(s, 0);
    exchange(feeder);
  }
  exchange(feeder);
  feeder.add(s, 8);
  EXPECT_EQ(xs_in_ring(), Xs{8});
  feeder.counts();
}

TEST_F(ClientRingsTest, TheSameDaemonTakesTheRestItself) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  feeder.add(s, 1);
  const std::unique_ptr<FakeLane> old = std::move(daemon_->lane);
  daemon_->end();
  feeder.client.sync(0ms);
  feeder.client.flush();
  start_with_lane();  // whose socket is another one
  feeder.add(s, 2);
  exchange(feeder);
  EXPECT_EQ(old->take().size(), 1u);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/s"), Xs{2});
  feeder.counts();
}

TEST_F(ClientRingsTest, WithoutALaneTheSocketIsTaken) {
  start_with_lane();
  auto none = settings();
  none.has_lane = false;
  Feeder feeder(none);
  FedStatistic& s = feeder.started(feeder.interface("web"), "s");
  exchange(feeder);
  daemon_->set_way("web/s", kRing);
  for (int i = 0; i < 3; ++i) {
    feeder.add(s, i);
    exchange(feeder);
  }
  EXPECT_EQ(daemon_->xs("web/s"), (Xs{0, 1, 2}));
  EXPECT_FALSE(lane().file);
}

TEST_F(ClientRingsTest, ADaemonWithLittleRoomGivesASmallLane) {
  start_with_lane();
  daemon_->refuses[std::to_string(Registrar::kLaneBytesWithRings)] = ENOSPC;
  Feeder feeder(settings());
  in_ring(feeder);
  EXPECT_EQ(lane().file->bytes(), kLaneBytesMin);
}

}  // namespace
}  // namespace tallyfs
