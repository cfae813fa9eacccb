// Samples that go by rings, with a daemon that the test plays.
// Longer than most: each way in which rings and daemons meet takes rounds of both.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <thread>

#include "client_fixture.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t kRing = kSwitchOn | kRouteRing | kRouteNeedsY;

// Refuses membarrier(2) to the calling thread for ever. False: this kernel filters no calls.
bool refuse_membarrier() {
  std::array<sock_filter, 4> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 && !process_barrier();
}

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
    daemon_->set_route("web/s", way);
    into_ring(feeder, made);
    return made;
  }
  void into_ring(Feeder& feeder, FedStatistic& of) {
    for (int i = 0; i < 10 && feeder.buffer->in_ring() == 0; ++i) {
      feeder.add(of, 0);
      exchange(feeder);
    }
    ASSERT_EQ(feeder.buffer->in_ring(), 1u);
    ASSERT_EQ(lane().take().size(), 1u);
  }
  FakeLane& lane() { return *daemon_->lane; }
  // As a daemon answers, which may not be connected to yet; -ETIMEDOUT after so many rounds.
  int sync(Feeder& feeder, int rounds = 100) {
    int result = -ETIMEDOUT;
    for (int i = 0; i < rounds && result != 0; ++i) {
      result = feeder.client.sync(0ms);
      daemon_->serve();
    }
    return result;
  }
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
  FedStatistic& s = in_ring(feeder, kRing | kRouteNeedsTime);
  const auto before = static_cast<std::uint64_t>(monotonic_ns());
  feeder.add(s, 1);
  feeder.client.samples().add_slow_path(*feeder.buffer, s, 2, 1, [] {
    return Stamp{Stamp::Scale::kNs, 77};
  });
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
  const std::uint32_t* const its_switch = s.page_switch();
  // A change of its own: until the daemon has answered, samples go over the socket.
  daemon_->ignores.insert("define web name=s data=reset");
  EXPECT_EQ(feeder.client.statistics().reset(s), 0);
  feeder.add(s, 5);
  EXPECT_EQ(feeder.counts().held, 1u);
  EXPECT_EQ(xs_in_ring(), Xs{});
  daemon_->serve();
  daemon_->set_route("web/s", kRing);
  s.set_switch(its_switch);
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
  for (int i = 0; i < 100; ++i) feeder.add(s, 1);
  EXPECT_EQ(feeder.counts().dropped, 101u);
  // Half full, and the one wait.
  EXPECT_EQ(std::ranges::count(daemon_->serve(), "(bell)"), 2);
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
  daemon_->set_route("web/s", kRing);
  for (int i = 0; i < 10 && !lane().file; ++i) {
    feeder.add(s, 0);
    exchange(feeder);
  }
  exchange(feeder);
  feeder.add(s, 8);
  EXPECT_EQ(xs_in_ring(), Xs{8});
  feeder.counts();
}

// Samples that waited in the socket are stale for the daemon that takes them out; records that were
// sent again are not.
TEST_F(ClientRingsTest, TheRestIsConfirmedWhenOtherSamplesWereStale) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  FedStatistic& t = feeder.started(*s.interface, "t");
  exchange(feeder);
  const auto before = feeder.counts();
  feeder.add(t, 1);
  feeder.client.flush();
  for (int x = 1; x <= 3; ++x) feeder.add(s, x);
  daemon_->epoch += 1;
  daemon_->lane = std::make_unique<FakeLane>();
  while (daemon_->take()) {
  }
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  EXPECT_EQ(sync(feeder), 0);
  EXPECT_EQ(daemon_->xs("web/s").size(), 4u);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.lost, before.lost + 1);
  EXPECT_EQ(counts.confirmed, before.confirmed + 3);
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

TEST_F(ClientRingsTest, SyncInACallGivesTheNextDaemonTheRest) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  for (int x = 1; x <= 3; ++x) feeder.add(s, x);
  daemon_->end();
  start_with_lane(FakeDaemon::kEpoch + 1);
  feeder.buffer->enter_call();
  EXPECT_EQ(sync(feeder), 0);
  feeder.client.samples().leave_call(*feeder.buffer);
  EXPECT_EQ(daemon_->xs("web/s"), (Xs{1, 2, 3}));
}

// A sandbox may do so once the program has begun.
TEST_F(ClientRingsTest, TheNextDaemonGetsTheRestWhereTheKernelRefusesTheBarrier) {
  bool is_refused = false;
  std::thread sandboxed([&] {
    is_refused = refuse_membarrier();
    if (!is_refused) return;
    start_with_lane();
    Feeder feeder(settings());
    FedStatistic& s = in_ring(feeder);
    for (int x = 1; x <= 3; ++x) feeder.add(s, x);
    daemon_->end();
    feeder.client.sync(0ms);
    start_with_lane(FakeDaemon::kEpoch + 1);
    const auto until = std::chrono::steady_clock::now() + 60s;
    int result = sync(feeder, 1);
    while (result != 0 && std::chrono::steady_clock::now() < until) {
      daemon_->wait(1ms);
      result = sync(feeder, 1);
    }
    EXPECT_EQ(result, 0);
    EXPECT_EQ(daemon_->xs("web/s"), (Xs{1, 2, 3}));
    feeder.counts();
  });
  sandboxed.join();
  if (!is_refused) GTEST_SKIP() << "no filter of system calls";
}

TEST_F(ClientRingsTest, FlushWithoutADaemonSaysThatRecordsAreLeft) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  feeder.add(s, 1);
  daemon_->end();
  feeder.client.sync(0ms);
  EXPECT_EQ(feeder.counts().held, 0u);
  EXPECT_EQ(feeder.client.flush(), -ENOTCONN);
}

// As long as a thread is in its ring, what is left there cannot be read. Others go on.
TEST_F(ClientRingsTest, SyncWaitsForARestThatIsLate) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  ThreadBuffer& other = *feeder.own_buffer();
  ThreadBuffer* const third = feeder.own_buffer();
  feeder.client.samples().give_back(*third);
  for (int x = 1; x <= 3; ++x) feeder.add(s, x);
  daemon_->end();
  other.enter();
  feeder.client.sync(0ms);
  feeder.client.flush();
  start_with_lane(FakeDaemon::kEpoch + 1);
  feeder.add(s, 9);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (daemon_->xs("web/s").empty() && std::chrono::steady_clock::now() < until) {
    EXPECT_EQ(feeder.client.sync(0ms), -ETIMEDOUT);
    daemon_->wait(1ms);
    daemon_->serve();
  }
  EXPECT_EQ(sync(feeder), -ETIMEDOUT);
  feeder.client.samples().leave(other);
  EXPECT_EQ(sync(feeder), 0);
  EXPECT_EQ(daemon_->xs("web/s"), (Xs{9, 1, 2, 3}));
  EXPECT_EQ(feeder.own_buffer(), third);
}

TEST_F(ClientRingsTest, AThreadThatWaitsForRoomSeesThatItsDaemonIsGone) {
  start_with_lane();
  auto waiting = settings();
  waiting.wait_max = 10s;
  Feeder feeder(waiting);
  FedStatistic& s = in_ring(feeder);
  daemon_->samples.clear();
  std::int64_t last = 0;
  std::thread adds([&] {
    while (feeder.buffer->held() == 0 && feeder.buffer->dropped() == 0) feeder.add(s, ++last);
  });
  // One when the ring is half full, one when the thread waits.
  for (std::ptrdiff_t bells = 0; bells < 2;) {
    daemon_->wait(1s);
    bells += std::ranges::count(daemon_->serve(), "(bell)");
  }
  // The next daemon has the same socket.
  daemon_->epoch += 1;
  feeder.client.sync(0ms);
  daemon_->serve();
  feeder.client.sync(0ms);
  adds.join();
  EXPECT_EQ(feeder.counts().dropped, 0u);
  daemon_->lane = std::make_unique<FakeLane>();
  EXPECT_EQ(sync(feeder, 10'000), 0);
  const Xs xs = daemon_->xs("web/s");
  EXPECT_EQ(xs.size(), static_cast<std::size_t>(last));
  EXPECT_TRUE(std::ranges::is_sorted(xs));
}

TEST_F(ClientRingsTest, ADoorbellKeepsTheUpkeepAwakeForTheAnswer) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  while (feeder.client.run_round() < 1s) daemon_->wait(1ms);
  while (!has(daemon_->serve(), "(bell)")) feeder.add(s, 1);
  EXPECT_LE(feeder.client.run_round(), 10ms);
}

TEST_F(ClientRingsTest, ADoorbellForWhichThereIsNoRoomIsRungAgain) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  Link another(path_);
  ASSERT_TRUE(another.connect());
  std::array<char, wire::kDoorbellBytes> bell;
  wire::write_doorbell(daemon_->epoch, FakeLane::kNumber, bell);
  while (another.send({bell.data(), bell.size()}) == Link::Sent::kDone) {
  }
  for (int i = 0; i < 40'000; ++i) feeder.add(s, 1);
  EXPECT_EQ(feeder.counts().dropped, 0u);
  daemon_->serve();
  for (int i = 0; i < 10'000; ++i) feeder.add(s, 1);
  EXPECT_EQ(std::ranges::count(daemon_->serve(), "(bell)"), 1);
}

TEST_F(ClientRingsTest, WhatWentOverTheSocketMeanwhileIsSentBeforeTheNextRecord) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  daemon_->set_route("web/s", kSwitchOn);
  feeder.add(s, 5);
  EXPECT_EQ(feeder.counts().held, 1u);
  daemon_->set_route("web/s", kRing);
  feeder.add(s, 6);
  EXPECT_EQ(feeder.counts().held, 0u);
  EXPECT_TRUE(has(daemon_->serve(), "web/s 5"));
  EXPECT_EQ(xs_in_ring(), Xs{6});
}

TEST_F(ClientRingsTest, WhatIsReleasedWithRecordsLeftGetsThemToTheNextDaemon) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_ring(feeder);
  for (int x = 1; x <= 3; ++x) feeder.add(s, x);
  daemon_->end();
  feeder.client.sync(0ms);
  feeder.client.flush();
  feeder.client.statistics().drop(s, ServerSide::kKeep);
  feeder.started(feeder.interface("another"), "t");
  start_with_lane(FakeDaemon::kEpoch + 1);
  EXPECT_EQ(sync(feeder), 0);
  EXPECT_EQ(daemon_->xs("web/s"), (Xs{1, 2, 3}));
}

TEST_F(ClientRingsTest, WithoutALaneTheSocketIsTaken) {
  start_with_lane();
  auto none = settings();
  none.has_lane = false;
  Feeder feeder(none);
  FedStatistic& s = feeder.started(feeder.interface("web"), "s");
  exchange(feeder);
  daemon_->set_route("web/s", kRing);
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
