#include "fs/relay.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tallyfs {
namespace {

TEST(RelayTest, ListensFromTakeToPassOn) {
  Relay relay;
  EXPECT_FALSE(relay.listens());
  EXPECT_TRUE(relay.take());
  EXPECT_TRUE(relay.listens());
  relay.pass_on();
  EXPECT_FALSE(relay.listens());
  relay.pass_on();  // nothing to pass on
  EXPECT_TRUE(relay.take());
}

TEST(RelayConcurrentTest, OneListensAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 2'000;
  Relay relay;
  std::atomic<int> listening{0};
  std::atomic<bool> two_at_once{false};
  int turns = 0;  // the listener's
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (relay.take()) {
        if (listening.fetch_add(1) != 0) two_at_once = true;
        const bool is_last = ++turns == kTurns;
        listening.fetch_sub(1);
        if (is_last) relay.end();
        relay.pass_on();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(two_at_once);
  EXPECT_EQ(turns, kTurns);
}

TEST(RelayConcurrentTest, WhoHasWaitedLeastListensNext) {
  Relay relay;
  ASSERT_TRUE(relay.take());
  std::atomic<int> next{0};
  std::vector<std::thread> threads;
  for (int i = 1; i <= 3; ++i) {
    threads.emplace_back([&, i] {
      if (!relay.take()) return;
      next = i;
      next.notify_all();
    });
    while (relay.waiting() != static_cast<std::size_t>(i)) std::this_thread::yield();
  }
  relay.pass_on();
  next.wait(0);
  EXPECT_EQ(next, 3);
  relay.end();
  for (std::thread& thread : threads) thread.join();
}

TEST(RelayConcurrentTest, TheEndWakesWhoWaits) {
  Relay relay;
  ASSERT_TRUE(relay.take());
  std::thread waiting([&] { EXPECT_FALSE(relay.take()); });
  relay.end();
  relay.pass_on();
  waiting.join();
}

}  // namespace
}  // namespace tallyfs
