// Whether a statistic is on, as the daemon's page and the feeder say.
#include "registrar_fixture.h"

namespace tallyfs {
namespace {

TEST_F(RegistrarTest, WithoutAPageEverythingKnownIsOn) {
  FedStatistic& hits = statistic(interface("web"), "hits");
  EXPECT_FALSE(hits.is_on());
  run_until_idle();
  EXPECT_FALSE(switches_.has_page());
  EXPECT_TRUE(hits.is_on());
}

TEST_F(RegistrarTest, WithAPageAStatisticIsAsTheDaemonSwitchesIt) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedInterface& web = interface("web");
  FedStatistic& hits = statistic(web, "hits");
  FedStatistic& started = statistic(web, "started");
  start(started);
  run_until_idle();
  EXPECT_FALSE(hits.is_on());
  EXPECT_TRUE(started.is_on());
  daemon_->switch_on("web/hits");
  daemon_->switch_off("web/started");
  EXPECT_TRUE(hits.is_on());
  EXPECT_FALSE(started.is_on());
}

TEST_F(RegistrarTest, UntilAChangeIsAnsweredTheSwitchIsAsTheFeederWantsIt) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  ASSERT_FALSE(hits.is_on());
  hits.pending_on = true;
  registrar_.define(hits, now_);
  hits.set_switch(&FedStatistic::kOn);
  conversation_.ping(now_, 0);
  const auto define = daemon_->take();
  const auto ping = daemon_->take();
  daemon_->respond({{.sequence = ping->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_TRUE(hits.is_on());
  // The fake daemon does not switch it, as if a user had stopped it again.
  daemon_->respond({{.sequence = define->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_FALSE(hits.is_on());
}

TEST_F(RegistrarTest, APageThatIsNotSealedIsReportedAndEverythingIsOn) {
  daemon_->page = std::make_unique<SwitchPage>(4096, SwitchPage::Sealed::kNo);
  FedStatistic& hits = statistic(interface("web"), "hits");
  run_until_idle();
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_TRUE(hits.is_on());
}

TEST_F(RegistrarTest, AStatisticBeyondThePageIsOn) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  FedInterface& web = interface("web");
  round();
  FedStatistic& hits = statistic(web, "hits");
  conversation_.request(now_);
  const auto asked = daemon_->take();
  daemon_->respond({{.sequence = asked->requests.at(0).first, .number = 1ull << 32 | 512}});
  conversation_.take_responses(now_);
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
  run_until_idle();
  EXPECT_EQ(reports_.size(), 1u);
}

TEST_F(RegistrarTest, TheSwitchesAreAskedForAgainIfThereWasNoRoomForTheRequest) {
  daemon_->page = std::make_unique<SwitchPage>(4096);
  interface("web");
  fill();
  conversation_.request(now_);
  EXPECT_EQ(serve_but_fillers(), Log{});
  EXPECT_EQ(run_until_idle(), (Log{"switches", "create web"}));
  EXPECT_TRUE(switches_.has_page());
}

TEST_F(RegistrarTest, SwitchesThatTheDaemonRefusesAreNotAskedForAgain) {
  interface("web");
  run_until_idle();
  now_ += 100s;
  registrar_.note_change_anywhere();
  EXPECT_EQ(round(), Log{});
}

}  // namespace
}  // namespace tallyfs
