// The Registrar on a fixture: with a registry, a link, and a daemon that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fake_daemon.h"
#include "feeders/client/registrar.h"

namespace tallyfs {

using namespace std::chrono_literals;

class RegistrarTest : public testing::Test {
 protected:
  RegistrarTest() { connect(); }

  void connect() {
    ASSERT_TRUE(link_.connect());
    conversation_.begin();
  }
  FedInterface& interface(std::string_view name, unsigned flags = 0) {
    registrar_.note_change_anywhere();
    return *registry_.create_interface(name, flags).value();
  }
  FedStatistic& statistic(FedInterface& in, std::string_view name, std::string_view units = "") {
    registrar_.note_change_anywhere();
    return *registry_.create_statistic(in, name, units).value();
  }
  void start(FedStatistic& statistic) { statistic.has_begun = statistic.started = true; }

  // One exchange: what was asked, and answered at once.
  Log round() {
    conversation_.request(now_);
    Log log = daemon_->serve();
    conversation_.take_responses(now_);
    return log;
  }
  // What was asked until there was nothing more to ask.
  Log run_until_idle() {
    Log all;
    for (int i = 0; i < 1000 && !registrar_.is_idle(); ++i) {
      const Log log = round();
      all.insert(all.end(), log.begin(), log.end());
    }
    EXPECT_TRUE(registrar_.is_idle());
    return all;
  }
  // The same after the back-off.
  Log ask_again() {
    now_ += Conversation::kRefusedBackOff;
    Log all = round();
    const Log more = run_until_idle();
    all.insert(all.end(), more.begin(), more.end());
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
  std::vector<std::pair<std::uint64_t, bool>> confirmed_;  // the bool: some were stale
  Log reports_;
  Conversation conversation_{
      link_,
      {.other_epoch =
           [this](std::uint64_t epoch) {
             epochs_.push_back(epoch);
             // Before this no number of the last one may be left.
             registry_.for_each_statistic(
                 [](const FedStatistic& each) { EXPECT_EQ(each.number, 0u); });
           },
       .confirmed =
           [this](std::uint64_t sent, Conversation::Taken taken) {
             confirmed_.emplace_back(sent, taken == Conversation::Taken::kSomeStale);
           },
       .report = [this](std::string text) { reports_.push_back(std::move(text)); }}};
  Shapes shapes_;
  CellFiles cells_;
  Registrar registrar_{registry_, conversation_, {switches_, shapes_, cells_}, {}};
  std::chrono::nanoseconds now_ = 100s;
};

}  // namespace tallyfs
