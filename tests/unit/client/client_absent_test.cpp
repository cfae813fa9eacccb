// The Client without a daemon, and with daemons that go and come.
#include <atomic>
#include <numeric>
#include <thread>

#include "client_fixture.h"

namespace tallyfs {
namespace {

// ---- without one

TEST_F(ClientTest, WithoutADaemonSamplesAreHeldAndSentWhenOneComes) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 700; ++x) feeder.add(hits, x);
  EXPECT_EQ(feeder.client.flush(), -ENOTCONN);
  EXPECT_EQ(feeder.counts().held, 700u);
  EXPECT_EQ(feeder.counts().sent, 0u);
  start_daemon();
  exchange(feeder);
  Xs expected(700);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(daemon_->xs("web/hits"), expected);
  EXPECT_EQ(feeder.counts().confirmed, 700u);
}

// They were added while it was on, and are to arrive while it is.
TEST_F(ClientTest, SamplesAddedBeforeAStopCountAlsoWhenTheDaemonComesLater) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  feeder.add(hits, 1);
  feeder.client.statistics().switch_off(hits);
  start_daemon();
  Log log = exchange(feeder);
  std::erase(log, "(ping)");
  EXPECT_EQ(log, (Log{"switches", "create web", "create web/hits on=1", "web/hits 1",
                      "define web name=hits on=0"}));
}

TEST_F(ClientTest, BeyondTheRoomSamplesAreDroppedAndCounted) {
  Feeder feeder(settings(1024));
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  FedStatistic& misses = feeder.started(web, "misses");
  for (std::int64_t x = 0; x < 1030; ++x) feeder.add(hits, x);
  feeder.add(misses, 1);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 1031u);
  EXPECT_EQ(counts.held, 1024u);
  EXPECT_EQ(counts.dropped, 7u);
  EXPECT_EQ(hits.dropped, 6u);
  EXPECT_EQ(misses.dropped, 1u);
}

TEST_F(ClientTest, ThoseThatCameFirstAreKept) {
  Feeder feeder(settings(1024));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 2000; ++x) feeder.add(hits, x);
  start_daemon();
  exchange(feeder);
  Xs expected(1024);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(daemon_->xs("web/hits"), expected);
}

TEST_F(ClientTest, TheDaemonIsToldOnceHowManyWereDropped) {
  Feeder feeder(settings(1024));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 1030; ++x) feeder.add(hits, x);
  start_daemon();
  EXPECT_TRUE(has(exchange(feeder), "dropped 6"));
  exchange(feeder);
  EXPECT_EQ(daemon_->dropped, 6u);
}

TEST_F(ClientTest, WhatAFullQueueDoesNotTakeIsHeldThenDropped) {
  start_daemon();
  Feeder feeder(settings(1024));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  for (std::int64_t x = 0; x < 100'000; ++x) feeder.add(hits, x);
  const auto full = feeder.counts();
  EXPECT_EQ(full.held, 1024u);
  EXPECT_GT(full.dropped, 0u);
  daemon_->serve();
  exchange(feeder);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.held, 0u);
  EXPECT_EQ(counts.confirmed + counts.dropped, 100'000u);
  EXPECT_EQ(daemon_->count(), counts.confirmed);
  EXPECT_EQ(daemon_->dropped, counts.dropped);
  EXPECT_TRUE(std::ranges::is_sorted(daemon_->xs("web/hits")));
}

TEST_F(ClientTest, AFeederThatMayWaitWaitsOnceInVain) {
  start_daemon();
  auto given = settings(1024);
  given.wait_max = 30ms;
  Feeder feeder(given);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  const auto before = std::chrono::steady_clock::now();
  for (std::int64_t x = 0; x < 100'000; ++x) feeder.add(hits, x);
  const auto waited = std::chrono::steady_clock::now() - before;
  EXPECT_GE(waited, 30ms);
  EXPECT_LT(waited, 30s);  // not once for each
  EXPECT_GT(feeder.counts().dropped, 0u);
}

TEST_F(ClientTest, AFeederThatMayWaitLosesNothingToASlowDaemon) {
  start_daemon();
  auto given = settings(1024);
  given.wait_max = 60s;
  Feeder feeder(given);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  std::atomic<bool> done{false};
  std::thread daemon([&] {
    while (!done) {
      daemon_->wait(1ms);
      daemon_->serve();
    }
  });
  for (std::int64_t x = 0; x < 100'000; ++x) feeder.add(hits, x);
  done = true;
  daemon.join();
  exchange(feeder);
  EXPECT_EQ(feeder.counts().dropped, 0u);
  EXPECT_EQ(daemon_->count(), 100'000u);
}

TEST_F(ClientTest, SamplesOfAStatisticThatTheDaemonRefusesAreDroppedAndCounted) {
  start_daemon();
  daemon_->refuses["web/bad"] = EPERM;
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& bad = feeder.started(web, "bad");
  FedStatistic& good = feeder.started(web, "good");
  feeder.add(bad, 1);
  feeder.add(good, 2);
  feeder.add(bad, 3);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/good"), Xs{2});
  EXPECT_EQ(bad.dropped, 2u);
  EXPECT_EQ(feeder.counts().dropped, 2u);
  EXPECT_EQ(feeder.counts().confirmed, 1u);
  EXPECT_EQ(daemon_->dropped, 2u);
  EXPECT_EQ(feeder.client.sync(0ms), -EPERM);
}

// ---- daemons that go and come

TEST_F(ClientTest, WhatWasOnTheWayWhenTheDaemonWentIsLost) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  feeder.add(hits, 1);
  exchange(feeder);
  ASSERT_EQ(feeder.counts().confirmed, 1u);
  feeder.add(hits, 2);
  feeder.add(hits, 3);
  EXPECT_EQ(feeder.client.flush(), 0);
  EXPECT_EQ(feeder.counts().confirmed, 1u);
  daemon_->end();
  feeder.add(hits, 4);
  feeder.client.flush();
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.confirmed, 1u);
  EXPECT_EQ(counts.lost, 2u);
  EXPECT_EQ(counts.held, 1u);
}

TEST_F(ClientTest, TheNextDaemonGetsEverythingAnewAndWhatWasHeld) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  feeder.client.statistics().define(hits, "type=range range_min=0 range_max=9");
  feeder.add(hits, 1);
  exchange(feeder);
  daemon_->end();
  feeder.add(hits, 2);
  feeder.client.flush();
  feeder.add(hits, 3);
  start_daemon(2);
  const Log log = exchange(feeder);
  EXPECT_TRUE(has(log, "create web"));
  EXPECT_TRUE(has(log, "create web/hits type=range range_min=0 range_max=9 on=1"));
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{2, 3}));
  EXPECT_EQ(daemon_->xs("?"), Xs{});
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.confirmed, 3u);
  EXPECT_EQ(counts.lost, 0u);
}

// The thread that adds finds that the daemon has gone, and the next is there before the upkeep
// has looked.
TEST_F(ClientTest, WhatWasOnTheWayIsLostAlsoWhenTheNextDaemonIsThereAtOnce) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  EXPECT_EQ(feeder.client.flush(), 0);
  start_daemon(2);  // takes the first one's place, with what was in its queue
  for (std::int64_t x = 0; x < 600; ++x) feeder.add(hits, x);
  exchange(feeder);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.lost, 1u);
  EXPECT_EQ(counts.confirmed, 600u);
  EXPECT_EQ(daemon_->count(), 600u);
}

TEST_F(ClientTest, TheDaemonsComingsAndGoingsAreReported) {
  Feeder feeder(settings());
  feeder.interface("web");
  feeder.client.flush();
  feeder.client.run_round();
  EXPECT_TRUE(was_reported("no daemon yet: " + path_));
  EXPECT_TRUE(was_reported("; is that the --socket of a tallyfs that runs?"));
  start_daemon();
  exchange(feeder);
  feeder.client.run_round();
  EXPECT_TRUE(was_reported("sending to " + path_));
  daemon_->end();
  feeder.interface("disk");  // asking for it shows that there is no daemon
  feeder.client.flush();
  feeder.client.run_round();
  EXPECT_TRUE(was_reported("is gone"));
}

TEST_F(ClientTest, ADaemonThatEndsAndStillHasItsSocketIsReportedOnce) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  daemon_->refuse();
  for (int i = 0; i < 5; ++i) {
    feeder.add(hits, 1);
    feeder.client.flush();
  }
  start_daemon(2);
  exchange(feeder);
  feeder.client.run_round();
  const Log expected = {"sending to " + path_, "the daemon at " + path_ + " is gone",
                        "sending to " + path_};
  EXPECT_EQ(reports_, expected);
  EXPECT_EQ(feeder.counts().dropped, 0u);
}

TEST_F(ClientTest, ARemovedStatisticComesAgainWithAllSamplesThatFollow) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  daemon_->remove("web/hits");
  feeder.add(hits, 1);
  feeder.client.flush();
  feeder.add(hits, 2);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2}));
  EXPECT_EQ(feeder.counts().lost, 0u);
}

TEST_F(ClientTest, SamplesThatNamedAStatisticThatWasGoneAreLost) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  feeder.client.flush();
  daemon_->remove("web/hits");
  const auto samples = daemon_->take();
  const auto ping = daemon_->take();
  ASSERT_TRUE(samples && ping && ping->requests.size() == 1);
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  daemon_->respond({{.sequence = ping->requests[0].first}});
  feeder.client.flush();
  EXPECT_EQ(feeder.counts().lost, 1u);
  EXPECT_EQ(feeder.counts().confirmed, 0u);
}

}  // namespace
}  // namespace tallyfs
