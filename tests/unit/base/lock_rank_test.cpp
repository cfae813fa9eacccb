#include "core/base/lock_rank.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/mutex.h"

namespace tallyfs {
namespace {

TEST(LockRankTest, LetsLocksBeTakenInTheirOrder) {
  Mutex first{LockRank::kTracing}, second{LockRank::kLedger}, third{LockRank::kTree};
  const MutexLock one(first);
  { const MutexLock two(second); }
  const MutexLock three(third);
}

TEST(LockRankTest, LetsThreadBuffersBeHeldTogether) {
  Mutex one{LockRank::kThreadBuffer}, other{LockRank::kThreadBuffer};
  const MutexLock first(one);
  const MutexLock second(other);
}

TEST(LockRankTest, LooksAtEachThreadByItself) {
  Mutex outer{LockRank::kTracing}, inner{LockRank::kTree};
  const MutexLock lock(inner);
  std::thread([&outer] { const MutexLock other(outer); }).join();
}

#ifdef TALLYFS_LOCK_RANKS

// Takes the second while the first is held.
void take_both(LockRank first, LockRank second) {
  Mutex one{first}, other{second};
  const MutexLock outer(one);
  const MutexLock inner(other);
}

TEST(LockRankDeathTest, AbortsAtAWrongOrderWithBothNames) {
  EXPECT_DEATH(take_both(LockRank::kTree, LockRank::kTracing),
               "kTracing is taken while kTree is held");
}

TEST(LockRankDeathTest, AbortsAtTwoOfOneRank) {
  EXPECT_DEATH(take_both(LockRank::kInterface, LockRank::kInterface),
               "kInterface is taken while kInterface is held");
}

TEST(LockRankDeathTest, ChecksWhatIsLockedAfterATry) {
  Mutex tried{LockRank::kTree}, outer{LockRank::kTracing};
  const MutexLock held(outer);
  if (!tried.try_lock()) FAIL() << "no other thread holds it";
  EXPECT_DEATH(
      {
        Mutex between{LockRank::kLedger};
        const MutexLock lock(between);
      },
      "kLedger is taken while kTree is held");
  tried.unlock();
}

TEST(LockRankTest, LetsALockBeTriedInAnyOrder) {
  Mutex inner{LockRank::kTree}, outer{LockRank::kTracing};
  const MutexLock held(inner);
  if (!outer.try_lock()) FAIL() << "no other thread holds it";
  outer.unlock();
}

#endif

}  // namespace
}  // namespace tallyfs
