// How many threads wait for the feeder, and for how long, while it is at work.
#include "fs/daemon/kernel_feeder/feeder_dialogue.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <future>
#include <thread>
#include <vector>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// A mount has eight serving threads, and one of them has to be free.
constexpr int kThreads = 8;
constexpr std::chrono::seconds kLong{10};

class FeederDialogueTest : public testing::Test {
 protected:
  using Number = FeederDialogue::Number;
  using Call = std::function<bool(FeederDialogue::Time deadline)>;

  FeederDialogueTest() : FeederDialogueTest(make_ends()) {
    dialogue_.begin(4711);
    dialogue_.open();
  }

  Number send() {
    auto turn = dialogue_.take_turn(SteadyClock::now() + kLong, {});
    return turn.value().send(wire::DrainOrder());
  }
  std::future<bool> start(const Call& call, std::chrono::milliseconds most = kLong) {
    return std::async(std::launch::async, [call, most] { return call(SteadyClock::now() + most); });
  }
  static bool is_waiting(const std::future<bool>& call, std::chrono::milliseconds at_least = 0ms) {
    return call.wait_for(at_least) == std::future_status::timeout;
  }
  // How many of all threads give up long before their deadlines.
  std::ptrdiff_t given_up(const Call& call) {
    for (int i = 0; i < kThreads; ++i) calls_.push_back(start(call));
    const auto ended = [this] {
      return std::ranges::count_if(calls_, [](const auto& each) { return !is_waiting(each); });
    };
    const auto until = SteadyClock::now() + kLong / 2;
    while (ended() < kThreads - FeederDialogue::kLongWaitsMax && SteadyClock::now() < until) {
      std::this_thread::sleep_for(10ms);
    }
    return ended();
  }
  // How many of them have succeeded.
  std::ptrdiff_t successful() {
    return std::ranges::count_if(calls_, [](auto& each) { return each.get(); });
  }

  const Fd feeder_;
  FeederDialogue dialogue_;
  std::vector<std::future<bool>> calls_;

 private:
  struct Ends {
    Fd daemon, feeder;
  };
  static Ends make_ends() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    return {Fd(ends[0]), Fd(ends[1])};
  }
  explicit FeederDialogueTest(Ends ends)
      : feeder_(std::move(ends.feeder)), dialogue_(std::move(ends.daemon), [](pid_t) {
          return FeederActivity{.state = FeederActivity::State::kAtWork};
        }) {}
};

TEST_F(FeederDialogueTest, SixThreadsAtMostWaitForLongForAnOrderOfAnother) {
  const Number number = send();
  const auto wait = [&](auto deadline) {
    return bool(dialogue_.wait_until_answered(number, deadline, {}));
  };
  EXPECT_EQ(given_up(wait), 2);
  dialogue_.answered(number, FeederDialogue::Answer());
  EXPECT_EQ(successful(), 6);
}

TEST_F(FeederDialogueTest, SixThreadsAtMostWaitForLongForTheirOwnOrders) {
  const auto wait = [&](auto deadline) { return bool(dialogue_.wait(send(), deadline, {})); };
  EXPECT_EQ(given_up(wait), 2);
  for (Number number = 1; number <= kThreads; ++number)
    dialogue_.answered(number, FeederDialogue::Answer());
  EXPECT_EQ(successful(), 6);
}

TEST_F(FeederDialogueTest, SixThreadsAtMostWaitForLongForRoom) {
  for (Number i = 0; i < FeederDialogue::kUnansweredMax; ++i) send();
  const auto wait = [&](auto deadline) { return bool(dialogue_.take_turn(deadline, {})); };
  EXPECT_EQ(given_up(wait), 2);
  dialogue_.answered(FeederDialogue::kUnansweredMax, FeederDialogue::Answer());
  EXPECT_EQ(successful(), 6);
}

// Opens wait for a tenth of a second, and texts half a second for each name.
TEST_F(FeederDialogueTest, ShortWaitsLeaveRoomForALongOne) {
  const auto wait = [&](auto deadline) { return bool(dialogue_.wait(send(), deadline, {})); };
  const auto begun = SteadyClock::now();
  for (int i = 0; i < FeederDialogue::kLongWaitsMax; ++i) calls_.push_back(start(wait, 500ms));
  EXPECT_TRUE(is_waiting(calls_.back(), 50ms) || SteadyClock::now() >= begun + 500ms);
  const Number number = send();
  const auto write = [&](auto deadline) { return bool(dialogue_.wait(number, deadline, {})); };
  const auto writing = start(write);
  EXPECT_TRUE(is_waiting(writing, FeederDialogue::kSilenceMax + 500ms));
  dialogue_.answered(number, FeederDialogue::Answer());
}

}  // namespace
}  // namespace tallyfs
