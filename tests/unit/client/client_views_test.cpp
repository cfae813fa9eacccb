// The Client with views of its statistics.
#include "client_fixture.h"

namespace tallyfs {
namespace {

TEST_F(ClientTest, ASourceThatIsOffIsFedForItsViewsFromTheirCreationOn) {
  Feeder feeder(settings());
  FedStatistic& hits = feeder.statistic(feeder.interface("web"), "hits");
  feeder.add(hits, 1);
  FedStatistic* view = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_view(&view, hits, "view"), 0);
  feeder.add(hits, 2);
  feeder.client.statistics().switch_off(hits);
  feeder.add(hits, 3);
  feeder.add(*view, 4);
  start_daemon();
  const Log log = exchange(feeder);
  EXPECT_TRUE(has(log, "create web/hits"));
  EXPECT_TRUE(has(log, "create web/view of=hits on=1"));
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{2, 3}));
  feeder.client.statistics().switch_on(hits);
  feeder.client.statistics().switch_off(hits);
  feeder.add(hits, 5);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{2, 3, 5}));
}

// A daemon with a page of switches, in which the source is off.
TEST_F(ClientTest, AViewOfASourceThatIsRegisteredHasAllThatIsAddedFromThenOn) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.statistic(feeder.interface("web"), "hits");
  exchange(feeder);
  ASSERT_FALSE(hits.is_on());
  FedStatistic* view = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_view(&view, hits, "view"), 0);
  feeder.add(hits, 1);
  Log log = exchange(feeder);
  std::erase(log, "(ping)");
  EXPECT_EQ(log, (Log{"create web/view of=hits on=1", "web/hits 1"}));
  // Now the daemon's switch says what is wanted.
  EXPECT_FALSE(hits.is_on());
  daemon_->switch_on("web/hits");
  EXPECT_TRUE(hits.is_on());
}

TEST_F(ClientTest, AViewHasWhatIsAddedWhileItsSourceIsBeingRegistered) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedInterface& web = feeder.interface("web");
  exchange(feeder);
  FedStatistic& hits = feeder.statistic(web, "hits");
  feeder.client.flush();
  FedStatistic* view = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_view(&view, hits, "view"), 0);
  feeder.add(hits, 1);
  EXPECT_TRUE(has(daemon_->serve(), "create web/hits"));
  feeder.client.flush();  // has the response for the source, and requests the view
  feeder.add(hits, 2);
  EXPECT_EQ(daemon_->xs("web/hits"), Xs{});
  const Log log = daemon_->serve();
  EXPECT_EQ(log.front(), "create web/view of=hits on=1");
  feeder.add(hits, 3);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2, 3}));
}

TEST_F(ClientTest, AViewHasNothingThatWasAddedBefore) {
  start_daemon();
  Feeder feeder(settings());
  FedStatistic& hits = feeder.started(feeder.interface("web"), "hits");
  exchange(feeder);
  feeder.add(hits, 1);
  FedStatistic* view = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_view(&view, hits, "view"), 0);
  feeder.add(hits, 2);
  Log log = exchange(feeder);
  std::erase(log, "(ping)");
  EXPECT_EQ(log, (Log{"web/hits 1", "create web/view of=hits on=1", "web/hits 2"}));
}

TEST_F(ClientTest, ASourceIsFedNoLongerForAViewThatIsGone) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.statistic(feeder.interface("web"), "hits");
  exchange(feeder);
  FedStatistic* refused = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_view(&refused, hits, "refused"), 0);
  daemon_->refuses["web/refused"] = ENOSPC;
  exchange(feeder);
  EXPECT_FALSE(hits.is_on());
  FedStatistic* view = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_view(&view, hits, "view"), 0);
  EXPECT_TRUE(hits.is_on());
  feeder.client.statistics().drop(*view, ServerSide::kDelete);
  EXPECT_FALSE(hits.is_on());
  feeder.client.statistics().switch_on(hits);
  feeder.add(hits, 1);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1}));
}

TEST_F(ClientTest, AViewOfASourceThatIsOffBeginsInTheNextDaemonWithAllThatFollows) {
  start_daemon();
  daemon_->page = std::make_unique<SwitchPage>(4096);
  Feeder feeder(settings());
  FedStatistic& hits = feeder.statistic(feeder.interface("web"), "hits");
  FedStatistic* view = nullptr;
  ASSERT_EQ(feeder.client.statistics().create_view(&view, hits, "view"), 0);
  exchange(feeder);
  daemon_->switch_on("web/hits");  // for its view
  start_daemon(FakeDaemon::kEpoch + 1);
  daemon_->page = std::make_unique<SwitchPage>(4096);
  daemon_->ignores = {"create web/view of=hits on=1"};
  feeder.add(hits, 1);
  EXPECT_TRUE(has(exchange(feeder), "create web/view of=hits on=1"));
  EXPECT_TRUE(hits.is_on());
  feeder.add(hits, 2);
  exchange(feeder);
  EXPECT_EQ(daemon_->xs("web/hits"), (Xs{1, 2}));
}

}  // namespace
}  // namespace tallyfs
