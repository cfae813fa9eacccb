// The Client with a daemon that is there, and calls that it refuses.
#include <numeric>

#include "client_fixture.h"

namespace tallyfs {
namespace {

// ---- with a daemon

TEST_F(ClientTest, SamplesArriveOnceAndInTheirOrder) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 10; ++x) feeder.add(hits, x);
  exchange(feeder);
  Xs expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(daemon_->xs("web/hits"), expected);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 10u);
  EXPECT_EQ(counts.sent, 10u);
  EXPECT_EQ(counts.confirmed, 10u);
}

// The rounds are longer than the time that is given, so that it ends during one of them.
TEST_F(ClientTest, AWaitIsNoLongerBecauseARoundTookLong) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  for (int i = 0; i < 20'000; ++i) feeder.statistic(web, ("hits" + std::to_string(i)).c_str());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(feeder.client.sync(1ms), -ETIMEDOUT);
}

TEST_F(ClientTest, SamplesHaveTheTimesAtWhichTheyWereAdded) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  const std::int64_t before = monotonic_ns();
  for (int i = 0; i < 100; ++i) feeder.add(hits, i);
  const std::int64_t after = monotonic_ns();
  exchange(feeder);
  std::int64_t last = before - 100'000;
  for (const Sample& sample : daemon_->samples["web/hits"]) {
    ASSERT_GE(sample.time.count(), last);
    ASSERT_LE(sample.time.count(), after + 100'000);
    last = sample.time.count();
  }
}

TEST_F(ClientTest, SamplesOfManyStatisticsAreAddedInOneCall) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  std::vector<FedStatistic*> statistics;
  for (int i = 0; i < 5; ++i) {
    statistics.push_back(&feeder.started(web, ("hits" + std::to_string(i)).c_str()));
  }
  exchange(feeder);
  const std::int64_t now = monotonic_ns();
  std::vector<statistic_entry> entries;
  for (std::int64_t i = 0; i < 500; ++i) {
    entries.push_back({statistics[static_cast<std::size_t>(i % 5)], i, 1, i % 2 == 0 ? 0 : now});
  }
  feeder.client.samples().add(feeder.buffer, entries);
  feeder.client.samples().add(feeder.buffer, {});
  exchange(feeder);
  for (std::int64_t i = 0; i < 5; ++i) {
    Xs wanted(100);
    for (std::int64_t n = 0; n < 100; ++n) wanted[static_cast<std::size_t>(n)] = 5 * n + i;
    EXPECT_EQ(daemon_->xs("web/hits" + std::to_string(i)), wanted);
  }
  EXPECT_EQ(feeder.counts().added, 500u);
  for (const Sample& sample : daemon_->samples["web/hits1"]) {
    EXPECT_GE(sample.time.count(), now - 100'000);
  }
  // A thread beyond the bound of buffers.
  feeder.client.samples().add(nullptr, std::span(entries).first(1));
  EXPECT_EQ(feeder.counts().dropped, 1u);
}

TEST_F(ClientTest, SamplesOfOneStatisticAreAddedInOneCall) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  const std::int64_t now = monotonic_ns();
  std::vector<statistic_sample> samples;
  Xs wanted;
  for (std::int64_t i = 0; i < 5'000; ++i) {
    samples.push_back({i, 1, i % 2 == 0 ? 0 : now});
    wanted.push_back(i);
  }
  feeder.client.samples().add(feeder.buffer, hits, samples);
  feeder.client.samples().add(feeder.buffer, hits, {});
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), wanted);
  EXPECT_EQ(feeder.counts().added, 5'000u);
  for (const Sample& sample : daemon_->samples["web/hits"]) {
    EXPECT_GE(sample.time.count(), now - 100'000);
  }
  // A thread beyond the bound of buffers.
  feeder.client.samples().add(nullptr, hits, std::span(samples).first(2));
  EXPECT_EQ(feeder.counts().dropped, 2u);
}

TEST_F(ClientTest, WhatIsOffIsNotSent) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.statistic(feeder.interface("web"), "hits");
  feeder.add(hits, 1);
  exchange(feeder);
  feeder.add(hits, 2);
  daemon_->switch_on("web/hits");
  feeder.add(hits, 3);
  daemon_->switch_off("web/hits");
  feeder.add(hits, 4);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{3});
  EXPECT_EQ(feeder.counts().added, 1u);
}

TEST_F(ClientTest, ADatagramThatIsFullIsSentByTheThreadThatAdds) {
  start_daemon();
  Feeder feeder(settings(4096));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  for (std::int64_t x = 0; x <= 510; ++x) feeder.add(hits, x);
  daemon_->serve();
  EXPECT_EQ(daemon_->count(), 510u);
  EXPECT_EQ(daemon_->largest, 8192u);
  EXPECT_EQ(feeder.counts().held, 1u);
}

TEST_F(ClientTest, ManySamplesOfManyStatisticsArriveInTheOrderOfEach) {
  start_daemon();
  Feeder feeder(settings(4096));
  FedInterface& web = feeder.interface("web");
  std::vector<FedStatistic*> some;
  for (const char* name : {"a", "b", "c", "d", "e"}) some.push_back(&feeder.started(web, name));
  exchange(feeder);
  for (std::int64_t x = 0; x < 20'000; ++x) {
    feeder.add(*some[static_cast<std::size_t>(x * x % 5)], x);
    if (x % 1000 == 0) daemon_->serve();
  }
  exchange(feeder);
  EXPECT_EQ(daemon_->count(), 20'000u);
  for (const char* name : {"web/a", "web/b", "web/c", "web/d", "web/e"}) {
    EXPECT_TRUE(std::ranges::is_sorted(daemon_->xs(name)));
  }
  EXPECT_LE(daemon_->largest, 8192u);
}

TEST_F(ClientTest, WithoutDelayEverySampleIsSentInTheCallThatAddsIt) {
  start_daemon();
  auto given = settings();
  given.delay = 0us;
  Feeder feeder(given);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  EXPECT_EQ(daemon_->serve(), Log{"web/hits 1"});
  feeder.add(hits, 2, 3);
  EXPECT_EQ(daemon_->serve(), Log{"web/hits 2x3"});
}

TEST_F(ClientTest, AChangeIsCarriedOutInItsOrderWithTheSamples) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  feeder.client.statistics().reset(hits);
  feeder.add(hits, 2);
  feeder.client.statistics().switch_off(hits);
  feeder.add(hits, 3);  // is off
  feeder.client.statistics().switch_on(hits);
  feeder.add(hits, 4);
  feeder.client.flush();
  EXPECT_EQ(daemon_->serve(), (Log{"web/hits 1", "define web name=hits data=reset", "web/hits 2",
                                   "define web name=hits on=0", "define web name=hits on=1",
                                   "web/hits 4", "(ping)"}));
}

// The samples wait for room, and so has the change to.
TEST_F(ClientTest, AChangeIsInItsOrderWithSamplesThatHadToWaitToo) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, -1);
  while (feeder.client.flush() == 0) feeder.add(hits, 0);
  feeder.add(hits, 1);
  feeder.client.statistics().switch_off(hits);
  Log log = daemon_->serve();
  EXPECT_FALSE(has(log, "define web name=hits on=0"));
  const Log later = exchange(feeder);
  log.insert(log.end(), later.begin(), later.end());
  std::erase(log, "(ping)");
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log.back(), "define web name=hits on=0");
  EXPECT_EQ(daemon_->xs("web/hits").back(), 1);
}

TEST_F(ClientTest, AStopThatFindsTheQueueFullIsCarriedOutLater) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 0);
  while (feeder.client.flush() == 0) feeder.add(hits, 0);
  feeder.client.statistics().switch_off(hits);
  for (int i = 0; i < 5; ++i) feeder.client.flush();
  Log log = daemon_->serve();
  const Log later = exchange(feeder);
  log.insert(log.end(), later.begin(), later.end());
  EXPECT_EQ(std::ranges::count(log, "define web name=hits on=0"), 1);
}

TEST_F(ClientTest, OneStatisticThatHasNoNumberYetHoldsBackWhatWasAddedAfterIt) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  exchange(feeder);
  FedStatistic& later = feeder.started(web, "later");
  feeder.add(hits, 1);
  feeder.add(later, 2);
  feeder.add(hits, 3);
  EXPECT_EQ(feeder.client.flush(), -EAGAIN);
  EXPECT_EQ(daemon_->serve(), (Log{"create web/later on=1", "web/hits 1", "(ping)"}));
  EXPECT_EQ(feeder.client.flush(), 0);
  EXPECT_EQ(daemon_->xs("web/later"), Xs{});
  EXPECT_EQ(daemon_->serve(), (Log{"web/later 2", "web/hits 3", "(ping)"}));
}

// ---- calls that are refused

TEST_F(ClientTest, NamesFlagsAndSecondOnesAreRefused) {
  Feeder feeder(settings());
  FedInterface* made = nullptr;
  EXPECT_EQ(feeder.client.statistics().create_interface(&made, "", 0), -EINVAL);
  EXPECT_EQ(feeder.client.statistics().create_interface(&made, "a/b", 0), -EINVAL);
  EXPECT_EQ(feeder.client.statistics().create_interface(&made, "web", 8), -EINVAL);
  EXPECT_EQ(feeder.client.statistics().create_interface(&made, "web", 1), 0);
  EXPECT_EQ(feeder.client.statistics().create_interface(&made, "web", 0), -EEXIST);
  FedStatistic* statistic = nullptr;
  EXPECT_EQ(feeder.client.statistics().create_statistic(&statistic, *made, "a b", ""), -EINVAL);
  EXPECT_EQ(feeder.client.statistics().create_statistic(&statistic, *made, "hits", "a b"), -EINVAL);
  EXPECT_EQ(feeder.client.statistics().create_statistic(&statistic, *made, "hits", "ms/n"), 0);
  EXPECT_EQ(feeder.client.statistics().create_statistic(&statistic, *made, "hits", ""), -EEXIST);
}

// ---- changes

// The daemon may have created it, so that no line that creates it says so.
TEST_F(ClientTest, WhatIsSaidOfAStatisticWhoseRequestTimedOutIsSentToo) {
  start_daemon();
  daemon_->ignores = {"create web/hits"};
  Feeder feeder(settings());
  FedStatistic& hits = feeder.statistic(feeder.interface("web"), "hits");
  exchange(feeder);
  ASSERT_EQ(hits.registration, Registration::kRequested);
  hits.registration = Registration::kUnregistered;  // as after a second
  feeder.client.statistics().define(hits, "type=range range_min=0 range_max=9");
  feeder.client.statistics().switch_on(hits);
  EXPECT_TRUE(hits.pending_type);
  EXPECT_EQ(hits.pending_begin, true);
}

TEST_F(ClientTest, SamplesFollowADefinitionThatManyOthersKeepWaiting) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  FedStatistic& other = feeder.statistic(web, "other");
  ThreadBuffer* const buffer = feeder.own_buffer();
  exchange(feeder);
  for (int i = 0; i < 10; ++i) feeder.client.statistics().define(other, "type=last");
  feeder.client.statistics().define(hits, "type=range range_min=0 range_max=9");
  feeder.add_by(*buffer, hits, 5);
  feeder.client.samples().give_back(*buffer);  // sends what it may
  const Log log = exchange(feeder);
  const auto define =
      std::ranges::find(log, "define web name=hits default=1 type=range range_min=0 range_max=9");
  ASSERT_NE(define, log.end());
  EXPECT_NE(std::find(define, log.end(), "web/hits 5"), log.end());
}

}  // namespace
}  // namespace tallyfs
