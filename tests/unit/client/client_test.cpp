// The Client with a daemon that the test plays. Except where a test says so there is no keeper:
// the tests make its rounds themselves, one after the other.
#include "feeders/client/client.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <thread>

#include "fake_daemon.h"

namespace tally {
namespace {

using namespace std::chrono_literals;
using Xs = std::vector<std::int64_t>;

// A Client of a thread, with the lane of that thread.
class Feeder {
 public:
  enum class Keeper { kNone, kRuns };

  explicit Feeder(Client::Settings settings, Keeper keeper = Keeper::kNone)
      : client(std::move(settings)), lane(own_lane()) {
    // One that has ended starts no keeper.
    if (keeper == Keeper::kNone) client.finish(0ms);
  }
  Lane* own_lane() {
    Client::LaneSearch search;
    return client.own_lane(search);
  }
  FedInterface& interface(const char* name) {
    FedInterface* made = nullptr;
    EXPECT_EQ(client.create_interface(&made, name, 0), 0);
    return *made;
  }
  FedStatistic& statistic(FedInterface& in, const char* name) {
    FedStatistic* made = nullptr;
    EXPECT_EQ(client.create_statistic(&made, in, name, ""), 0);
    return *made;
  }
  FedStatistic& started(FedInterface& in, const char* name) {
    FedStatistic& made = statistic(in, name);
    EXPECT_EQ(client.switch_on(made, true), 0);
    return made;
  }
  // As statistic_add() does.
  void add(FedStatistic& to, std::int64_t x, std::uint64_t y = 1) { add_by(*lane, to, x, y); }
  void add_by(Lane& by, FedStatistic& to, std::int64_t x, std::uint64_t y = 1) {
    if (to.is_on()) client.add(by, to, x, y, [this] { return client.now(); });
  }
  statistic_counts counts() const {
    statistic_counts counts{};
    client.count(counts);
    EXPECT_EQ(counts.added, counts.held + counts.sent + counts.dropped);
    EXPECT_GE(counts.sent, counts.confirmed + counts.lost);
    return counts;
  }

  Client client;
  Lane* const lane;
};

class ClientTest : public testing::Test {
 protected:
  Client::Settings settings(std::size_t held_max = 1024) {
    return {.socket = {path_},
            .held_max = held_max,
            .report = [](const char* text,
                         void* context) { static_cast<Log*>(context)->push_back(text); },
            .context = &reports_};
  }
  void start_daemon(std::uint64_t epoch = FakeDaemon::kEpoch) {
    daemon_.reset();
    daemon_.emplace(path_, epoch);
  }
  // Rounds of the feeder and of the daemon until everything is said and answered.
  Log exchange(Feeder& feeder) {
    Log all;
    for (int quiet = 0; quiet < 3;) {
      feeder.client.flush();
      const Log log = daemon_->serve();
      quiet = log.empty() ? quiet + 1 : 0;
      all.insert(all.end(), log.begin(), log.end());
    }
    return all;
  }
  static bool has(const Log& log, std::string_view line) {
    return std::ranges::find(log, line) != log.end();
  }
  bool was_reported(std::string_view text) const {
    return std::ranges::any_of(
        reports_, [&](const auto& each) { return each.find(text) != std::string::npos; });
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  std::optional<FakeDaemon> daemon_;
  Log reports_;
};

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
TEST_F(ClientTest, WhoWaitsDoesNotWaitLongerBecauseARoundTookLong) {
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

TEST_F(ClientTest, WhatIsOffIsNotSent) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.statistic(feeder.interface("web"), "hits");
  feeder.add(hits, 1);
  exchange(feeder);
  feeder.add(hits, 2);
  daemon_->switch_on("web/hits", true);
  feeder.add(hits, 3);
  daemon_->switch_on("web/hits", false);
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
  feeder.client.reset(hits);
  feeder.add(hits, 2);
  feeder.client.switch_on(hits, false);
  feeder.add(hits, 3);  // is off
  feeder.client.switch_on(hits, true);
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
  feeder.client.switch_on(hits, false);
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
  feeder.client.switch_on(hits, false);
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
  feeder.client.switch_on(hits, false);
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

TEST_F(ClientTest, WhoeverMayWaitWaitsOnceInVain) {
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

TEST_F(ClientTest, WhoeverMayWaitLosesNothingToADaemonThatTakesItsTime) {
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
  feeder.client.define(hits, "type=range range_min=0 range_max=9");
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

// The thread that adds finds that the daemon has gone, and the next is there before the keeper
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
  feeder.client.pass();
  EXPECT_TRUE(was_reported("no daemon yet"));
  start_daemon();
  exchange(feeder);
  feeder.client.pass();
  EXPECT_TRUE(was_reported("sending to " + path_));
  daemon_->end();
  feeder.interface("disk");  // asking for it shows that nobody is there
  feeder.client.flush();
  feeder.client.pass();
  EXPECT_TRUE(was_reported("is gone"));
}

TEST_F(ClientTest, AStatisticThatSomebodyRemovedComesAgainWithItsNextSample) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  daemon_->remove("web/hits");
  feeder.add(hits, 1);
  feeder.client.flush();
  daemon_->take();
  daemon_->answer({{.sequence = 0, .error = ESTALE}});
  feeder.client.flush();
  feeder.add(hits, 2);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{2});
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
  daemon_->answer({{.sequence = 0, .error = ESTALE}});
  daemon_->answer({{.sequence = ping->requests[0].first}});
  feeder.client.flush();
  EXPECT_EQ(feeder.counts().lost, 1u);
  EXPECT_EQ(feeder.counts().confirmed, 0u);
}

// ---- removing

TEST_F(ClientTest, WhatWasAddedBeforeARemovalIsSentBeforeIt) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  feeder.client.drop(hits, Client::InTree::kRemove);
  const Log log = exchange(feeder);
  ASSERT_GE(log.size(), 2u);
  EXPECT_EQ(log[0], "web/hits 1");
  EXPECT_EQ(log[1], "remove web/hits");
}

TEST_F(ClientTest, WhatIsRemovedWithoutADaemonTakesItsSamplesAlong) {
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  FedStatistic& misses = feeder.started(web, "misses");
  feeder.add(hits, 1);
  feeder.add(misses, 2);
  feeder.client.drop(hits, Client::InTree::kRemove);
  start_daemon();
  const Log log = exchange(feeder);
  EXPECT_FALSE(has(log, "create web/hits on=1"));
  EXPECT_EQ(daemon_->xs("web/misses"), Xs{2});
  EXPECT_EQ(feeder.counts().dropped, 1u);
}

TEST_F(ClientTest, WhatIsReleasedWithoutADaemonIsStillSent) {
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  feeder.add(hits, 1);
  feeder.client.drop(web, Client::InTree::kLeave);
  start_daemon();
  const Log log = exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{1});
  EXPECT_FALSE(has(log, "remove web"));
  // Nothing of it lingers then: it is made anew.
  feeder.interface("web");
  EXPECT_EQ(feeder.counts().held, 0u);
}

TEST_F(ClientTest, AnInterfaceThatIsRemovedIsRemovedWithAllInIt) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  feeder.add(feeder.started(web, "hits"), 1);
  feeder.started(web, "misses");
  exchange(feeder);
  feeder.client.drop(web, Client::InTree::kRemove);
  EXPECT_EQ(exchange(feeder), Log{"remove web"});
}

TEST_F(ClientTest, WhatIsReleasedAndMadeAnewIsAnotherWithWhatItWasGiven) {
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  feeder.client.define(hits, "type=list");
  feeder.add(hits, 1);
  feeder.client.drop(hits, Client::InTree::kLeave);
  feeder.client.drop(web, Client::InTree::kLeave);
  FedInterface* again = nullptr;
  ASSERT_EQ(feeder.client.create_interface(&again, "web", STATISTIC_LIFETIME_FEEDER), 0);
  FedStatistic& other = feeder.started(*again, "hits");
  feeder.client.define(other, "type=range");
  feeder.add(other, 2);
  start_daemon();
  const Log log = exchange(feeder);
  EXPECT_TRUE(has(log, "create web/hits type=list on=1"));
  EXPECT_TRUE(has(log, "create web lifetime=feeder"));
  EXPECT_TRUE(has(log, "create web/hits type=range on=1"));
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2}));
}

TEST_F(ClientTest, WhatIsRemovedAndMadeAnewWhileSamplesAreHeldIsMadeBehindTheRemoval) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  exchange(feeder);
  while (feeder.client.flush() == 0) feeder.add(hits, 0);
  feeder.add(hits, 1);
  feeder.client.drop(hits, Client::InTree::kRemove);
  FedStatistic& anew = feeder.started(web, "hits");
  feeder.add(anew, 2);
  const Log log = exchange(feeder);
  const auto removal = std::ranges::find(log, "remove web/hits");
  ASSERT_NE(removal, log.end());
  EXPECT_NE(std::find(removal, log.end(), "create web/hits on=1"), log.end());
  EXPECT_EQ(log.back(), "(ping)");
  EXPECT_EQ(std::ranges::count(daemon_->xs("web/hits"), 1), 0);
  EXPECT_EQ(daemon_->xs("web/hits").back(), 2);
  EXPECT_EQ(feeder.counts().lost, 0u);
  EXPECT_GT(feeder.counts().dropped, 0u);
}

TEST_F(ClientTest, AnswersForWhatWasRemovedMeanwhileAreIgnored) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  exchange(feeder);
  FedStatistic& hits = feeder.started(web, "hits");
  FedStatistic& misses = feeder.started(web, "misses");
  feeder.add(hits, 1);
  feeder.add(misses, 2);
  EXPECT_EQ(feeder.client.flush(), -EAGAIN);
  feeder.client.drop(hits, Client::InTree::kRemove);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{});
  EXPECT_EQ(daemon_->xs("web/misses"), Xs{2});
  EXPECT_EQ(feeder.counts().dropped, 1u);
}

// One sample that cannot be sent does not keep back the many.
TEST_F(ClientTest, StatisticsThatComeAndGoWithoutADaemonFindRoomForEver) {
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& held = feeder.started(web, "held");
  feeder.add(held, 1);
  feeder.client.drop(held, Client::InTree::kLeave);
  for (std::size_t i = 0; i < Registry::kStatisticsMax + 10; ++i) {
    FedStatistic* made = nullptr;
    ASSERT_EQ(feeder.client.create_statistic(&made, web, "hits", ""), 0) << i;
    if (i % 1000 == 0) feeder.client.switch_on(*made, true);
    feeder.add(*made, 2);
    feeder.client.drop(*made, i % 2 ? Client::InTree::kLeave : Client::InTree::kRemove);
  }
  start_daemon();
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/held"), Xs{1});
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{});
  EXPECT_EQ(feeder.counts().held, 0u);
}

// ---- calls that are refused

TEST_F(ClientTest, NamesFlagsAndSecondOnesAreRefused) {
  Feeder feeder(settings());
  FedInterface* made = nullptr;
  EXPECT_EQ(feeder.client.create_interface(&made, "", 0), -EINVAL);
  EXPECT_EQ(feeder.client.create_interface(&made, "a/b", 0), -EINVAL);
  EXPECT_EQ(feeder.client.create_interface(&made, "web", 2), -EINVAL);
  EXPECT_EQ(feeder.client.create_interface(&made, "web", 1), 0);
  EXPECT_EQ(feeder.client.create_interface(&made, "web", 0), -EEXIST);
  FedStatistic* statistic = nullptr;
  EXPECT_EQ(feeder.client.create_statistic(&statistic, *made, "a b", ""), -EINVAL);
  EXPECT_EQ(feeder.client.create_statistic(&statistic, *made, "hits", "a b"), -EINVAL);
  EXPECT_EQ(feeder.client.create_statistic(&statistic, *made, "hits", "ms/n"), 0);
  EXPECT_EQ(feeder.client.create_statistic(&statistic, *made, "hits", ""), -EEXIST);
}

// ---- threads

TEST_F(ClientTest, AThreadThatEndsHasSentWhatItGathered) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  std::thread([&] {
    Lane* const lane = feeder.own_lane();
    ASSERT_TRUE(lane);
    EXPECT_NE(lane, feeder.lane);
    for (std::int64_t x = 0; x < 5; ++x) feeder.add_by(*lane, hits, x);
    feeder.client.disown_lane(*lane);
  }).join();
  EXPECT_EQ(daemon_->serve(), Log{"web/hits 0 1 2 3 4"});
}

TEST_F(ClientTest, WhatAThreadLeftWithoutADaemonIsSentLater) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  Lane* first = nullptr;
  Lane* second = nullptr;
  std::thread([&] {
    first = feeder.own_lane();
    feeder.add_by(*first, hits, 1);
    feeder.client.disown_lane(*first);
  }).join();
  std::thread([&] {
    second = feeder.own_lane();
    feeder.add_by(*second, hits, 2);
    feeder.client.disown_lane(*second);
  }).join();
  EXPECT_EQ(first, second);
  EXPECT_EQ(feeder.counts().held, 2u);
  start_daemon();
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2}));
}

TEST_F(ClientTest, AThreadThatFoundNoLaneLooksAgainOnlyWhenOneWasGivenBack) {
  Feeder feeder(settings());
  std::vector<Lane*> lanes{feeder.lane};
  while (lanes.size() < Client::kLanesMax) lanes.push_back(feeder.own_lane());
  Client::LaneSearch search;
  EXPECT_EQ(feeder.client.own_lane(search), nullptr);
  // Had it looked again, it would have found this one, of which it was not told.
  lanes[7]->disown();
  EXPECT_EQ(feeder.client.own_lane(search), nullptr);
  ASSERT_TRUE(lanes[7]->try_own());
  feeder.client.disown_lane(*lanes[8]);
  EXPECT_EQ(feeder.client.own_lane(search), lanes[8]);
}

TEST_F(ClientTest, TheLaneOfAThreadWhoseEndNobodyWasToldOfIsTakenBack) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  Client::watch_lane(*feeder.lane);
  Lane* gone = nullptr;
  std::thread([&] {
    gone = feeder.own_lane();
    Client::watch_lane(*gone);
    feeder.add_by(*gone, hits, 1);
    gone->enter();  // wherever it was
  }).join();
  ASSERT_FALSE(gone->try_own());
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!gone->try_own() && std::chrono::steady_clock::now() < deadline) feeder.client.pass();
  EXPECT_FALSE(gone->is_inside());
  EXPECT_EQ(gone->watched(), 0);
  // That of a thread that is still there is not.
  EXPECT_FALSE(feeder.lane->try_own());
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{1});
}

TEST_F(ClientTest, AThreadWithoutALaneDropsAndCounts) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  feeder.client.drop_sample(hits);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 1u);
  EXPECT_EQ(counts.dropped, 1u);
  EXPECT_EQ(hits.dropped, 1u);
}

TEST_F(ClientTest, ThreadsThatAddAtOnceLoseNothing) {
  constexpr int kThreads = 4;
  constexpr std::int64_t kSamples = 20'000;
  start_daemon();
  auto given = settings(1024);
  given.wait_max = 60s;
  Feeder feeder(given);
  FedInterface& web = feeder.interface("web");
  FedStatistic& shared = feeder.started(web, "shared");
  std::vector<FedStatistic*> own;
  for (const char* name : {"a", "b", "c", "d"}) own.push_back(&feeder.started(web, name));
  exchange(feeder);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      Lane* const lane = feeder.own_lane();
      for (std::int64_t x = 0; x < kSamples; ++x) {
        feeder.add_by(*lane, *own[n], x);
        feeder.add_by(*lane, shared, x);
      }
      feeder.client.disown_lane(*lane);
      --running;
    });
  }
  while (running != 0) {
    feeder.client.pass();
    daemon_->wait(1ms);
    daemon_->serve();
  }
  for (auto& thread : threads) thread.join();
  exchange(feeder);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 2u * kThreads * kSamples);
  EXPECT_EQ(counts.confirmed, counts.added);
  EXPECT_EQ(daemon_->xs("web/shared").size(), std::size_t{kThreads} * kSamples);
  Xs expected(kSamples);
  std::iota(expected.begin(), expected.end(), 0);
  for (const char* name : {"web/a", "web/b", "web/c", "web/d"}) {
    EXPECT_EQ(daemon_->xs(name), expected);
  }
}

// ---- signals

// What the handler adds, and how often it has.
struct Interrupting {
  Feeder* feeder = nullptr;
  FedStatistic* statistic = nullptr;
  std::int64_t added = 0;
  std::int64_t sum = 0;
};
Interrupting* g_interrupting = nullptr;

void add_in_handler(int) {
  Interrupting& now = *g_interrupting;
  now.added += 1;
  now.sum += now.added;
  now.feeder->add(*now.statistic, now.added);
}

class SignalTest : public ClientTest {
 protected:
  void handle(int signal, Feeder& feeder, FedStatistic& statistic) {
    interrupting_ = {.feeder = &feeder, .statistic = &statistic};
    g_interrupting = &interrupting_;
    struct sigaction action {};
    action.sa_handler = &add_in_handler;
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(::sigaction(signal, &action, nullptr), 0);
  }
  // Of X of all that has arrived.
  std::int64_t sum(const std::string& target) {
    const Xs xs = daemon_->xs(target);
    return std::accumulate(xs.begin(), xs.end(), std::int64_t{0});
  }

  Interrupting interrupting_;
};

TEST_F(SignalTest, AHandlerThatInterruptsTheThreadLosesAndDoublesNothing) {
  constexpr std::int64_t kSignals = 100;
  // Room for all: a thread that waits for some has room for 64 of its handler only.
  constexpr std::size_t kRoom = 1 << 20;
  start_daemon();
  Feeder feeder(settings(kRoom));
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  FedStatistic& handled = feeder.started(web, "handled");
  exchange(feeder);
  handle(SIGALRM, feeder, handled);
  const itimerval every{.it_interval = {.tv_sec = 0, .tv_usec = 100},
                        .it_value = {.tv_sec = 0, .tv_usec = 100}};
  std::atomic<bool> done{false};
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  std::thread daemon([&] {
    while (!done) {
      daemon_->wait(1ms);
      daemon_->serve();
    }
  });
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  ASSERT_EQ(::setitimer(ITIMER_REAL, &every, nullptr), 0);
  std::int64_t added = 0;
  std::int64_t expected = 0;
  while (interrupting_.added < kSignals) {
    if (feeder.lane->held() < kRoom - 1000) {
      feeder.add(hits, ++added);
      expected += added;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::signal(SIGALRM, SIG_IGN);
  done = true;
  daemon.join();
  exchange(feeder);
  EXPECT_GE(interrupting_.added, kSignals);
  EXPECT_EQ(sum("web/hits"), expected);
  EXPECT_EQ(sum("web/handled"), interrupting_.sum);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, static_cast<std::uint64_t>(added + interrupting_.added));
  EXPECT_EQ(counts.confirmed, counts.added);
}

// The signal comes while the thread is inside, between two of its own samples.
TEST_F(SignalTest, WhatAHandlerAddsWhileItsThreadIsInsideComesBehindTheThreadsSample) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  exchange(feeder);
  handle(SIGUSR1, feeder, hits);
  feeder.client.add(*feeder.lane, hits, 100, 1, [&] {
    ::pthread_kill(::pthread_self(), SIGUSR1);
    ::pthread_kill(::pthread_self(), SIGUSR1);
    return feeder.client.now();
  });
  EXPECT_EQ(interrupting_.added, 2);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{100, 1, 2}));
}

TEST_F(SignalTest, AHandlerHasRoomFor64SamplesWhileItsThreadIsInside) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  handle(SIGUSR1, feeder, hits);
  feeder.client.add(*feeder.lane, hits, 0, 1, [&] {
    for (int i = 0; i < 70; ++i) ::pthread_kill(::pthread_self(), SIGUSR1);
    return feeder.client.now();
  });
  exchange(feeder);
  Xs expected(65);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(daemon_->xs("web/hits"), expected);
  EXPECT_EQ(hits.dropped, 6u);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 71u);
  EXPECT_EQ(counts.dropped, 6u);
  EXPECT_EQ(daemon_->dropped, 6u);
}

TEST_F(SignalTest, WhatAHandlerAddsToAFullLaneIsDroppedAndCountedOnce) {
  Feeder feeder(settings(1024));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 1023; ++x) feeder.add(hits, x);
  handle(SIGUSR1, feeder, hits);
  feeder.client.add(*feeder.lane, hits, 0, 1, [&] {
    for (int i = 0; i < 3; ++i) ::pthread_kill(::pthread_self(), SIGUSR1);
    return feeder.client.now();
  });
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.added, 1027u);
  EXPECT_EQ(counts.held, 1024u);
  EXPECT_EQ(counts.dropped, 3u);
  EXPECT_EQ(hits.dropped, 3u);
}

// ---- forks

class ForkTest : public ClientTest {
 protected:
  // What the child returns is its status; with failed expectations it is 99.
  template <typename Do>
  int in_child(Feeder& feeder, Do&& what) {
    feeder.client.before_fork();
    const pid_t child = ::fork();
    if (child == 0) {
      feeder.client.after_fork_in_child(feeder.lane);
      what();
      ::_exit(HasFailure() ? 99 : 0);
    }
    feeder.client.after_fork_in_parent();
    EXPECT_GT(child, 0);
    // The daemon is the parent's; it goes on while the child is there.
    int status = -1;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      daemon_->wait(1ms);
      daemon_->serve();
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(ForkTest, AChildSendsNoneOfTheParentsSamplesAndEachCountsItsOwn) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  feeder.add(hits, 2);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       EXPECT_EQ(feeder.counts().added, 0u);
                       feeder.add(hits, 10);
                       EXPECT_EQ(feeder.client.sync(60s), 0);
                       const auto counts = feeder.counts();
                       EXPECT_EQ(counts.added, 1u);
                       EXPECT_EQ(counts.confirmed, 1u);
                     }),
            0);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{10});
  EXPECT_EQ(feeder.counts().held, 2u);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{10, 1, 2}));
  EXPECT_EQ(feeder.counts().confirmed, 2u);
}

// Until it has heard of the daemon itself, its parent's switches count.
TEST_F(ForkTest, AChildsFirstSamplesCountWhereTheParentsDid) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& off = feeder.statistic(web, "off");
  FedStatistic& on = feeder.started(web, "on");
  exchange(feeder);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       for (std::int64_t x = 0; x < 3; ++x) feeder.add(off, x);
                       for (std::int64_t x = 0; x < 3; ++x) feeder.add(on, x);
                       feeder.client.drop_sample(off);
                       EXPECT_EQ(feeder.counts().added, 3u);
                       EXPECT_EQ(feeder.client.sync(60s), 0);
                       for (std::int64_t x = 3; x < 6; ++x) feeder.add(off, x);
                       EXPECT_FALSE(off.is_on());
                       EXPECT_EQ(feeder.counts().added, 3u);
                     }),
            0);
  EXPECT_EQ(daemon_->xs("web/on"), (Xs{0, 1, 2}));
  EXPECT_EQ(daemon_->xs("web/off"), Xs{});
}

TEST_F(ForkTest, AChildOfAChildThatDidNothingHasTheSwitchesToo) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& off = feeder.statistic(feeder.interface("web"), "off");
  exchange(feeder);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       EXPECT_EQ(in_child(feeder, [&] { feeder.add(off, 1); }), 0);
                       feeder.add(off, 1);
                       EXPECT_EQ(feeder.counts().added, 0u);
                     }),
            0);
}

TEST_F(ForkTest, WhatAParentHadDroppedIsNothingToItsChild) {
  start_daemon();
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  feeder.add(hits, 1);
  feeder.client.drop(hits, Client::InTree::kLeave);
  EXPECT_EQ(in_child(feeder,
                     [&] {
                       feeder.add(feeder.started(web, "hits"), 2);
                       EXPECT_EQ(feeder.client.sync(60s), 0);
                     }),
            0);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{2, 1}));
}

TEST_F(ForkTest, AChildThatAddsNothingSendsNothing) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  EXPECT_EQ(in_child(feeder, [&] { EXPECT_EQ(feeder.client.sync(60s), 0); }), 0);
  EXPECT_EQ(daemon_->count(), 0u);
}

TEST_F(ForkTest, TheParentsConnectionSurvivesTheChild) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(in_child(feeder, [&] { EXPECT_EQ(feeder.client.sync(60s), 0); }), 0);
  }
  feeder.add(hits, 1);
  EXPECT_EQ(feeder.client.flush(), 0);
  EXPECT_EQ(daemon_->take()->log.front(), "web/hits 1");
}

// Without a fork: what the child's side does to what it finds.

TEST_F(ForkTest, AChildCountsItsDropsByStatisticFromTheFork) {
  Feeder feeder(settings(1024));
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 1030; ++x) feeder.add(hits, x);
  ASSERT_EQ(hits.dropped, 6u);
  feeder.client.before_fork();
  feeder.client.after_fork_in_child(feeder.lane);
  EXPECT_EQ(feeder.counts().dropped, 0u);
  EXPECT_EQ(hits.dropped, 0u);
}

// Nobody locked its lane for the fork.
TEST_F(ForkTest, AThreadThatCameDuringTheForkKeepsItsLock) {
  Feeder feeder(settings());
  feeder.client.before_fork();
  Lane* const lane = feeder.own_lane();
  ASSERT_TRUE(lane);
  ASSERT_NE(lane, feeder.lane);
  lane->mutex().lock();
  feeder.client.after_fork_in_parent();
  int value = 1;  // under the lock
  std::atomic<bool> wants{false};
  std::thread other([&] {
    wants = true;
    const MutexLock lock(lane->mutex());
    EXPECT_EQ(value, 2);
  });
  while (!wants) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  value = 2;
  lane->mutex().unlock();
  other.join();
  lane->disown();
}

// The thread that was inside is not in the child, and will never leave.
TEST_F(ForkTest, ALaneWhoseThreadWasInsideAtTheForkServesAThreadOfTheChild) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  Lane* const of_another_thread = feeder.own_lane();
  ASSERT_TRUE(of_another_thread);
  of_another_thread->enter();
  feeder.client.before_fork();
  feeder.client.after_fork_in_child(feeder.lane);
  Lane* const lane = feeder.own_lane();
  ASSERT_EQ(lane, of_another_thread);
  for (std::int64_t x = 0; x < 100; ++x) feeder.add_by(*lane, hits, x);
  EXPECT_EQ(feeder.counts().held, 100u);
  EXPECT_EQ(hits.dropped, 0u);
}

// ---- the keeper

// A daemon that serves by itself until the test ends.
class KeeperTest : public ClientTest {
 protected:
  ~KeeperTest() override { stop_serving(); }
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

TEST_F(KeeperTest, SendsWhatWaitsByItselfAndWakesForTheNextSample) {
  start_daemon();
  serve_always();
  Feeder feeder(settings(), Feeder::Keeper::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::uint64_t n = 1; n <= 3; ++n) {
    feeder.add(hits, static_cast<std::int64_t>(n));
    EXPECT_TRUE(comes([&] { return confirmed(feeder) == n; }));
  }
  feeder.client.finish(0ms);
  stop_serving();
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2, 3}));
}

TEST_F(KeeperTest, FindsADaemonThatComesLater) {
  Feeder feeder(settings(), Feeder::Keeper::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  feeder.add(hits, 1);
  start_daemon();
  serve_always();
  EXPECT_TRUE(comes([&] { return confirmed(feeder) == 1; }));
  feeder.client.finish(0ms);
}

TEST_F(KeeperTest, FinishSendsWhatIsHeld) {
  start_daemon();
  serve_always();
  {
    Feeder feeder(settings(), Feeder::Keeper::kRuns);
    FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
    for (std::int64_t x = 0; x < 100; ++x) feeder.add(hits, x);
    feeder.client.finish(60s);
  }
  stop_serving();
  daemon_->serve();
  EXPECT_EQ(daemon_->count(), 100u);
}

TEST_F(KeeperTest, SyncReturnsWhenTheDaemonHasTakenEverythingIn) {
  start_daemon();
  serve_always();
  Feeder feeder(settings(), Feeder::Keeper::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  for (std::int64_t x = 0; x < 1000; ++x) feeder.add(hits, x);
  EXPECT_EQ(feeder.client.sync(60s), 0);
  EXPECT_EQ(feeder.counts().confirmed, 1000u);
  feeder.client.finish(0ms);
}

TEST_F(KeeperTest, ARefusedStatisticKeepsNoOtherFromBeingSynced) {
  start_daemon();
  daemon_->refuses["web/bad"] = ENOSPC;
  serve_always();
  Feeder feeder(settings(), Feeder::Keeper::kRuns);
  FedInterface& web = feeder.interface("web");
  FedStatistic& bad = feeder.started(web, "bad");
  FedStatistic& good = feeder.started(web, "good");
  for (std::int64_t x = 0; x < 1'000; ++x) feeder.add(good, x);
  EXPECT_EQ(feeder.client.sync(60s), -ENOSPC);
  EXPECT_EQ(feeder.counts().confirmed, 1'000u);
  feeder.client.drop(bad, Client::InTree::kLeave);
  EXPECT_EQ(feeder.client.sync(60s), 0);
  feeder.client.finish(0ms);
}

TEST_F(KeeperTest, ThreadsAndTheKeeperTogetherLoseNothing) {
  constexpr int kThreads = 3;
  constexpr std::int64_t kSamples = 20'000;
  start_daemon();
  serve_always();
  auto given = settings(1024);
  given.wait_max = 60s;
  given.delay = 1ms;
  Feeder feeder(given, Feeder::Keeper::kRuns);
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  ASSERT_EQ(feeder.client.sync(60s), 0);
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&] {
      Lane* const lane = feeder.own_lane();
      for (std::int64_t x = 0; x < kSamples; ++x) feeder.add_by(*lane, hits, x);
      feeder.client.disown_lane(*lane);
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
}  // namespace tally
