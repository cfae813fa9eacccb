#include "feeders/client/lane.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "lane_stand.h"

namespace tally {
namespace {

using Xs = std::vector<std::int64_t>;

class LaneTest : public testing::Test {
 protected:
  static constexpr std::size_t kCapacity = 8;

  void append(std::int64_t x) { lane_->append(Entry(statistic_, x, 1, at_ns(0))); }
  void append_all(std::initializer_list<std::int64_t> xs) {
    for (const auto x : xs) append(x);
  }
  bool push_nested(std::int64_t x) { return lane_->push_nested(Entry(statistic_, x, 1, at_ns(0))); }
  Xs take_nested() {
    Xs taken;
    lane_->take_nested([&](const Entry& entry) { taken.push_back(entry.x()); });
    return taken;
  }
  void set_stop(std::uint64_t position) {
    const MutexLock lock(lane_->mutex());
    lane_->set_stop(position);
  }
  void rewind() {
    const MutexLock lock(lane_->mutex());
    lane_->rewind();
  }
  void make_void(const FedStatistic& statistic) {
    const MutexLock lock(lane_->mutex());
    lane_->make_void(&statistic);
  }
  bool holds(const FedStatistic& statistic) {
    const MutexLock lock(lane_->mutex());
    bool held = lane_->has_nested();
    lane_->for_each_held([&](const Entry& entry) { held |= entry.statistic() == &statistic; });
    return held;
  }
  void forget_all() {
    const MutexLock lock(lane_->mutex());
    lane_->forget_all();
  }

  FedStatistic statistic_;
  FedStatistic other_;
  LanePointer lane_ = make_lane(kCapacity);
};

TEST_F(LaneTest, HoldsWhatWasAppendedInItsOrder) {
  append_all({5, -1, 7});
  EXPECT_EQ(held_in(*lane_), (Xs{5, -1, 7}));
  EXPECT_EQ(lane_->held(), 3u);
  consume(*lane_, 1);
  EXPECT_EQ(held_in(*lane_), (Xs{-1, 7}));
  EXPECT_EQ(lane_->head(), 3u);
}

TEST_F(LaneTest, AnEntryIsReadAsItWasWritten) {
  lane_->append(Entry(statistic_, INT64_MIN, UINT64_MAX, at_ns(123)));
  lane_->append(Entry(other_, INT64_MAX, 0, at_cycles(UINT64_MAX)));
  const MutexLock lock(lane_->mutex());
  EXPECT_EQ(lane_->entry(0).statistic(), &statistic_);
  EXPECT_EQ(lane_->entry(0).x(), INT64_MIN);
  EXPECT_EQ(lane_->entry(0).y(), UINT64_MAX);
  EXPECT_EQ(lane_->entry(0).time(), 123u);
  EXPECT_TRUE(lane_->entry(0).is_ns());
  EXPECT_EQ(lane_->entry(1).statistic(), &other_);
  EXPECT_EQ(lane_->entry(1).y(), 0u);
  EXPECT_EQ(lane_->entry(1).time(), UINT64_MAX);
  EXPECT_FALSE(lane_->entry(1).is_ns());
}

TEST_F(LaneTest, HoldsAsManyAsItsCapacity) {
  append_all({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(lane_->capacity(), 8u);
  EXPECT_EQ(held_in(*lane_), (Xs{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(LaneTest, KeepsItsOrderOverManyWraps) {
  std::int64_t next_in = 0;
  std::int64_t next_out = 0;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    for (std::uint64_t i = 0; i <= round % kCapacity; ++i) append(next_in++);
    Xs expected(round % kCapacity + 1);
    std::iota(expected.begin(), expected.end(), next_out);
    ASSERT_EQ(held_in(*lane_), expected);
    consume(*lane_, expected.size());
    next_out = next_in;
  }
}

TEST_F(LaneTest, RewindKeepsTheOrderOverManyWraps) {
  std::int64_t next = 0;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    const std::uint64_t more = round * 5 % (kCapacity + 1);
    Xs expected(more);
    std::iota(expected.begin(), expected.end(), next);
    for (std::uint64_t i = 0; i < more; ++i) append(next++);
    ASSERT_EQ(held_in(*lane_), expected);
    consume(*lane_, more);
    if (round % 3 != 0) rewind();
  }
}

TEST_F(LaneTest, RewindPutsWhatComesNextWhereTheFirstWas) {
  append_all({1, 2, 3});
  const Entry* first = nullptr;
  {
    const MutexLock lock(lane_->mutex());
    first = &lane_->entry(0);
    lane_->consume(3);
    lane_->rewind();
  }
  append(4);
  const MutexLock lock(lane_->mutex());
  EXPECT_EQ(&lane_->entry(3), first);
}

TEST_F(LaneTest, IsBelowItsStopUntilTheHeadReachesIt) {
  EXPECT_FALSE(lane_->below_stop());
  set_stop(2);
  EXPECT_TRUE(lane_->below_stop());
  append(1);
  EXPECT_TRUE(lane_->below_stop());
  append(2);
  EXPECT_FALSE(lane_->below_stop());
  set_stop(0);
  EXPECT_FALSE(lane_->below_stop());
}

TEST_F(LaneTest, ANewLaneStopsAtItsFirstSample) { EXPECT_FALSE(make_lane(16)->below_stop()); }

TEST_F(LaneTest, WhatIsDroppedIsCounted) {
  append(1);
  lane_->drop();
  lane_->drop();
  EXPECT_EQ(lane_->dropped(), 2u);
  EXPECT_EQ(lane_->held(), 1u);
}

TEST_F(LaneTest, NestedEntriesAreTakenInTheirOrderOnce) {
  EXPECT_FALSE(lane_->has_nested());
  EXPECT_TRUE(push_nested(3));
  EXPECT_TRUE(push_nested(1));
  EXPECT_TRUE(lane_->has_nested());
  EXPECT_EQ(take_nested(), (Xs{3, 1}));
  EXPECT_FALSE(lane_->has_nested());
  EXPECT_EQ(take_nested(), Xs{});
}

TEST_F(LaneTest, Of64NestedEntriesNoneIsDropped) {
  Xs all(64);
  std::iota(all.begin(), all.end(), 0);
  for (const auto x : all) ASSERT_TRUE(push_nested(x));
  EXPECT_EQ(take_nested(), all);
  EXPECT_EQ(lane_->dropped(), 0u);
}

TEST_F(LaneTest, NestedEntriesBeyond64AreDroppedAndCounted) {
  Xs first(64);
  std::iota(first.begin(), first.end(), 0);
  for (const auto x : first) ASSERT_TRUE(push_nested(x));
  EXPECT_FALSE(push_nested(64));
  EXPECT_FALSE(push_nested(65));
  EXPECT_EQ(take_nested(), first);
  EXPECT_EQ(lane_->dropped(), 2u);
  EXPECT_TRUE(push_nested(66));
  EXPECT_EQ(take_nested(), Xs{66});
  EXPECT_EQ(lane_->dropped(), 2u);
}

// As a handler does that interrupts the owner while it takes others in.
TEST_F(LaneTest, WhatNestsWhileNestedEntriesAreTakenIsTakenToo) {
  push_nested(1);
  Xs taken;
  lane_->take_nested([&](const Entry& entry) {
    taken.push_back(entry.x());
    if (entry.x() < 5) push_nested(entry.x() + 1);
  });
  EXPECT_EQ(taken, (Xs{1, 2, 3, 4, 5}));
  EXPECT_FALSE(lane_->has_nested());
}

TEST_F(LaneTest, WhatNestsBeyond64WhileOthersAreTakenIsDroppedAndCounted) {
  push_nested(0);
  Xs taken;
  unsigned refused = 0;
  lane_->take_nested([&](const Entry& entry) {
    taken.push_back(entry.x());
    for (int i = 0; i < 2; ++i) refused += push_nested(1) ? 0 : 1;
  });
  EXPECT_EQ(taken.size(), 64u);
  EXPECT_EQ(taken.size() + refused, 129u);
  EXPECT_EQ(lane_->dropped(), refused);
}

TEST_F(LaneTest, MakeVoidTakesTheStatisticFromItsEntriesOnly) {
  append(1);
  lane_->append(Entry(other_, 2, 1, at_ns(0)));
  append(3);
  make_void(statistic_);
  const MutexLock lock(lane_->mutex());
  EXPECT_EQ(lane_->entry(0).statistic(), nullptr);
  EXPECT_EQ(lane_->entry(1).statistic(), &other_);
  EXPECT_EQ(lane_->entry(2).statistic(), nullptr);
  EXPECT_EQ(lane_->held(), 3u);
}

TEST_F(LaneTest, MakeVoidFindsWhatLiesBeyondTheWrap) {
  append_all({1, 2, 3, 4, 5, 6});
  consume(*lane_, 6);
  append_all({7, 8, 9, 10});
  make_void(statistic_);
  EXPECT_FALSE(holds(statistic_));
}

TEST_F(LaneTest, HoldsAStatisticUntilItsLastEntryIsConsumed) {
  EXPECT_FALSE(holds(statistic_));
  append_all({1, 2});
  lane_->append(Entry(other_, 3, 1, at_ns(0)));
  EXPECT_TRUE(holds(statistic_));
  consume(*lane_, 2);
  EXPECT_FALSE(holds(statistic_));
  EXPECT_TRUE(holds(other_));
  make_void(other_);
  EXPECT_FALSE(holds(other_));
}

// The program may remove a statistic as soon as its handler has returned; the thread that the
// handler interrupted takes the entry in later, and must not find that its statistic is freed.
TEST_F(LaneTest, HoldsAStatisticThatOnlyANestedEntryNames) {
  push_nested(1);
  EXPECT_TRUE(holds(statistic_));
}

TEST_F(LaneTest, ALaneHasOneOwnerAtATime) {
  EXPECT_FALSE(lane_->try_own());
  lane_->disown();
  EXPECT_TRUE(lane_->try_own());
  EXPECT_FALSE(lane_->try_own());
}

TEST_F(LaneTest, TheNextOwnerGoesOnBehindWhatTheLastOneLeft) {
  append_all({1, 2});
  lane_->disown();
  ASSERT_TRUE(lane_->try_own());
  append(3);
  EXPECT_EQ(held_in(*lane_), (Xs{1, 2, 3}));
}

TEST_F(LaneTest, ForgetsAllAndStartsAnew) {
  append_all({1, 2, 3});
  consume(*lane_, 1);
  lane_->drop();
  push_nested(4);
  set_stop(8);
  forget_all();
  EXPECT_EQ(lane_->held(), 0u);
  EXPECT_EQ(lane_->head(), 0u);
  EXPECT_EQ(lane_->dropped(), 0u);
  EXPECT_FALSE(lane_->has_nested());
  EXPECT_FALSE(lane_->below_stop());
  append_all({5, 6, 7, 8, 9});
  EXPECT_EQ(held_in(*lane_), (Xs{5, 6, 7, 8, 9}));
}

TEST_F(LaneTest, IsInsideBetweenEnterAndLeave) {
  EXPECT_FALSE(lane_->is_inside());
  lane_->enter();
  EXPECT_TRUE(lane_->is_inside());
  lane_->leave();
  EXPECT_FALSE(lane_->is_inside());
}

// ---- with threads

// Something has happened that another thread may wait for. It orders nothing: that is the lane's.
class Bell {
 public:
  std::uint32_t rung() const { return rung_.load(std::memory_order_relaxed); }
  void ring() {
    rung_.fetch_add(1, std::memory_order_relaxed);
    rung_.notify_all();
  }
  // Until it rings again after it had rung so often.
  void wait(std::uint32_t rung) const { rung_.wait(rung, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> rung_{0};
};

// A lane between a thread that owns it and one that takes from it.
class Belt {
 public:
  explicit Belt(std::size_t capacity) : lane_(make_lane(capacity)) {}
  Lane& lane() { return *lane_; }

  // The owner's side as Client::add() has it: below the stop it appends, at the stop it looks.
  void produce(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to; ++i) {
      if (!lane_->below_stop()) look_around();
      lane_->append(Entry(statistic_, static_cast<std::int64_t>(i), i * 3, at_ns(i)));
      if (i % (lane_->capacity() / 2) == 0) filled_.ring();
    }
    filled_.ring();
  }
  // Takes so many, under the mutex, as a sender does. False: not every one once, and in order.
  bool take(std::uint64_t until) {
    while (taken_ != until) {
      const std::uint32_t rung = filled_.rung();
      if (!take_what_is_there()) filled_.wait(rung);
    }
    return in_order_;
  }

 private:
  void look_around() {
    for (;;) {
      const std::uint32_t rung = emptied_.rung();
      {
        const MutexLock lock(lane_->mutex());
        if (lane_->held() == 0) lane_->rewind();
        lane_->set_stop(lane_->tail() + lane_->capacity());
        if (lane_->held() < lane_->capacity()) return;
      }
      filled_.ring();
      emptied_.wait(rung);
    }
  }
  bool take_what_is_there() {
    std::uint64_t held = 0;
    {
      const MutexLock lock(lane_->mutex());
      held = lane_->held();
      for (std::uint64_t i = 0; i != held; ++i, ++taken_) {
        const Entry& entry = lane_->entry(lane_->tail() + i);
        in_order_ &= entry.x() == static_cast<std::int64_t>(taken_) && entry.y() == taken_ * 3;
      }
      lane_->consume(held);
      lane_->set_stop(0);  // nobody but the owner raises it
    }
    emptied_.ring();
    return held != 0;
  }

  const LanePointer lane_;
  FedStatistic statistic_;
  Bell filled_;
  Bell emptied_;
  std::uint64_t taken_ = 0;
  bool in_order_ = true;
};

TEST(LaneConcurrentTest, AThreadThatTakesGetsEveryEntryOnceAndInOrder) {
  constexpr std::uint64_t kSamples = 50'000;
  Belt belt(1024);
  std::thread producer([&] { belt.produce(0, kSamples); });
  EXPECT_TRUE(belt.take(kSamples));
  producer.join();
  EXPECT_EQ(belt.lane().held(), 0u);
  EXPECT_EQ(belt.lane().head(), kSamples);
}

TEST(LaneConcurrentTest, ThreadsThatOwnItInTurnKeepTheOrder) {
  constexpr std::uint64_t kEach = 5'000;
  constexpr std::uint32_t kThreads = 4;
  Belt belt(512);
  belt.lane().disown();
  Bell turn;
  std::vector<std::thread> owners;
  for (std::uint32_t n = 0; n < kThreads; ++n) {
    owners.emplace_back([&, n] {
      for (std::uint32_t rung = turn.rung(); rung != n; rung = turn.rung()) turn.wait(rung);
      // What hands the lane over is this alone.
      while (!belt.lane().try_own()) {
      }
      belt.produce(n * kEach, (n + 1) * kEach);
      belt.lane().disown();
      turn.ring();
    });
  }
  EXPECT_TRUE(belt.take(kThreads * kEach));
  for (auto& owner : owners) owner.join();
}

TEST(LaneConcurrentTest, OfThreadsThatWantItOneOwnsIt) {
  const LanePointer lane = make_lane(16);
  lane->disown();
  std::atomic<int> owners{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { owners += lane->try_own() ? 1 : 0; });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(owners, 1);
}

// Pages of the lane that memory stands behind.
std::size_t resident_pages(const Lane& lane) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = sizeof(Lane) + lane.capacity() * sizeof(Entry);
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  EXPECT_EQ(::mincore(const_cast<Lane*>(&lane), bytes, pages.data()), 0);
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](auto each) { return each & 1; }));
}

TEST_F(LaneTest, MemoryThatWasFilledOnceIsGivenBackWhenItIsEmpty) {
  constexpr std::size_t kLarge = 65'536;
  lane_ = make_lane(kLarge);
  const std::size_t before = resident_pages(*lane_);
  for (std::size_t i = 0; i < kLarge; ++i) append(1);
  const std::size_t full = resident_pages(*lane_);
  EXPECT_GT(full, before);
  {
    const MutexLock lock(lane_->mutex());
    lane_->consume(kLarge);
    lane_->rewind();
    EXPECT_FALSE(lane_->has_grown());
  }
  const std::size_t left = resident_pages(*lane_);
  const std::size_t kept_bytes = Lane::kEntriesKept * sizeof(Entry);
  EXPECT_LE(left, before + kept_bytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + 2);
  append_all({5, 6, 7});
  EXPECT_EQ(held_in(*lane_), (Xs{5, 6, 7}));
}

}  // namespace
}  // namespace tally
