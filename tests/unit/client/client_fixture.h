// The Client on a fixture, with a daemon that the test plays. Except where a test says so there
// is no background thread: the tests make its rounds themselves, one after the other.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fake_daemon.h"
#include "feeders/client/client.h"

namespace tallyfs {

using namespace std::chrono_literals;
using Xs = std::vector<std::int64_t>;

// A Client of a thread, with the buffer of that thread.
class Feeder {
 public:
  enum class Upkeep { kNone, kRuns };

  explicit Feeder(Client::Settings settings, Upkeep upkeep = Upkeep::kNone)
      : client(std::move(settings)), buffer(own_buffer()) {
    // A Client that has ended starts no thread.
    if (upkeep == Upkeep::kNone) client.finish(0ms);
  }
  ThreadBuffer* own_buffer() {
    ThreadBuffers::Search search;
    return client.buffers().own(search);
  }
  FedInterface& interface(const char* name) {
    FedInterface* made = nullptr;
    EXPECT_EQ(client.statistics().create_interface(&made, name, 0), 0);
    return *made;
  }
  FedStatistic& statistic(FedInterface& in, const char* name) {
    FedStatistic* made = nullptr;
    EXPECT_EQ(client.statistics().create_statistic(&made, in, name, ""), 0);
    return *made;
  }
  FedStatistic& started(FedInterface& in, const char* name) {
    FedStatistic& made = statistic(in, name);
    EXPECT_EQ(client.statistics().switch_on(made), 0);
    return made;
  }
  // As statistic_add() does.
  void add(FedStatistic& to, std::int64_t x, std::uint64_t y = 1) { add_by(*buffer, to, x, y); }
  void add_by(ThreadBuffer& by, FedStatistic& to, std::int64_t x, std::uint64_t y = 1) {
    if (to.is_on()) client.samples().add(&by, to, x, y);
  }
  statistic_counts counts() const {
    statistic_counts counts{};
    client.count(counts);
    EXPECT_EQ(counts.added, counts.held + counts.sent + counts.dropped);
    EXPECT_GE(counts.sent, counts.confirmed + counts.lost);
    return counts;
  }

  Client client;
  ThreadBuffer* const buffer;
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

}  // namespace tallyfs
