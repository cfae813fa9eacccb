#include "fs/leader_followers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tallyfs {
namespace {

TEST(LeaderFollowersTest, LeadsUntilAFollowerIsPromoted) {
  LeaderFollowers group;
  EXPECT_FALSE(group.is_leader());
  EXPECT_TRUE(group.lead());
  EXPECT_TRUE(group.is_leader());
  group.promote_follower();
  EXPECT_FALSE(group.is_leader());
  group.promote_follower();  // it does not lead
  EXPECT_TRUE(group.lead());
}

TEST(LeaderFollowersConcurrentTest, OneLeadsAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 2'000;
  LeaderFollowers group;
  std::atomic<int> leading{0};
  std::atomic<bool> two_at_once{false};
  int turns = 0;  // the leader's
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (group.lead()) {
        if (leading.fetch_add(1) != 0) two_at_once = true;
        const bool is_last = ++turns == kTurns;
        leading.fetch_sub(1);
        if (is_last) group.end();
        group.promote_follower();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(two_at_once);
  EXPECT_EQ(turns, kTurns);
}

TEST(LeaderFollowersConcurrentTest, TheFollowerThatHasWaitedLeastLeadsNext) {
  LeaderFollowers group;
  ASSERT_TRUE(group.lead());
  std::atomic<int> next{0};
  std::vector<std::thread> threads;
  for (int i = 1; i <= 3; ++i) {
    threads.emplace_back([&, i] {
      if (!group.lead()) return;
      next = i;
      next.notify_all();
    });
    while (group.followers() != static_cast<std::size_t>(i)) std::this_thread::yield();
  }
  group.promote_follower();
  next.wait(0);
  EXPECT_EQ(next, 3);
  group.end();
  for (std::thread& thread : threads) thread.join();
}

TEST(LeaderFollowersConcurrentTest, TheEndWakesFollowers) {
  LeaderFollowers group;
  ASSERT_TRUE(group.lead());
  std::thread waiting([&] { EXPECT_FALSE(group.lead()); });
  group.end();
  group.promote_follower();
  waiting.join();
}

}  // namespace
}  // namespace tallyfs
