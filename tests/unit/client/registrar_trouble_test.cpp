// Requests that are refused, and answers that do not come.
#include "registrar_fixture.h"

namespace tallyfs {
namespace {

// ---- refusals

TEST_F(RegistrarTest, ARefusedStatisticIsSaidToBeAndReportedWithItsReason) {
  daemon_->refuses["web/hits"] = EPERM;
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& misses = statistic(web, "misses");
  run_until_idle();
  EXPECT_EQ(hits.registration, Registration::kRefused);
  EXPECT_EQ(misses.registration, Registration::kRegistered);
  EXPECT_EQ(registrar_.refusal(), EPERM);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0], "the daemon refused web/hits: Operation not permitted");
}

TEST_F(RegistrarTest, TheDaemonsReasonIsInTheReport) {
  interface("web");
  conversation_.request(now_);
  const auto asked = daemon_->take();
  daemon_->respond({{.sequence = asked->requests.at(0).first, .error = EINVAL},
                    {.sequence = asked->requests.at(1).first,
                     .error = ENOSPC,
                     .at = 7,
                     .reason = "too many interfaces"}});
  conversation_.take_responses(now_);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0], "the daemon refused web: too many interfaces (No space left on device)");
}

TEST_F(RegistrarTest, WhatIsRefusedIsAskedForAgainAfter10Seconds) {
  daemon_->refuses["web/hits"] = ENOSPC;
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  now_ += 9'999ms;
  EXPECT_EQ(round(), Log{});
  now_ += 1ms;
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(registrar_.refusal(), ENOSPC);
  daemon_->refuses.clear();
  now_ += 10s;
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(registrar_.refusal(), 0);
  EXPECT_EQ(hits.registration, Registration::kRegistered);
}

TEST_F(RegistrarTest, InARefusedInterfaceNothingIsAskedForUntilItIsAskedAgain) {
  daemon_->refuses["web"] = EPERM;
  FedStatistic& hits = statistic(interface("web"), "hits");
  EXPECT_EQ(run_until_idle(), (Log{"switches", "create web"}));
  EXPECT_EQ(hits.registration, Registration::kRefused);
  daemon_->refuses.clear();
  now_ += 10s;
  EXPECT_EQ(round(), Log{"create web"});
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(hits.registration, Registration::kRegistered);
}

// ---- lost responses

TEST_F(RegistrarTest, AnAnswerThatDoesNotComeIsAskedForAgainAfterASecond) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  EXPECT_EQ(daemon_->take()->log, Log{"create web/hits"});
  now_ += 999ms;
  EXPECT_EQ(round(), Log{});
  EXPECT_FALSE(registrar_.is_idle());
  now_ += 1ms;
  EXPECT_EQ(round(), Log{"create web/hits"});
  EXPECT_EQ(hits.registration, Registration::kRegistered);
}

TEST_F(RegistrarTest, AnAnswerThatComesLateIsTakenAndTheSecondDoesNoHarm) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  const auto first = daemon_->take();
  now_ += 1s;
  conversation_.request(now_);
  const auto second = daemon_->take();
  const wire::Response response{.sequence = first->requests.at(0).first, .number = 1ull << 32 | 5};
  daemon_->respond({response});
  conversation_.take_responses(now_);
  EXPECT_EQ(hits.number, response.number);
  wire::Response again = response;
  again.sequence = second->requests.at(0).first;
  again.made = wire::Made::kWasThere;
  daemon_->respond({again});
  conversation_.take_responses(now_);
  EXPECT_EQ(hits.number, response.number);
  EXPECT_EQ(hits.registration, Registration::kRegistered);
  EXPECT_FALSE(hits.was_there);
  EXPECT_TRUE(registrar_.is_idle());
}

TEST_F(RegistrarTest, AWarningOfTheDaemonIsReportedAndTheStatisticRegistered) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  const auto asked = daemon_->take();
  daemon_->respond({{.sequence = asked->requests.at(0).first,
                     .number = 1ull << 32 | 5,
                     .made = wire::Made::kWasThere,
                     .text = "it exists with type=range and stays so"}});
  conversation_.take_responses(now_);
  EXPECT_EQ(hits.registration, Registration::kRegistered);
  EXPECT_EQ(reports_, Log{"web/hits: it exists with type=range and stays so"});
}

// The daemon made it for the request whose response was lost.
TEST_F(RegistrarTest, WhatARepeatedRequestFindsIsOursAndDefinedAsWeSay) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  daemon_->ignores = {"create web/hits"};
  EXPECT_EQ(round(), Log{"create web/hits"});
  hits.type = "type=range range_min=0 range_max=9";
  hits.pending_type = true;
  daemon_->there = {"web/hits"};
  now_ += 1s;
  EXPECT_EQ(run_until_idle(),
            (Log{"create web/hits type=range range_min=0 range_max=9",
                 "define web name=hits default=1 type=range range_min=0 range_max=9"}));
  EXPECT_FALSE(hits.was_there);
}

TEST_F(RegistrarTest, WhatTheFirstOfTwoRequestsFoundIsAnothers) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  conversation_.request(now_);
  const auto first = daemon_->take();
  now_ += 1s;
  conversation_.request(now_);
  const auto second = daemon_->take();
  for (const auto& each : {first, second}) {
    daemon_->respond({{.sequence = each->requests.at(0).first,
                       .number = 1ull << 32 | 5,
                       .made = wire::Made::kWasThere}});
    conversation_.take_responses(now_);
    EXPECT_TRUE(hits.was_there);
  }
}

// Each is answered by a datagram, and our queue may hold ten.
TEST_F(RegistrarTest, OfManyChangesInARowFourGoAtOnceAndTheOthersTogether) {
  FedInterface& web = interface("web");
  std::vector<FedStatistic*> all;
  for (int i = 0; i < 30; ++i) all.push_back(&statistic(web, "s" + std::to_string(i)));
  run_until_idle();
  for (FedStatistic* const each : all) {
    each->pending_on = true;
    registrar_.define(*each, now_);
  }
  conversation_.request(now_);
  std::vector<std::size_t> requests;
  while (const auto datagram = daemon_->take()) requests.push_back(datagram->requests.size());
  EXPECT_EQ(requests, (std::vector<std::size_t>{1, 1, 1, 1, 26}));
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
  EXPECT_TRUE(registrar_.is_idle());
}

TEST_F(RegistrarTest, RequestsThatFindNoRoomAreSentWhenThereIsSome) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  round();
  fill();
  conversation_.request(now_);
  serve_but_fillers();
  EXPECT_EQ(round(), Log{"create web/hits"}) << "no response is awaited";
  EXPECT_EQ(hits.registration, Registration::kRegistered);
}

// Samples that go by the socket until there is a lane fill the daemon's queue themselves.
TEST_F(RegistrarTest, EachRequestOnTheWayToACellIsSentOnceThereIsRoom) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  daemon_->lane = std::make_unique<FakeLane>();
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  const std::uint64_t slot = hits.number & UINT32_MAX;
  daemon_->lane->shapes.as<Shape>()[slot].kind = static_cast<std::uint32_t>(CellKind::kIncrements);
  hits.wants_cells = true;
  registrar_.note_change_anywhere();
  Log sent;
  for (int i = 0; i < 100 && hits.binding != Registration::kRegistered; ++i) {
    fill();
    conversation_.request(now_);
    serve_but_fillers();
    const Log log = round();
    sent.insert(sent.end(), log.begin(), log.end());
  }
  EXPECT_EQ(sent, (Log{"shapes", "lane 2097152", "bind"}));
}

// A process at its limit of open files.
TEST_F(RegistrarTest, ADescriptorThatDoesNotArriveIsAskedForAgainAndReportedOnce) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  daemon_->lane = std::make_unique<FakeLane>();
  daemon_->withholds = {"switches", "shapes", "lane", "tails"};
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  const std::uint64_t slot = hits.number & UINT32_MAX;
  daemon_->lane->shapes.as<Shape>()[slot].kind = static_cast<std::uint32_t>(CellKind::kIncrements);
  hits.wants_cells = true;
  cells_.want_rings();
  registrar_.note_change_anywhere();
  EXPECT_EQ(run_until_idle(), Log{}) << "not before the back-off";
  for (const char* verb : {"switches", "shapes", "lane", "tails"}) {
    EXPECT_EQ(reports_.size(), 1u) << verb;
    const Log log = ask_again();
    ASSERT_FALSE(log.empty()) << verb;
    EXPECT_EQ(log.back().substr(0, log.back().find(' ')), verb) << "in vain";
    daemon_->withholds.erase(verb);
  }
  EXPECT_EQ(ask_again(), Log{"tails 12"});
  EXPECT_TRUE(switches_.has_page());
  EXPECT_EQ(hits.binding, Registration::kRegistered);
  EXPECT_TRUE(cells_.tails());
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_.front().find("too many files open"), std::string::npos) << reports_.front();
}

// The daemon holds each until this process ends.
TEST_F(RegistrarTest, AtMostFourLanesAreAskedForThatDoNotArrive) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  daemon_->lane = std::make_unique<FakeLane>();
  daemon_->withholds = {"lane"};
  FedStatistic& hits = statistic(interface("web"), "hits");
  hits.wants_cells = true;
  std::ptrdiff_t lanes = std::ranges::count(run_until_idle(), "lane 2097152");
  for (int i = 0; i < 10; ++i) lanes += std::ranges::count(ask_again(), "lane 2097152");
  EXPECT_EQ(lanes, 4);
}

TEST_F(RegistrarTest, ALaneThatWasNotAskedForYetIsLargeOnceThreadsWantRings) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  daemon_->lane = std::make_unique<FakeLane>();
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  hits.wants_cells = true;
  registrar_.note_change_anywhere();
  EXPECT_EQ(round(), Log{"shapes"});
  fill();
  conversation_.request(now_);
  serve_but_fillers();
  cells_.want_rings();
  EXPECT_EQ(round(), Log{"lane 4194304"});
}

TEST_F(RegistrarTest, ALaneIsAsLargeAsTheProgramsStatisticsAndTheDaemonAllow) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  daemon_->lane = std::make_unique<FakeLane>();
  daemon_->refuses["lane"] = ENOSPC;
  Conversation conversation(link_, {.other_epoch = [](std::uint64_t) {},
                                    .confirmed = [](std::uint64_t, Conversation::Taken) {},
                                    .report = [](const std::string&) {}});
  Registrar many(registry_, conversation, {switches_, shapes_, cells_},
                 {.statistics_max = 30'000});
  conversation.begin();
  Log sent;
  for (int i = 0; i < 8; ++i) {
    if (i == 2) statistic(interface("web"), "hits").wants_cells = true;
    many.note_change_anywhere();
    conversation.request(now_);
    for (std::string& each : daemon_->serve()) {
      if (each.starts_with("lane")) sent.push_back(std::move(each));
    }
    conversation.take_responses(now_);
  }
  EXPECT_EQ(sent, (Log{"lane 11874304", "lane 4194304", "lane 2097152"}));
}

TEST_F(RegistrarTest, AnswersToWhatIsGoneAreIgnored) {
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  round();
  conversation_.request(now_);
  registry_.erase(hits);
  registry_.erase(web);
  daemon_->serve();
  conversation_.take_responses(now_);
  EXPECT_TRUE(registrar_.is_idle());
  EXPECT_EQ(reports_, Log{});
}

TEST_F(RegistrarTest, WhatIsNoAnswerIsIgnored) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  daemon_->send("");
  daemon_->send("not binary");
  daemon_->send(std::string("\xFETLY\1\0\0\0", 8));
  wire::DatagramWriter writer(daemon_->epoch);
  writer.request(1, "create web");
  writer.dropped(5);
  writer.response({.sequence = 77, .number = 5});
  writer.response({.sequence = 7u << 29 | 1, .number = 5});
  daemon_->send(writer.bytes());
  conversation_.take_responses(now_);
  EXPECT_EQ(hits.number, daemon_->number_of("web/hits"));
  EXPECT_EQ(run_until_idle(), Log{});
}

}  // namespace
}  // namespace tallyfs
