// Daemons that go and come, and those that no longer know what they were told.
#include "registrar_fixture.h"

namespace tallyfs {
namespace {

// ---- other daemons

TEST_F(RegistrarTest, TheFirstAnswerTellsTheEpoch) {
  interface("web");
  EXPECT_EQ(conversation_.epoch(), 0u);
  run_until_idle();
  EXPECT_EQ(conversation_.epoch(), FakeDaemon::kEpoch);
  EXPECT_EQ(epochs_, (std::vector<std::uint64_t>{FakeDaemon::kEpoch}));
}

TEST_F(RegistrarTest, InAnotherEpochAllBeginsAnew) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  hits.type = "type=range range_min=0 range_max=9";
  start(hits);
  run_until_idle();
  conversation_.ping(now_, 0);
  const auto ping = daemon_->take();
  daemon_->epoch = 2;
  daemon_->remove("web");
  daemon_->remove("web/hits");
  daemon_->respond({{.sequence = ping->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_EQ(hits.number, 0u);
  EXPECT_EQ(hits.registration, Registration::kUnregistered);
  EXPECT_TRUE(hits.is_on());
  EXPECT_EQ(epochs_, (std::vector<std::uint64_t>{FakeDaemon::kEpoch, 2}));
  EXPECT_EQ(run_until_idle(), (Log{"switches", "create web",
                                   "create web/hits type=range range_min=0 range_max=9 on=1"}));
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
}

TEST_F(RegistrarTest, AnotherDaemonLearnsTheLastStateAndDefinition) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  start(hits);
  run_until_idle();
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_type = true;
  hits.started = false;
  hits.pending_on = false;
  registrar_.define(hits, now_);
  run_until_idle();
  daemon_.reset();
  daemon_.emplace(path_, 2);
  connect();
  EXPECT_EQ(run_until_idle(),
            (Log{"switches", "create web", "create web/hits type=range range_min=0 range_max=9"}));
}

TEST_F(RegistrarTest, WhatWasMadeHereIsOursAfterAReconnectToTheSameDaemon) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  ASSERT_FALSE(hits.was_there);
  link_.disconnect();
  connect();
  run_until_idle();
  EXPECT_FALSE(hits.was_there);
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
}

TEST_F(RegistrarTest, ViewsAreFoundAfterAReconnect) {
  FedInterface& web = interface("web");
  statistic(web, "hits");
  FedStatistic& view = statistic(web, "view");
  view.source = "hits";
  view.type = "type=last";
  start(view);
  run_until_idle();
  daemon_->there = {"web/view"};
  link_.disconnect();
  connect();
  EXPECT_EQ(run_until_idle(), (Log{"switches", "create web", "create web/hits",
                                   "create web/view of=hits type=last on=1"}));
  EXPECT_EQ(view.registration, Registration::kRegistered);
  EXPECT_FALSE(view.has_pending());
  EXPECT_FALSE(view.is_on());
}

TEST_F(RegistrarTest, WhatWasMadeByAnotherDaemonMayHaveBeenThereInTheNext) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  daemon_.reset();
  daemon_.emplace(path_, 2);
  daemon_->there = {"web/hits"};
  connect();
  run_until_idle();
  EXPECT_TRUE(hits.was_there);
}

TEST_F(RegistrarTest, ANewConnectionForgetsRemovalsAndPings) {
  interface("web");
  run_until_idle();
  registrar_.remove("web/old");
  conversation_.ping(now_, 5);
  const auto ping = daemon_->take();
  link_.disconnect();
  connect();
  EXPECT_EQ(run_until_idle(), (Log{"switches", "create web"}));
  daemon_->respond({{.sequence = ping->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_TRUE(confirmed_.empty());
  conversation_.ping(now_, 6);
  EXPECT_EQ(daemon_->serve(), Log{"(ping)"}) << "none is awaited";
}

// ---- pings

TEST_F(RegistrarTest, APingConfirmsWhatWasSentBefore) {
  conversation_.ping(now_, 42);
  conversation_.ping(now_, 43);
  EXPECT_EQ(daemon_->serve(), Log{"(ping)"}) << "one is awaited";
  conversation_.take_responses(now_);
  EXPECT_EQ(confirmed_, (decltype(confirmed_){{42, false}}));
  conversation_.ping(now_, 44);
  EXPECT_EQ(daemon_->serve(), Log{"(ping)"}) << "none is awaited";
}

TEST_F(RegistrarTest, OnePingIsOnItsWayAtATimeUntilASecondHasGone) {
  conversation_.ping(now_, 1);
  conversation_.ping(now_ + 999ms, 2);
  EXPECT_TRUE(daemon_->take());
  EXPECT_FALSE(daemon_->take());
  conversation_.ping(now_ + 1s, 3);
  EXPECT_TRUE(daemon_->take());
}

TEST_F(RegistrarTest, AnAnswerToAnEarlierPingConfirmsNothing) {
  conversation_.ping(now_, 1);
  const auto first = daemon_->take();
  conversation_.ping(now_ + 1s, 3);
  const auto second = daemon_->take();
  daemon_->respond({{.sequence = first->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_TRUE(confirmed_.empty());
  daemon_->respond({{.sequence = second->requests.at(0).first}});
  daemon_->respond({{.sequence = second->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_EQ(confirmed_, (decltype(confirmed_){{3, false}}));
}

TEST_F(RegistrarTest, APingDoesNotKeepRequestsFromBeingAsked) {
  conversation_.ping(now_, 1);
  daemon_->take();
  interface("web");
  EXPECT_EQ(run_until_idle(), (Log{"switches", "create web"}));
  conversation_.ping(now_, 2);
  EXPECT_FALSE(daemon_->take()) << "the first is awaited";
}

// ---- what the daemon no longer knows

TEST_F(RegistrarTest, AStaleAnswerMakesTheNextPingSaySo) {
  statistic(interface("web"), "hits");
  run_until_idle();
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  conversation_.ping(now_, 5);
  daemon_->serve();
  conversation_.take_responses(now_);
  conversation_.ping(now_, 6);
  daemon_->serve();
  conversation_.take_responses(now_);
  EXPECT_EQ(confirmed_, (decltype(confirmed_){{5, true}, {6, false}}));
}

TEST_F(RegistrarTest, WithoutAPageAStaleAnswerMakesItAskForEverythingAgain) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& gone = statistic(web, "gone");
  run_until_idle();
  const std::uint64_t number = hits.number;
  daemon_->remove("web/gone");
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  conversation_.take_responses(now_);
  EXPECT_EQ(hits.number, number);
  EXPECT_EQ(run_until_idle(), (Log{"create web", "create web/hits", "create web/gone"}));
  EXPECT_EQ(hits.number, number);
  EXPECT_EQ(gone.number, daemon_->number_of("web/gone"));
  EXPECT_FALSE(hits.was_there);
}

// They went with their source, if they are gone at all.
TEST_F(RegistrarTest, AStaleAnswerLetsViewsRest) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& view = statistic(web, "view");
  view.source = "hits";
  view.started = true;
  EXPECT_EQ(run_until_idle(),
            (Log{"switches", "create web", "create web/hits", "create web/view of=hits on=1"}));
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  conversation_.take_responses(now_);
  EXPECT_EQ(run_until_idle(), (Log{"create web", "create web/hits"}));
  EXPECT_EQ(view.registration, Registration::kRegistered);
  EXPECT_NE(hits.number, 0u);
}

TEST_F(RegistrarTest, AResetSaidWhileItAsksForEverythingAgainIsSent) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  conversation_.take_responses(now_);
  hits.pending_reset = true;
  const Log log = run_until_idle();
  EXPECT_EQ(std::ranges::count(log, "define web name=hits data=reset"), 1);
}

TEST_F(RegistrarTest, WithAPageOnlyWhatIsVoidIsGone) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& gone = statistic(web, "gone");
  run_until_idle();
  const std::uint64_t number = hits.number;
  daemon_->remove("web/gone");
  daemon_->respond({{.sequence = 0, .error = ESTALE}});
  conversation_.take_responses(now_);
  EXPECT_EQ(hits.number, number);
  EXPECT_EQ(hits.registration, Registration::kRegistered);
  EXPECT_EQ(gone.number, 0u);
  EXPECT_EQ(gone.registration, Registration::kRemoved);
  EXPECT_TRUE(gone.is_on());
  EXPECT_EQ(run_until_idle(), Log{});
  // There is a sample for it again.
  gone.registration = Registration::kUnregistered;
  registrar_.note_change_anywhere();
  EXPECT_EQ(run_until_idle(), (Log{"create web", "create web/gone"}));
  EXPECT_EQ(gone.number, daemon_->number_of("web/gone"));
}

TEST_F(RegistrarTest, LooksForWhatIsVoidWithoutBeingToldToo) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedStatistic& gone = statistic(interface("web"), "gone");
  run_until_idle();
  registrar_.look_for_void();
  EXPECT_EQ(gone.registration, Registration::kRegistered);
  daemon_->remove("web/gone");
  registrar_.look_for_void();
  EXPECT_EQ(gone.registration, Registration::kRemoved);
}

}  // namespace
}  // namespace tallyfs
