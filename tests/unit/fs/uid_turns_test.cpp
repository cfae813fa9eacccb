#include "fs/uid_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tallyfs {
namespace {

constexpr uid_t kReader = 1000, kOther = 1001;

// Is never looked at.
fuse_req_t request_of(int number) {
  return reinterpret_cast<fuse_req_t>(static_cast<std::uintptr_t>(number) * 16);
}

// Works of one thread: each begins while the one before is under way.
class UidTurnsTest : public testing::Test {
 protected:
  void run(uid_t uid, int number, const std::function<void()>& meanwhile = [] {}) {
    turns_.run(uid, request_of(number), [this, number, meanwhile](UidTurns::Start start) {
      begun_.push_back(start == UidTurns::Start::kAtOnce ? number : -number);
      meanwhile();
    });
  }

  UidTurns turns_;
  std::vector<int> begun_;  // negative: it had waited
};

TEST_F(UidTurnsTest, FurtherOnesOfAnUidWaitInTheirOrder) {
  run(kReader, 1, [&] {
    run(kReader, 2, [&] {
      run(kReader, 3);
      run(kReader, 4);
      run(kOther, 5);
      EXPECT_EQ(begun_, (std::vector{1, 2, 5}));
    });
    EXPECT_EQ(begun_, (std::vector{1, 2, 5, -3, -4}));
  });
  run(kReader, 6);
  EXPECT_EQ(begun_, (std::vector{1, 2, 5, -3, -4, 6}));
}

TEST_F(UidTurnsTest, SoManyOfAllAreAtWorkAndTheUidsHaveTurns) {
  const auto begin = [&](const auto& again, uid_t uid) -> void {
    if (uid == 3) {  // six are at work
      run(0, 10);
      run(0, 11);
      run(5, 12);
      run(2, 13);
      EXPECT_EQ(begun_, (std::vector{0, 1, 100, 101, 200, 201}));
      return;
    }
    const int number = static_cast<int>(uid) * 100;
    run(uid, number, [&] { run(uid, number + 1, [&] { again(again, uid + 1); }); });
  };
  begin(begin, 0);
  // Behind 201, of uid 2: uid 5, from where the uids begin again.
  EXPECT_EQ(begun_, (std::vector{0, 1, 100, 101, 200, 201, -12, -13, -10, -11}));
}

TEST_F(UidTurnsTest, NothingThatWaitsBeginsAfterTheEnd) {
  run(kReader, 1, [&] {
    run(kReader, 2, [&] {
      run(kReader, 3);
      turns_.end();
      run(kReader, 4);
    });
  });
  EXPECT_EQ(begun_, (std::vector{1, 2}));
  EXPECT_EQ(turns_.take_left(), (std::vector{request_of(3), request_of(4)}));
  EXPECT_TRUE(turns_.take_left().empty());
}

TEST(UidTurnsConcurrentTest, SoManyOfAnUidAreAtWorkAndEachIsServed) {
  constexpr int kThreads = 6, kRequests = 500;
  UidTurns turns;
  std::atomic<int> at_work{0}, most{0}, served{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kRequests; ++j) {
        turns.run(kReader, request_of(1), [&](UidTurns::Start) {
          const int now = at_work.fetch_add(1) + 1;
          for (int seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          at_work.fetch_sub(1);
          served.fetch_add(1);
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served.load(), kThreads * kRequests);
  EXPECT_LE(most.load(), static_cast<int>(UidTurns::kAtOnceMax));
}

}  // namespace
}  // namespace tallyfs
