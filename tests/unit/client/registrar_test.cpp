#include "feeders/client/registrar.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fake_daemon.h"

namespace tally {
namespace {

using namespace std::chrono_literals;

class RegistrarTest : public testing::Test {
 protected:
  RegistrarTest() { connect(); }

  void connect() {
    ASSERT_TRUE(link_.connect());
    registrar_.begin();
  }
  FedInterface& interface(std::string_view name, unsigned flags = 0) {
    registrar_.note_change();
    return *registry_.create_interface(name, flags).value();
  }
  FedStatistic& statistic(FedInterface& in, std::string_view name, std::string_view units = "") {
    registrar_.note_change();
    return *registry_.create_statistic(in, name, units).value();
  }
  void start(FedStatistic& statistic) { statistic.has_begun = statistic.started = true; }

  // One exchange: what was asked, and answered at once.
  Log round() {
    registrar_.ask(now_);
    Log log = daemon_->serve();
    registrar_.take_answers(now_);
    return log;
  }
  // What was asked until there was nothing more to ask.
  Log settle() {
    Log all;
    for (int i = 0; i < 1000 && !registrar_.is_settled(); ++i) {
      const Log log = round();
      all.insert(all.end(), log.begin(), log.end());
    }
    EXPECT_TRUE(registrar_.is_settled());
    return all;
  }
  // No room in the daemon's queue.
  void fill() {
    wire::DatagramWriter writer(0);
    writer.dropped(0);
    while (link_.send(writer.bytes()) == Link::Sent::kDone) {
    }
  }
  Log serve_but_fillers() {
    Log log = daemon_->serve();
    std::erase(log, "dropped 0");
    return log;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  std::optional<FakeDaemon> daemon_{path_};
  Link link_{path_};
  Registry registry_;
  Switches switches_;
  std::vector<std::uint64_t> epochs_;
  std::vector<std::pair<std::uint64_t, bool>> confirmed_;
  Log reports_;
  Registrar registrar_{
      registry_,
      link_,
      switches_,
      {.other_epoch =
           [this](std::uint64_t epoch) {
             epochs_.push_back(epoch);
             // Before this no number of the last one may be left.
             registry_.for_each_statistic(
                 [](const FedStatistic& each) { EXPECT_EQ(each.number, 0u); });
           },
       .confirmed = [this](std::uint64_t sent,
                           bool stale) { confirmed_.emplace_back(sent, stale); },
       .report = [this](std::string text) { reports_.push_back(std::move(text)); }}};
  std::chrono::nanoseconds now_ = 100s;
};

// ---- creating

TEST_F(RegistrarTest, AsksForTheSwitchesThenInterfacesThenTheirStatistics) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  statistic(interface("disk"), "reads");
  EXPECT_EQ(round(), (Log{"switches", "create web", "create disk"}));
  EXPECT_EQ(hits.standing, Standing::kUnknown);
  EXPECT_EQ(round(), (Log{"create web/hits", "create disk/reads"}));
  EXPECT_EQ(hits.standing, Standing::kKnown);
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
  EXPECT_TRUE(registrar_.is_settled());
  EXPECT_EQ(registrar_.refusal(), 0);
}

TEST_F(RegistrarTest, AsksForWhatIsNotKnownOnly) {
  FedInterface& web = interface("web");
  statistic(web, "hits");
  settle();
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
  EXPECT_EQ(settle(), (Log{"switches", "create web",
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
  const Log asked = settle();
  EXPECT_EQ(asked.size(), 2u + 1000);
  EXPECT_LE(daemon_->largest, 8192u);
  for (std::size_t i = 0; i < made.size(); ++i) {
    ASSERT_EQ(made[i]->standing, Standing::kKnown);
    ASSERT_EQ(made[i]->number, daemon_->number_of(path_of(*made[i])));
    ASSERT_TRUE(asked[i + 2].starts_with("create " + path_of(*made[i]) + " "));
  }
}

TEST_F(RegistrarTest, AThousandInterfacesAreAskedForToo) {
  for (int i = 0; i < 1000; ++i) {
    statistic(interface(std::string("interface").append(std::to_string(i))), "hits");
  }
  EXPECT_EQ(settle().size(), 1u + 1000 + 1000);
  EXPECT_LE(daemon_->largest, 8192u);
}

TEST_F(RegistrarTest, OneDatagramOfRequestsIsOnItsWayAtATime) {
  FedInterface& web = interface("web");
  round();
  for (int i = 0; i < 1000; ++i) statistic(web, std::string("s").append(std::to_string(i)));
  registrar_.ask(now_);
  registrar_.ask(now_);
  EXPECT_TRUE(daemon_->take());
  EXPECT_FALSE(daemon_->take());
  EXPECT_TRUE(registrar_.is_waiting());
}

TEST_F(RegistrarTest, NamesAndUnitsOfTheGreatestLengthFit) {
  const std::string name(255, 'n');
  FedStatistic& longest = statistic(interface(name), name, std::string(255, 'u'));
  settle();
  EXPECT_EQ(longest.standing, Standing::kKnown);
}

// ---- definitions

TEST_F(RegistrarTest, WhatWasThereStaysAsItsUsersHaveDefinedIt) {
  daemon_->there = {"web/hits"};
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  registrar_.ask(now_);
  // Said by the program while the daemon is asked.
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_type = true;
  hits.pending_begin = true;
  daemon_->serve();
  registrar_.take_answers(now_);
  EXPECT_TRUE(hits.was_there);
  EXPECT_FALSE(hits.has_pending());
  EXPECT_EQ(settle(), Log{});
}

TEST_F(RegistrarTest, WhatIsNewIsDefinedAsTheFeederSaidMeanwhile) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  registrar_.ask(now_);
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_type = true;
  hits.pending_begin = true;
  daemon_->serve();
  registrar_.take_answers(now_);
  EXPECT_FALSE(hits.was_there);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits type=range range_min=0 range_max=9 on=1"});
}

TEST_F(RegistrarTest, LaterStartsAndStopsReachWhatWasThereToo) {
  daemon_->there = {"web/hits"};
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  registrar_.ask(now_);
  hits.pending_begin = true;
  hits.pending_on = false;
  hits.pending_reset = true;
  daemon_->serve();
  registrar_.take_answers(now_);
  // Not before the samples that were added before it, which its number lets go.
  EXPECT_EQ(daemon_->serve(), Log{});
  registrar_.ask(now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits data=reset on=0"});
}

TEST_F(RegistrarTest, WhatIsNewHasNothingToReset) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  registrar_.ask(now_);
  hits.pending_reset = true;
  daemon_->serve();
  registrar_.take_answers(now_);
  EXPECT_FALSE(hits.has_pending());
  EXPECT_EQ(daemon_->serve(), Log{});
}

TEST_F(RegistrarTest, AChangeIsSentAtOnceAndOnce) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  hits.pending_on = true;
  registrar_.define(hits, now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits on=1"});
  registrar_.take_answers(now_);
  EXPECT_EQ(settle(), Log{});
}

TEST_F(RegistrarTest, PendingChangesAreInTheOrderTypeResetOn) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_on = false;
  hits.pending_reset = true;
  hits.pending_type = true;
  registrar_.note_change();
  EXPECT_EQ(round(),
            Log{"define web name=hits type=range range_min=0 range_max=9 data=reset on=0"});
}

TEST_F(RegistrarTest, WhenAStartAndALaterStopArePendingTheLaterStands) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  hits.pending_begin = true;
  hits.pending_on = false;
  registrar_.define(hits, now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits on=0"});
}

TEST_F(RegistrarTest, PendingChangesComeBeforeRemovalsAndThoseBeforeCreations) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  settle();
  statistic(web, "misses");
  registrar_.remove("web/old");
  hits.pending_on = true;
  EXPECT_EQ(round(), (Log{"define web name=hits on=1", "remove web/old", "create web/misses"}));
}

TEST_F(RegistrarTest, ARefusedChangeIsReportedAndNotRepeated) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  daemon_->refuses["define"] = EPERM;
  hits.pending_on = true;
  registrar_.define(hits, now_);
  EXPECT_EQ(settle(), Log{"define web name=hits on=1"});
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_[0].find("web/hits"), std::string::npos);
  EXPECT_EQ(registrar_.refusal(), EPERM);
  daemon_->refuses.clear();
  hits.pending_on = true;
  registrar_.define(hits, now_);
  settle();
  EXPECT_EQ(registrar_.refusal(), 0);
}

TEST_F(RegistrarTest, TheRefusalIsThatOfTheFirstAndGoesWithIt) {
  daemon_->refuses["web/first"] = ENOSPC;
  daemon_->refuses["web/second"] = EPERM;
  FedInterface& web = interface("web");
  FedStatistic& first = statistic(web, "first");
  FedStatistic& second = statistic(web, "second");
  settle();
  EXPECT_EQ(registrar_.refusal(), ENOSPC);
  registry_.erase(first);
  EXPECT_EQ(registrar_.refusal(), EPERM);
  second.lingers = true;
  EXPECT_EQ(registrar_.refusal(), 0);
}

TEST_F(RegistrarTest, AChangeThatFindsNoRoomIsSentWhenThereIsSome) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  fill();
  hits.pending_on = false;
  registrar_.define(hits, now_);
  EXPECT_TRUE(hits.has_pending());
  EXPECT_EQ(serve_but_fillers(), Log{});
  registrar_.ask(now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits on=0"});
}

TEST_F(RegistrarTest, AChangeThatFindsNoRoomTwiceIsStillSentWhenThereIsSome) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  fill();
  hits.pending_on = false;
  hits.pending_reset = true;
  registrar_.define(hits, now_);
  registrar_.ask(now_);
  EXPECT_EQ(serve_but_fillers(), Log{});
  registrar_.ask(now_);
  EXPECT_EQ(daemon_->serve(), Log{"define web name=hits data=reset on=0"});
}

// ---- switches

TEST_F(RegistrarTest, WithoutAPageEverythingKnownIsOn) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  EXPECT_FALSE(hits.is_on());
  settle();
  EXPECT_FALSE(switches_.has_page());
  EXPECT_TRUE(hits.is_on());
}

TEST_F(RegistrarTest, WithAPageAStatisticIsAsTheDaemonSwitchesIt) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& started = statistic(web, "started");
  start(started);
  settle();
  EXPECT_FALSE(hits.is_on());
  EXPECT_TRUE(started.is_on());
  daemon_->switch_on("web/hits", true);
  daemon_->switch_on("web/started", false);
  EXPECT_TRUE(hits.is_on());
  EXPECT_FALSE(started.is_on());
}

TEST_F(RegistrarTest, UntilAChangeIsAnsweredTheSwitchIsAsTheFeederWantsIt) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  ASSERT_FALSE(hits.is_on());
  hits.pending_on = true;
  registrar_.define(hits, now_);
  hits.set_switch(&FedStatistic::kOn);
  registrar_.ping(now_, 0);
  const auto define = daemon_->take();
  const auto ping = daemon_->take();
  daemon_->answer({{.sequence = ping->requests.at(0).first}});
  registrar_.take_answers(now_);
  EXPECT_TRUE(hits.is_on());
  // It does not switch it, as if somebody had stopped it again.
  daemon_->answer({{.sequence = define->requests.at(0).first}});
  registrar_.take_answers(now_);
  EXPECT_FALSE(hits.is_on());
}

TEST_F(RegistrarTest, APageThatIsNotSealedIsReportedAndEverythingIsOn) {
  daemon_->page = std::make_unique<SwitchPage>(4096, SwitchPage::Sealed::kNo);
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_TRUE(hits.is_on());
}

TEST_F(RegistrarTest, AStatisticBeyondThePageIsOn) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedInterface& web = interface("web");
  round();
  FedStatistic& hits = statistic(web, "hits");
  registrar_.ask(now_);
  const auto asked = daemon_->take();
  daemon_->answer({{.sequence = asked->requests.at(0).first, .number = 1ull << 32 | 512}});
  registrar_.take_answers(now_);
  EXPECT_TRUE(hits.is_on());
}

TEST_F(RegistrarTest, TheSwitchesAreAskedForAgainIfTheAnswerIsLost) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  interface("web");
  daemon_->ignores = {"switches"};
  round();
  daemon_->ignores.clear();
  now_ += 1s;
  EXPECT_EQ(round(), Log{"switches"});
  EXPECT_TRUE(switches_.has_page());
}

TEST_F(RegistrarTest, ADaemonThatNeverAnswersIsReportedOnce) {
  interface("web");
  daemon_->ignores = {"switches", "create web"};
  for (int second = 0; second < 3; ++second, now_ += 1s) round();
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_[0].find("another network namespace"), std::string::npos);
  daemon_->ignores.clear();
  settle();
  EXPECT_EQ(reports_.size(), 1u);
}

TEST_F(RegistrarTest, TheSwitchesAreAskedForAgainIfThereWasNoRoomForTheRequest) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  interface("web");
  fill();
  registrar_.ask(now_);
  EXPECT_EQ(serve_but_fillers(), Log{});
  EXPECT_EQ(settle(), (Log{"switches", "create web"}));
  EXPECT_TRUE(switches_.has_page());
}

TEST_F(RegistrarTest, SwitchesThatTheDaemonRefusesAreNotAskedForAgain) {
  interface("web");
  settle();
  now_ += 100s;
  registrar_.note_change();
  EXPECT_EQ(round(), Log{});
}

// ---- refusals

TEST_F(RegistrarTest, ARefusedStatisticIsSaidToBeAndReportedWithItsReason) {
  daemon_->refuses["web/hits"] = EPERM;
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& misses = statistic(web, "misses");
  settle();
  EXPECT_EQ(hits.standing, Standing::kRefused);
  EXPECT_EQ(misses.standing, Standing::kKnown);
  EXPECT_EQ(registrar_.refusal(), EPERM);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0], "the daemon refused web/hits: Operation not permitted");
}

TEST_F(RegistrarTest, TheDaemonsReasonIsInTheReport) {
  interface("web");
  registrar_.ask(now_);
  const auto asked = daemon_->take();
  daemon_->answer({{.sequence = asked->requests.at(0).first, .error = EINVAL},
                   {.sequence = asked->requests.at(1).first,
                    .error = ENOSPC,
                    .at = 7,
                    .reason = "too many interfaces"}});
  registrar_.take_answers(now_);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0], "the daemon refused web: too many interfaces (No space left on device)");
}

TEST_F(RegistrarTest, WhatIsRefusedIsAskedForAgainAfter10Seconds) {
  daemon_->refuses["web/hits"] = ENOSPC;
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  now_ += 9'999ms;
  EXPECT_EQ(round(), Log{});
  now_ += 1ms;
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(registrar_.refusal(), ENOSPC);
  daemon_->refuses.clear();
  now_ += 10s;
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(registrar_.refusal(), 0);
  EXPECT_EQ(hits.standing, Standing::kKnown);
}

TEST_F(RegistrarTest, InARefusedInterfaceNothingIsAskedForUntilItIsAskedAgain) {
  daemon_->refuses["web"] = EPERM;
  FedStatistic& hits = statistic(interface("web"), "hits");
  EXPECT_EQ(settle(), (Log{"switches", "create web"}));
  EXPECT_EQ(hits.standing, Standing::kRefused);
  daemon_->refuses.clear();
  now_ += 10s;
  EXPECT_EQ(round(), Log{"create web"});
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(hits.standing, Standing::kKnown);
}

// ---- lost answers

TEST_F(RegistrarTest, AnAnswerThatDoesNotComeIsAskedForAgainAfterASecond) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  registrar_.ask(now_);
  EXPECT_EQ(daemon_->take()->log, Log{"create web/hits"});
  now_ += 999ms;
  EXPECT_EQ(round(), Log{});
  EXPECT_FALSE(registrar_.is_settled());
  now_ += 1ms;
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(hits.standing, Standing::kKnown);
}

TEST_F(RegistrarTest, AnAnswerThatComesLateIsTakenAndTheSecondDoesNoHarm) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  registrar_.ask(now_);
  const auto first = daemon_->take();
  now_ += 1s;
  registrar_.ask(now_);
  const auto second = daemon_->take();
  const wire::Answer answer{.sequence = first->requests.at(0).first, .number = 1ull << 32 | 5};
  daemon_->answer({answer});
  registrar_.take_answers(now_);
  EXPECT_EQ(hits.number, answer.number);
  wire::Answer again = answer;
  again.sequence = second->requests.at(0).first;
  again.made = wire::Made::kWasThere;
  daemon_->answer({again});
  registrar_.take_answers(now_);
  EXPECT_EQ(hits.number, answer.number);
  EXPECT_EQ(hits.standing, Standing::kKnown);
  EXPECT_FALSE(hits.was_there);
  EXPECT_TRUE(registrar_.is_settled());
}

TEST_F(RegistrarTest, SomeLostAnswersAreAskedForAgainAndTheOthersNot) {
  FedInterface& web = interface("web");
  statistic(web, "a");
  statistic(web, "b");
  statistic(web, "c");
  round();
  daemon_->ignores = {"create web/b"};
  round();
  daemon_->ignores.clear();
  now_ += 1s;
  EXPECT_EQ(round(), Log{"create web/b"});
  EXPECT_TRUE(registrar_.is_settled());
}

TEST_F(RegistrarTest, RequestsThatFindNoRoomAreSentWhenThereIsSome) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  fill();
  registrar_.ask(now_);
  EXPECT_FALSE(registrar_.is_waiting());
  serve_but_fillers();
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(hits.standing, Standing::kKnown);
}

TEST_F(RegistrarTest, AnswersToWhatIsGoneAreIgnored) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  round();
  registrar_.ask(now_);
  registry_.erase(hits);
  registry_.erase(web);
  daemon_->serve();
  registrar_.take_answers(now_);
  EXPECT_TRUE(registrar_.is_settled());
  EXPECT_EQ(reports_, Log{});
}

TEST_F(RegistrarTest, WhatIsNoAnswerIsIgnored) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  daemon_->send("");
  daemon_->send("not binary");
  daemon_->send(std::string("\xFETLY\1\0\0\0", 8));
  wire::DatagramWriter writer(daemon_->epoch);
  writer.request(1, "create web");
  writer.dropped(5);
  writer.answer({.sequence = 77, .number = 5});
  writer.answer({.sequence = 7u << 29 | 1, .number = 5});
  daemon_->send(writer.bytes());
  registrar_.take_answers(now_);
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
  EXPECT_EQ(settle(), Log{});
}

// ---- other daemons

TEST_F(RegistrarTest, TheFirstAnswerTellsTheEpoch) {
  interface("web");
  EXPECT_EQ(registrar_.epoch(), 0u);
  settle();
  EXPECT_EQ(registrar_.epoch(), FakeDaemon::kEpoch);
  EXPECT_EQ(epochs_, (std::vector<std::uint64_t>{FakeDaemon::kEpoch}));
}

TEST_F(RegistrarTest, InAnotherEpochAllBeginsAnew) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  hits.type = "type=range range_min=0 range_max=9";
  start(hits);
  settle();
  registrar_.ping(now_, 0);
  const auto ping = daemon_->take();
  daemon_->epoch = 2;
  daemon_->remove("web");
  daemon_->remove("web/hits");
  daemon_->answer({{.sequence = ping->requests.at(0).first}});
  registrar_.take_answers(now_);
  EXPECT_EQ(hits.number, 0u);
  EXPECT_EQ(hits.standing, Standing::kUnknown);
  EXPECT_TRUE(hits.is_on());
  EXPECT_EQ(epochs_, (std::vector<std::uint64_t>{FakeDaemon::kEpoch, 2}));
  EXPECT_EQ(settle(), (Log{"switches", "create web",
                           "create web/hits type=range range_min=0 range_max=9 on=1"}));
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
}

TEST_F(RegistrarTest, AnotherDaemonLearnsTheLastStateAndDefinition) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  start(hits);
  settle();
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_type = true;
  hits.started = false;
  hits.pending_on = false;
  registrar_.define(hits, now_);
  settle();
  daemon_.reset();
  daemon_.emplace(path_, 2);
  connect();
  EXPECT_EQ(settle(),
            (Log{"switches", "create web", "create web/hits type=range range_min=0 range_max=9"}));
}

TEST_F(RegistrarTest, WhatWasMadeHereIsOursAfterAReconnectToTheSameDaemon) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  ASSERT_FALSE(hits.was_there);
  link_.disconnect();
  connect();
  settle();
  EXPECT_FALSE(hits.was_there);
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
}

TEST_F(RegistrarTest, WhatWasMadeByAnotherDaemonMayHaveBeenThereInTheNext) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  daemon_.reset();
  daemon_.emplace(path_, 2);
  daemon_->there = {"web/hits"};
  connect();
  settle();
  EXPECT_TRUE(hits.was_there);
}

TEST_F(RegistrarTest, ANewConnectionForgetsRemovalsAndPings) {
  interface("web");
  settle();
  registrar_.remove("web/old");
  registrar_.ping(now_, 5);
  const auto ping = daemon_->take();
  link_.disconnect();
  connect();
  EXPECT_FALSE(registrar_.is_waiting());
  EXPECT_EQ(settle(), (Log{"switches", "create web"}));
  daemon_->answer({{.sequence = ping->requests.at(0).first}});
  registrar_.take_answers(now_);
  EXPECT_TRUE(confirmed_.empty());
}

// ---- pings

TEST_F(RegistrarTest, APingConfirmsWhatWasSentBefore) {
  registrar_.ping(now_, 42);
  EXPECT_TRUE(registrar_.is_waiting());
  EXPECT_EQ(daemon_->serve(), Log{"(ping)"});
  registrar_.take_answers(now_);
  EXPECT_EQ(confirmed_, (decltype(confirmed_){{42, false}}));
  EXPECT_FALSE(registrar_.is_waiting());
}

TEST_F(RegistrarTest, OnePingIsOnItsWayAtATimeUntilASecondHasGone) {
  registrar_.ping(now_, 1);
  registrar_.ping(now_ + 999ms, 2);
  EXPECT_TRUE(daemon_->take());
  EXPECT_FALSE(daemon_->take());
  registrar_.ping(now_ + 1s, 3);
  EXPECT_TRUE(daemon_->take());
}

TEST_F(RegistrarTest, AnAnswerToAnEarlierPingConfirmsNothing) {
  registrar_.ping(now_, 1);
  const auto first = daemon_->take();
  registrar_.ping(now_ + 1s, 3);
  const auto second = daemon_->take();
  daemon_->answer({{.sequence = first->requests.at(0).first}});
  registrar_.take_answers(now_);
  EXPECT_TRUE(confirmed_.empty());
  daemon_->answer({{.sequence = second->requests.at(0).first}});
  daemon_->answer({{.sequence = second->requests.at(0).first}});
  registrar_.take_answers(now_);
  EXPECT_EQ(confirmed_, (decltype(confirmed_){{3, false}}));
}

TEST_F(RegistrarTest, APingDoesNotKeepRequestsFromBeingAsked) {
  registrar_.ping(now_, 1);
  daemon_->take();
  interface("web");
  EXPECT_EQ(settle(), (Log{"switches", "create web"}));
  EXPECT_TRUE(registrar_.is_waiting());
}

// ---- what the daemon no longer knows

TEST_F(RegistrarTest, AStaleAnswerMakesTheNextPingSaySo) {
  statistic(interface("web"), "hits");
  settle();
  daemon_->answer({{.sequence = 0, .error = ESTALE}});
  registrar_.ping(now_, 5);
  daemon_->serve();
  registrar_.take_answers(now_);
  registrar_.ping(now_, 6);
  daemon_->serve();
  registrar_.take_answers(now_);
  EXPECT_EQ(confirmed_, (decltype(confirmed_){{5, true}, {6, false}}));
}

TEST_F(RegistrarTest, WithoutAPageAStaleAnswerMakesItAskForEverythingAgain) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& gone = statistic(web, "gone");
  settle();
  const std::uint64_t number = hits.number;
  daemon_->remove("web/gone");
  daemon_->answer({{.sequence = 0, .error = ESTALE}});
  registrar_.take_answers(now_);
  EXPECT_EQ(hits.number, number);
  EXPECT_EQ(settle(), (Log{"create web", "create web/hits", "create web/gone"}));
  EXPECT_EQ(hits.number, number);
  EXPECT_EQ(gone.number, daemon_->number_of("web/gone"));
  EXPECT_FALSE(hits.was_there);
}

TEST_F(RegistrarTest, AResetSaidWhileItAsksForEverythingAgainIsSent) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  settle();
  daemon_->answer({{.sequence = 0, .error = ESTALE}});
  registrar_.take_answers(now_);
  hits.pending_reset = true;
  const Log log = settle();
  EXPECT_EQ(std::ranges::count(log, "define web name=hits data=reset"), 1);
}

TEST_F(RegistrarTest, WithAPageOnlyWhatIsVoidIsGone) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& gone = statistic(web, "gone");
  settle();
  const std::uint64_t number = hits.number;
  daemon_->remove("web/gone");
  daemon_->answer({{.sequence = 0, .error = ESTALE}});
  registrar_.take_answers(now_);
  EXPECT_EQ(hits.number, number);
  EXPECT_EQ(hits.standing, Standing::kKnown);
  EXPECT_EQ(gone.number, 0u);
  EXPECT_EQ(gone.standing, Standing::kGone);
  EXPECT_TRUE(gone.is_on());
  EXPECT_EQ(settle(), Log{});
  // There is a sample for it again.
  gone.standing = Standing::kUnknown;
  registrar_.note_change();
  EXPECT_EQ(settle(), (Log{"create web", "create web/gone"}));
  EXPECT_EQ(gone.number, daemon_->number_of("web/gone"));
}

TEST_F(RegistrarTest, LooksForWhatIsVoidWithoutBeingToldToo) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedStatistic& gone = statistic(interface("web"), "gone");
  settle();
  registrar_.look_for_void();
  EXPECT_EQ(gone.standing, Standing::kKnown);
  daemon_->remove("web/gone");
  registrar_.look_for_void();
  EXPECT_EQ(gone.standing, Standing::kGone);
}

// ---- removals

TEST_F(RegistrarTest, WhatIsRemovedBeforeTheFirstConnectionIsRemovedThere) {
  Registrar early(registry_, link_, switches_,
                  {.other_epoch = [](std::uint64_t) {},
                   .confirmed = [](std::uint64_t, bool) {},
                   .report = [](const std::string&) {}});
  link_.disconnect();
  early.remove("old/hits");
  early.remove("old");
  ASSERT_TRUE(link_.connect());
  early.begin();
  early.ask(now_);
  EXPECT_EQ(daemon_->serve(), (Log{"switches", "remove old/hits", "remove old"}));
}

TEST_F(RegistrarTest, WhatIsRemovedWhileADaemonIsAwayIsLeftToTheNext) {
  settle();
  registrar_.remove("web/hits");
  link_.disconnect();
  registrar_.remove("web");
  ASSERT_TRUE(link_.connect());
  registrar_.begin();
  EXPECT_EQ(settle(), Log{"switches"});
}

TEST_F(RegistrarTest, RemovalsAreSentInTheirOrder) {
  settle();
  registrar_.remove("web/hits");
  registrar_.remove("disk");
  EXPECT_FALSE(registrar_.is_settled());
  EXPECT_EQ(settle(), (Log{"remove web/hits", "remove disk"}));
}

TEST_F(RegistrarTest, WithoutADaemonThereIsNothingToRemove) {
  link_.disconnect();
  registrar_.remove("web/hits");
  connect();
  EXPECT_EQ(settle(), Log{"switches"});
}

TEST_F(RegistrarTest, ARemovalOfWhatIsGoneAlreadyIsDoneAndAnyOtherRefusalReported) {
  settle();
  daemon_->refuses = {{"web", ENOENT}, {"disk", EPERM}};
  registrar_.remove("web");
  registrar_.remove("disk");
  settle();
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_[0].find("Operation not permitted"), std::string::npos);
}

TEST_F(RegistrarTest, RemovalsThatFindNoRoomAreSentWhenThereIsSome) {
  settle();
  fill();
  registrar_.remove("web/hits");
  registrar_.ask(now_);
  serve_but_fillers();
  EXPECT_EQ(settle(), Log{"remove web/hits"});
}

TEST_F(RegistrarTest, OfMoreThan1024RemovalsThatWaitTheOldestAreForgotten) {
  settle();
  for (int i = 0; i < 1025; ++i) registrar_.remove("web/" + std::to_string(i));
  const Log log = settle();
  ASSERT_EQ(log.size(), 1024u);
  EXPECT_EQ(log.front(), "remove web/1");
  EXPECT_EQ(log.back(), "remove web/1024");
  EXPECT_LE(daemon_->largest, 8192u);
}

}  // namespace
}  // namespace tally
