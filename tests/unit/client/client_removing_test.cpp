// What the Client does with what is removed, released and made anew.
#include "client_fixture.h"

namespace tallyfs {
namespace {

TEST_F(ClientTest, WhatWasAddedBeforeARemovalIsSentBeforeIt) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  feeder.client.statistics().drop(hits, ServerSide::kDelete);
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
  feeder.client.statistics().drop(hits, ServerSide::kDelete);
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
  feeder.client.statistics().drop(web, ServerSide::kKeep);
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
  feeder.client.statistics().drop(web, ServerSide::kDelete);
  EXPECT_EQ(exchange(feeder), Log{"remove web"});
}

TEST_F(ClientTest, WhatIsReleasedAndMadeAnewIsAnotherWithWhatItWasGiven) {
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  FedStatistic& hits = feeder.started(web, "hits");
  feeder.client.statistics().define(hits, "type=list");
  feeder.add(hits, 1);
  feeder.client.statistics().drop(hits, ServerSide::kKeep);
  feeder.client.statistics().drop(web, ServerSide::kKeep);
  FedInterface* again = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_interface(&again, "web", STATISTIC_LIFETIME_FEEDER),
            0);
  FedStatistic& other = feeder.started(*again, "hits");
  feeder.client.statistics().define(other, "type=range");
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
  feeder.client.statistics().drop(hits, ServerSide::kDelete);
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
  feeder.client.statistics().drop(hits, ServerSide::kDelete);
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
  feeder.client.statistics().drop(held, ServerSide::kKeep);
  for (std::size_t i = 0; i < Registry::kStatisticsMax + 10; ++i) {
    FedStatistic* made = nullptr;
    ASSERT_EQ(feeder.client.statistics().create_statistic(&made, web, "hits", ""), 0) << i;
    if (i % 1000 == 0) feeder.client.statistics().switch_on(*made);
    feeder.add(*made, 2);
    feeder.client.statistics().drop(*made, i % 2 ? ServerSide::kKeep : ServerSide::kDelete);
  }
  start_daemon();
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/held"), Xs{1});
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{});
  EXPECT_EQ(feeder.counts().held, 0u);
}

}  // namespace
}  // namespace tallyfs
