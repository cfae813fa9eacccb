#include "feeders/client/latency_sender.h"

#include <sys/wait.h>

#include <functional>

#include "fake_daemon.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

class LatencySenderTest : public testing::Test {
 protected:
  // Each a pause after the one before, so that it tries anew to connect.
  int send(std::string_view type) {
    return sender_.send(type, {.latency_ns = 1'000}, now_ += LatencySender::kConnectPause);
  }
  void report_dropped() { sender_.report_dropped(now_); }
  int in_child(const std::function<void()>& what) {
    const pid_t child = ::fork();
    if (child == 0) {
      sender_.after_fork_in_child();
      what();
      ::_exit(HasFailure() ? 99 : 0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  LatencySender sender_{SocketPath{.path = path_}};
  std::chrono::nanoseconds now_ = 1s;
};

TEST_F(LatencySenderTest, WhatWasDroppedIsToldOnceWithTheNextOfItsDirectory) {
  EXPECT_EQ(send("one"), -ENOTCONN);
  EXPECT_EQ(send("one"), -ENOTCONN);
  FakeDaemon daemon(path_);
  EXPECT_EQ(send("one"), 0);
  EXPECT_EQ(send("one"), 0);
  EXPECT_EQ(daemon.serve(), (Log{"dropped 2", "latencies one 1", "latencies one 1"}));
}

TEST_F(LatencySenderTest, AChildTellsNothingOfWhatItsParentHasDropped) {
  EXPECT_EQ(send("one"), -ENOTCONN);
  FakeDaemon daemon(path_);
  for (int child = 0; child < 3; ++child) {
    EXPECT_EQ(in_child([&] {
                EXPECT_EQ(send("one"), 0);
                report_dropped();
              }),
              0);
  }
  EXPECT_EQ(daemon.serve(), (Log{"latencies one 1", "latencies one 1", "latencies one 1"}));
  report_dropped();
  EXPECT_EQ(daemon.serve(), (Log{"dropped 1", "latencies one 0"}));
}

TEST_F(LatencySenderTest, AChildTellsWhatItHasDroppedItself) {
  EXPECT_EQ(send("one"), -ENOTCONN);
  std::optional<FakeDaemon> daemon;
  EXPECT_EQ(in_child([&] {
              EXPECT_EQ(send("one"), -ENOTCONN);
              EXPECT_EQ(send("one"), -ENOTCONN);
              daemon.emplace(path_);
              report_dropped();
              EXPECT_EQ(daemon->serve(), (Log{"dropped 2", "latencies one 0"}));
            }),
            0);
}

}  // namespace
}  // namespace tallyfs
