// What the Registrar has the daemon make, and how it is defined.
#include "registrar_fixture.h"

namespace tallyfs {
namespace {

// ---- creating

TEST_F(RegistrarTest, AsksForTheSwitchesThenInterfacesThenTheirStatistics) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  statistic(interface("disk"), "reads");
  EXPECT_EQ(round(), (Log{"switches", "create web", "create disk"}));
  EXPECT_EQ(hits.registration, Registration::kUnregistered);
  EXPECT_EQ(round(), (Log{"create web/hits", "create disk/reads"}));
  EXPECT_EQ(hits.registration, Registration::kRegistered);
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
  EXPECT_TRUE(registrar_.is_idle());
  EXPECT_EQ(registrar_.refusal(), 0);
}

TEST_F(RegistrarTest, AsksForWhatIsNotKnownOnly) {
  FedInterface& web = interface("web");
  statistic(web, "hits");
  run_until_idle();
  EXPECT_EQ(round(), Log{});
  statistic(web, "misses");
  EXPECT_EQ(round(), Log{"create web/misses"});
}

TEST_F(RegistrarTest, AnInterfaceThatLeavesWithItsFeederIsMadeSo) {
  interface("web", STATISTIC_LIFETIME_FEEDER);
  EXPECT_EQ(round(), (Log{"switches", "create web lifetime=feeder"}));
}

TEST_F(RegistrarTest, DefinitionFirstStartAndUnitsArePartOfTheCreation) {
  FedStatistic& hits = statistic(interface("web"), "hits", "ms/requests");
  hits.type = "type=list entries_max=3 range_min=0 range_max=9";
  start(hits);
  EXPECT_EQ(run_until_idle(),
            (Log{"switches", "create web",
                 "create web/hits type=list entries_max=3 range_min=0 range_max=9 on=1 "
                 "units=ms/requests"}));
}

TEST_F(RegistrarTest, AThousandStatisticsAreAskedForInDatagramsOf8KiBAtMost) {
  FedInterface& web = interface("web");
  std::vector<FedStatistic*> made;
  for (int i = 0; i < 1000; ++i) {
    made.push_back(&statistic(web, std::string("statistic").append(std::to_string(i))));
    made.back()->type = "type=value mode=increments range_min=0 range_max=1000000";
  }
  const Log asked = run_until_idle();
  EXPECT_EQ(asked.size(), 2u + 1000);
  EXPECT_LE(daemon_->largest, 8192u);
  for (std::size_t i = 0; i < made.size(); ++i) {
    ASSERT_EQ(made[i]->registration, Registration::kRegistered);
    ASSERT_EQ(made[i]->number, daemon_->number_of(path_of(*made[i])));
    ASSERT_TRUE(asked[i + 2].starts_with("create " + path_of(*made[i]) + " "));
  }
}

// The cost is counted in looks at interfaces and statistics.
TEST_F(RegistrarTest, TenThousandStatisticsCostAsMuchEachAsOne) {
  constexpr std::uint64_t kStatistics = 10'000;
  const auto looks = [this] { return registry_.due().visits(); };
  FedInterface& web = interface("web");
  std::vector<FedStatistic*> made;
  for (std::uint64_t i = 0; i < kStatistics; ++i) {
    made.push_back(registry_.create_statistic(web, "s" + std::to_string(i), "").value());
  }
  run_until_idle();
  EXPECT_EQ(made.back()->registration, Registration::kRegistered);
  EXPECT_LE(looks(), 4 * kStatistics);

  const std::uint64_t looks_before_changes = looks();
  for (FedStatistic* const each : made) {
    each->pending_reset = true;
    registrar_.note_change(*each);
  }
  EXPECT_EQ(run_until_idle().size(), kStatistics);
  EXPECT_FALSE(registrar_.has_pending());
  EXPECT_LE(looks() - looks_before_changes, 4 * kStatistics);

  const std::uint64_t looks_before_one = looks();
  ASSERT_TRUE(registry_.create_statistic(web, "one_more", ""));
  registrar_.note_change();
  EXPECT_EQ(run_until_idle(), Log{"create web/one_more"});
  EXPECT_LE(looks() - looks_before_one, 4u);
}

TEST_F(RegistrarTest, StatisticsOfManyNewInterfacesAreNotLookedAtForEach) {
  constexpr std::uint64_t kInterfaces = 1'000;
  for (std::uint64_t i = 0; i < kInterfaces; ++i) {
    FedInterface& made = interface(std::string("interface").append(std::to_string(i)));
    for (const char* const name : {"a", "b", "c"}) statistic(made, name);
  }
  EXPECT_EQ(run_until_idle().size(), 1 + 4 * kInterfaces);
  EXPECT_LE(registry_.due().visits(), 4 * 4 * kInterfaces);
}

TEST_F(RegistrarTest, AThousandInterfacesAreAskedForToo) {
  for (int i = 0; i < 1000; ++i) {
    statistic(interface(std::string("interface").append(std::to_string(i))), "hits");
  }
  EXPECT_EQ(run_until_idle().size(), 1u + 1000 + 1000);
  EXPECT_LE(daemon_->largest, 8192u);
}

TEST_F(RegistrarTest, OneDatagramOfRequestsIsOnItsWayAtATime) {
  FedInterface& web = interface("web");
  round();
  for (int i = 0; i < 1000; ++i) statistic(web, std::string("s").append(std::to_string(i)));
  conversation_.request(now_);
  conversation_.request(now_);
  EXPECT_TRUE(daemon_->take());
  EXPECT_FALSE(daemon_->take());
  EXPECT_FALSE(conversation_.is_idle());
}

TEST_F(RegistrarTest, NamesAndUnitsOfTheGreatestLengthFit) {
  const std::string name(255, 'n');
  FedStatistic& longest = statistic(interface(name), name, std::string(255, 'u'));
  run_until_idle();
  EXPECT_EQ(longest.registration, Registration::kRegistered);
}

// ---- definitions

TEST_F(RegistrarTest, WhatWasThereStaysAsItsUsersHaveDefinedIt) {
  daemon_->there = {"web/hits"};
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  // Said by the program while the daemon is asked.
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_type = true;
  hits.pending_begin = true;
  daemon_->serve();
  conversation_.take_responses(now_);
  EXPECT_TRUE(hits.was_there);
  EXPECT_FALSE(hits.has_pending());
  EXPECT_EQ(run_until_idle(), Log{});
}

TEST_F(RegistrarTest, WhatIsNewIsDefinedAsTheFeederSaidMeanwhile) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_type = true;
  hits.pending_begin = true;
  daemon_->serve();
  conversation_.take_responses(now_);
  EXPECT_FALSE(hits.was_there);
  EXPECT_EQ(daemon_->serve(),
            Log{"define web name=hits default=1 type=range range_min=0 range_max=9 on=1"});
}

TEST_F(RegistrarTest, LaterStartsAndStopsReachWhatWasThereToo) {
  daemon_->there = {"web/hits"};
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  hits.pending_begin = true;
  hits.pending_on = false;
  hits.pending_reset = true;
  daemon_->serve();
  conversation_.take_responses(now_);
  // Not before the samples that were added before it, which its number lets go.
  EXPECT_EQ(daemon_->serve(), Log{});
  conversation_.request(now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits data=reset on=0"});
}

TEST_F(RegistrarTest, WhatIsNewHasNothingToReset) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  hits.pending_reset = true;
  daemon_->serve();
  conversation_.take_responses(now_);
  EXPECT_FALSE(hits.has_pending());
  EXPECT_EQ(daemon_->serve(), Log{});
}

TEST_F(RegistrarTest, AChangeIsSentAtOnceAndOnce) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  hits.pending_on = true;
  registrar_.define(hits, now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits on=1"});
  conversation_.take_responses(now_);
  EXPECT_EQ(run_until_idle(), Log{});
}

TEST_F(RegistrarTest, PendingChangesAreInTheOrderTypeResetOn) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_on = false;
  hits.pending_reset = true;
  hits.pending_type = true;
  registrar_.note_change_anywhere();
  EXPECT_EQ(round(), (Log{"define web name=hits default=1 type=range range_min=0 range_max=9",
                          "define web name=hits data=reset on=0"}));
}

TEST_F(RegistrarTest, DefaultsAreMarkedAndLaterChangesAreNot) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  hits.pending_begin = true;
  hits.pending_reset = true;
  registrar_.define(hits, now_);
  EXPECT_EQ(daemon_->serve(),
            (Log{"define web name=hits default=1 on=1", "define web name=hits data=reset"}));
  EXPECT_FALSE(hits.has_pending());
  EXPECT_EQ(hits.changes_sent, 2u);
}

TEST_F(RegistrarTest, WhenAStartAndALaterStopArePendingTheLaterStands) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  hits.pending_begin = true;
  hits.pending_on = false;
  registrar_.define(hits, now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits on=0"});
}

TEST_F(RegistrarTest, PendingChangesComeBeforeRemovalsAndThoseBeforeCreations) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  run_until_idle();
  statistic(web, "misses");
  registrar_.remove("web/old");
  hits.pending_on = true;
  EXPECT_EQ(round(), (Log{"define web name=hits on=1", "remove web/old", "create web/misses"}));
}

TEST_F(RegistrarTest, ARefusedChangeIsReportedAndNotRepeated) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  daemon_->refuses["define"] = EPERM;
  hits.pending_on = true;
  registrar_.define(hits, now_);
  EXPECT_EQ(run_until_idle(), Log{"define web name=hits on=1"});
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_[0].find("web/hits"), std::string::npos);
  EXPECT_EQ(registrar_.refusal(), EPERM);
  daemon_->refuses.clear();
  hits.pending_on = true;
  registrar_.define(hits, now_);
  run_until_idle();
  EXPECT_EQ(registrar_.refusal(), 0);
}

TEST_F(RegistrarTest, TheRefusalIsThatOfTheFirstAndGoesWithIt) {
  daemon_->refuses["web/first"] = ENOSPC;
  daemon_->refuses["web/second"] = EPERM;
  FedInterface& web = interface("web");
  FedStatistic& first = statistic(web, "first");
  FedStatistic& second = statistic(web, "second");
  run_until_idle();
  EXPECT_EQ(registrar_.refusal(), ENOSPC);
  registry_.erase(first);
  EXPECT_EQ(registrar_.refusal(), EPERM);
  second.lingers = true;
  EXPECT_EQ(registrar_.refusal(), 0);
}

TEST_F(RegistrarTest, AChangeThatFindsNoRoomIsSentWhenThereIsSome) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  fill();
  hits.pending_on = false;
  registrar_.define(hits, now_);
  EXPECT_TRUE(hits.has_pending());
  EXPECT_EQ(serve_but_fillers(), Log{});
  conversation_.request(now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits on=0"});
}

TEST_F(RegistrarTest, AChangeThatFindsNoRoomTwiceIsStillSentWhenThereIsSome) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  fill();
  hits.pending_on = false;
  hits.pending_reset = true;
  registrar_.define(hits, now_);
  conversation_.request(now_);
  EXPECT_EQ(serve_but_fillers(), Log{});
  conversation_.request(now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits data=reset on=0"});
}

}  // namespace
}  // namespace tallyfs
