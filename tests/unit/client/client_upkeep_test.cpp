// The Client with its background thread, which makes the rounds.
#include <atomic>
#include <thread>

#include "client_fixture.h"

namespace tallyfs {
namespace {

// A daemon that serves by itself until the test ends.
class UpkeepTest : public ClientTest {
 protected:
  ~UpkeepTest() override { stop_serving(); }
  void serve_always() {
    serving_ = true;
    server_ = std::thread([this] {
      while (serving_) {
        daemon_->wait(1ms);
        daemon_->serve();
      }
    });
  }
  void stop_serving() {
    serving_ = false;
    if (server_.joinable()) server_.join();
  }
  // True as soon as it holds; false after a minute.
  template <typename Holds>
  static bool comes(Holds&& holds) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  static std::uint64_t confirmed(const Feeder& feeder) {
    statistic_counts counts{};
    feeder.client.count(counts);
    return counts.confirmed;
  }

  std::atomic<bool> serving_{false};
  std::thread server_;
};

TEST_F(UpkeepTest, SendsWhatWaitsByItselfAndWakesForTheNextSample) {
  start_daemon();
  serve_always();
  Feeder feeder(settings(), Feeder::Upkeep::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::uint64_t n = 1; n <= 3; ++n) {
    feeder.add(hits, static_cast<std::int64_t>(n));
    EXPECT_TRUE(comes([&] { return confirmed(feeder) == n; }));
  }
  feeder.client.finish(0ms);
  stop_serving();
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2, 3}));
}

TEST_F(UpkeepTest, FindsADaemonThatComesLater) {
  Feeder feeder(settings(), Feeder::Upkeep::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  feeder.add(hits, 1);
  start_daemon();
  serve_always();
  EXPECT_TRUE(comes([&] { return confirmed(feeder) == 1; }));
  feeder.client.finish(0ms);
}

// ---- without the thread: what it asks before it sleeps until it is woken

class UpkeepSleepTest : public ClientTest {
 protected:
  // Rounds until nothing is due.
  void rest(Feeder& feeder) {
    while (feeder.client.run_round() < 1s) {
      daemon_->wait(1ms);
      daemon_->serve();
    }
  }
};

TEST_F(UpkeepSleepTest, WhatCameAfterItsLastRoundKeepsItAwake) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  rest(feeder);
  if (process_barrier()) {
    EXPECT_TRUE(feeder.client.fall_asleep());
  }
  FedStatistic& hits = feeder.statistic(web, "hits");
  EXPECT_FALSE(feeder.client.fall_asleep());
  rest(feeder);
  feeder.client.statistics().drop(hits, ServerSide::kDelete);
  EXPECT_FALSE(feeder.client.fall_asleep());
  EXPECT_LE(feeder.client.run_round(), 10ms);
}

// A change is sent by the call, and so may be on its way when a round has nothing to do.
TEST_F(UpkeepSleepTest, ItComesBackSoonForAResponse) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (int i = 0; i < 5; ++i) {
    rest(feeder);
    feeder.client.statistics().reset(hits);
    EXPECT_LE(feeder.client.run_round(), 10ms);
  }
}

TEST_F(UpkeepTest, FinishSendsWhatIsHeld) {
  start_daemon();
  serve_always();
  {
    Feeder feeder(settings(), Feeder::Upkeep::kRuns);
    FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
    for (std::int64_t x = 0; x < 100; ++x) feeder.add(hits, x);
    feeder.client.finish(60s);
  }
  stop_serving();
  daemon_->serve();
  EXPECT_EQ(daemon_->count(), 100u);
  EXPECT_FALSE(was_reported("could not be sent"));
}

TEST_F(UpkeepTest, FinishDeliversTheReportsThatWait) {
  Feeder feeder(settings(), Feeder::Upkeep::kRuns);  // with the first interface
  feeder.client.finish(5ms);
  EXPECT_TRUE(was_reported("no daemon yet"));
}

TEST_F(UpkeepTest, FinishReportsWhatASilentDaemonDidNotGet) {
  start_daemon();
  {
    Feeder feeder(settings(), Feeder::Upkeep::kRuns);
    FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
    for (std::int64_t x = 0; x < 5; ++x) feeder.add(hits, x);
    feeder.client.finish(5ms);
    feeder.client.finish(5ms);
  }
  const auto told = std::ranges::count(
      reports_,
      "5 samples could not be sent before the end, and are lost: the daemon does not "
      "take them");
  EXPECT_EQ(told, 1);
}

TEST_F(UpkeepTest, FinishReportsWhatWasHeldForADaemonThatNeverCame) {
  {
    Feeder feeder(settings(), Feeder::Upkeep::kRuns);
    FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
    for (std::int64_t x = 0; x < 5; ++x) feeder.add(hits, x);
    feeder.client.finish(5ms);
  }
  EXPECT_TRUE(was_reported("5 samples could not be sent before the end, and are lost: there is"));
}

TEST_F(UpkeepTest, SyncReturnsWhenTheDaemonHasTakenEverythingIn) {
  start_daemon();
  serve_always();
  Feeder feeder(settings(), Feeder::Upkeep::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 1000; ++x) feeder.add(hits, x);
  EXPECT_EQ(feeder.client.sync(60s), 0);
  EXPECT_EQ(feeder.counts().confirmed, 1000u);
  feeder.client.finish(0ms);
}

TEST_F(UpkeepTest, ARefusedStatisticKeepsNoOtherFromBeingSynced) {
  start_daemon();
  daemon_->refuses["web/bad"] = ENOSPC;
  serve_always();
  Feeder feeder(settings(), Feeder::Upkeep::kRuns);
  FedInterface& web = feeder.interface("web");
  FedStatistic& bad = feeder.started(web, "bad");
  FedStatistic& good = feeder.started(web, "good");
  for (std::int64_t x = 0; x < 1'000; ++x) feeder.add(good, x);
  EXPECT_EQ(feeder.client.sync(60s), -ENOSPC);
  EXPECT_EQ(feeder.counts().confirmed, 1'000u);
  feeder.client.statistics().drop(bad, ServerSide::kKeep);
  EXPECT_EQ(feeder.client.sync(60s), 0);
  feeder.client.finish(0ms);
}

TEST_F(UpkeepTest, ThreadsAndTheUpkeepTogetherLoseNothing) {
  constexpr int kThreads = 3;
  constexpr std::int64_t kSamples = 20'000;
  start_daemon();
  serve_always();
  auto given = settings(1024);
  given.wait_max = 60s;
  given.delay = 1ms;
  Feeder feeder(given, Feeder::Upkeep::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  ASSERT_EQ(feeder.client.sync(60s), 0);
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&] {
      ThreadBuffer* const buffer = feeder.own_buffer();
      for (std::int64_t x = 0; x < kSamples; ++x) feeder.add_by(*buffer, hits, x);
      feeder.client.samples().give_back(*buffer);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(feeder.client.sync(60s), 0);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.confirmed, std::uint64_t{kThreads} * kSamples);
  EXPECT_EQ(counts.dropped, 0u);
  feeder.client.finish(0ms);
  stop_serving();
  EXPECT_EQ(daemon_->count(), counts.confirmed);
}

}  // namespace
}  // namespace tallyfs
