#include "feeders/client/thread_buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "thread_buffer_fixture.h"

namespace tallyfs {
namespace {

using Xs = std::vector<std::int64_t>;

class ThreadBufferTest : public testing::Test {
 protected:
  static constexpr std::size_t kCapacity = 8;

  void append(std::int64_t x) { buffer_->append(UnsentSample(statistic_, x, 1, at_ns(0))); }
  void append_all(std::initializer_list<std::int64_t> xs) {
    for (const auto x : xs) append(x);
  }
  bool push_nested(std::int64_t x) {
    return buffer_->push_nested(UnsentSample(statistic_, x, 1, at_ns(0)));
  }
  Xs process_nested() {
    Xs taken;
    buffer_->process_nested([&](const UnsentSample& entry) { taken.push_back(entry.x()); });
    return taken;
  }
  void set_stop(std::uint64_t position) {
    const MutexLock lock(buffer_->mutex());
    buffer_->set_stop(position);
  }
  void rewind() {
    const MutexLock lock(buffer_->mutex());
    buffer_->rewind();
  }
  void make_void(const FedStatistic& statistic) {
    const MutexLock lock(buffer_->mutex());
    buffer_->make_void(&statistic);
  }
  bool holds(const FedStatistic& statistic) {
    const MutexLock lock(buffer_->mutex());
    bool held = buffer_->has_nested();
    buffer_->for_each_held(
        [&](const UnsentSample& entry) { held |= entry.statistic() == &statistic; });
    return held;
  }
  void forget_all() {
    const MutexLock lock(buffer_->mutex());
    buffer_->forget_all();
  }

  FedStatistic statistic_;
  FedStatistic other_;
  BufferPointer buffer_ = make_buffer(kCapacity);
};

TEST_F(ThreadBufferTest, HoldsWhatWasAppendedInItsOrder) {
  append_all({5, -1, 7});
  EXPECT_EQ(held_in(*buffer_), (Xs{5, -1, 7}));
  EXPECT_EQ(buffer_->held(), 3u);
  consume(*buffer_, 1);
  EXPECT_EQ(held_in(*buffer_), (Xs{-1, 7}));
  EXPECT_EQ(buffer_->head(), 3u);
}

TEST_F(ThreadBufferTest, AnEntryIsReadAsItWasWritten) {
  buffer_->append(UnsentSample(statistic_, INT64_MIN, UINT64_MAX, at_ns(123)));
  buffer_->append(UnsentSample(other_, INT64_MAX, 0, at_cycles(UINT64_MAX)));
  const MutexLock lock(buffer_->mutex());
  EXPECT_EQ(buffer_->entry(0).statistic(), &statistic_);
  EXPECT_EQ(buffer_->entry(0).x(), INT64_MIN);
  EXPECT_EQ(buffer_->entry(0).y(), UINT64_MAX);
  EXPECT_EQ(buffer_->entry(0).time(), 123u);
  EXPECT_TRUE(buffer_->entry(0).is_ns());
  EXPECT_EQ(buffer_->entry(1).statistic(), &other_);
  EXPECT_EQ(buffer_->entry(1).y(), 0u);
  EXPECT_EQ(buffer_->entry(1).time(), UINT64_MAX);
  EXPECT_FALSE(buffer_->entry(1).is_ns());
}

TEST_F(ThreadBufferTest, HoldsAsManyAsItsCapacity) {
  append_all({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(buffer_->capacity(), 8u);
  EXPECT_EQ(held_in(*buffer_), (Xs{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(ThreadBufferTest, KeepsItsOrderOverManyWraps) {
  std::int64_t next_in = 0;
  std::int64_t next_out = 0;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    for (std::uint64_t i = 0; i <= round % kCapacity; ++i) append(next_in++);
    Xs expected(round % kCapacity + 1);
    std::iota(expected.begin(), expected.end(), next_out);
    ASSERT_EQ(held_in(*buffer_), expected);
    consume(*buffer_, expected.size());
    next_out = next_in;
  }
}

TEST_F(ThreadBufferTest, RewindKeepsTheOrderOverManyWraps) {
  std::int64_t next = 0;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    const std::uint64_t more = round * 5 % (kCapacity + 1);
    Xs expected(more);
    std::iota(expected.begin(), expected.end(), next);
    for (std::uint64_t i = 0; i < more; ++i) append(next++);
    ASSERT_EQ(held_in(*buffer_), expected);
    consume(*buffer_, more);
    if (round % 3 != 0) rewind();
  }
}

TEST_F(ThreadBufferTest, RewindPutsWhatComesNextWhereTheFirstWas) {
  append_all({1, 2, 3});
  const UnsentSample* first = nullptr;
  {
    const MutexLock lock(buffer_->mutex());
    first = &buffer_->entry(0);
    buffer_->consume(3);
    buffer_->rewind();
  }
  append(4);
  const MutexLock lock(buffer_->mutex());
  EXPECT_EQ(&buffer_->entry(3), first);
}

TEST_F(ThreadBufferTest, IsBelowItsStopUntilTheHeadReachesIt) {
  EXPECT_FALSE(buffer_->below_stop());
  set_stop(2);
  EXPECT_TRUE(buffer_->below_stop());
  append(1);
  EXPECT_TRUE(buffer_->below_stop());
  append(2);
  EXPECT_FALSE(buffer_->below_stop());
  set_stop(0);
  EXPECT_FALSE(buffer_->below_stop());
}

TEST_F(ThreadBufferTest, ANewBufferStopsAtItsFirstSample) {
  EXPECT_FALSE(make_buffer(16)->below_stop());
}

TEST_F(ThreadBufferTest, WhatIsDroppedIsCounted) {
  append(1);
  buffer_->drop();
  buffer_->drop();
  EXPECT_EQ(buffer_->dropped(), 2u);
  EXPECT_EQ(buffer_->held(), 1u);
}

TEST_F(ThreadBufferTest, NestedEntriesAreTakenInTheirOrderOnce) {
  EXPECT_FALSE(buffer_->has_nested());
  EXPECT_TRUE(push_nested(3));
  EXPECT_TRUE(push_nested(1));
  EXPECT_TRUE(buffer_->has_nested());
  EXPECT_EQ(process_nested(), (Xs{3, 1}));
  EXPECT_FALSE(buffer_->has_nested());
  EXPECT_EQ(process_nested(), Xs{});
}

TEST_F(ThreadBufferTest, Of64NestedEntriesNoneIsDropped) {
  Xs all(64);
  std::iota(all.begin(), all.end(), 0);
  for (const auto x : all) ASSERT_TRUE(push_nested(x));
  EXPECT_EQ(process_nested(), all);
  EXPECT_EQ(buffer_->dropped(), 0u);
}

TEST_F(ThreadBufferTest, NestedEntriesBeyond64AreDroppedAndCounted) {
  Xs first(64);
  std::iota(first.begin(), first.end(), 0);
  for (const auto x : first) ASSERT_TRUE(push_nested(x));
  EXPECT_FALSE(push_nested(64));
  EXPECT_FALSE(push_nested(65));
  EXPECT_EQ(process_nested(), first);
  EXPECT_EQ(buffer_->dropped(), 2u);
  EXPECT_TRUE(push_nested(66));
  EXPECT_EQ(process_nested(), Xs{66});
  EXPECT_EQ(buffer_->dropped(), 2u);
}

// As a handler does that interrupts the owner while it takes others in.
TEST_F(ThreadBufferTest, WhatNestsWhileNestedEntriesAreTakenIsTakenToo) {
  push_nested(1);
  Xs taken;
  buffer_->process_nested([&](const UnsentSample& entry) {
    taken.push_back(entry.x());
    if (entry.x() < 5) push_nested(entry.x() + 1);
  });
  EXPECT_EQ(taken, (Xs{1, 2, 3, 4, 5}));
  EXPECT_FALSE(buffer_->has_nested());
}

TEST_F(ThreadBufferTest, WhatNestsBeyond64WhileOthersAreTakenIsDroppedAndCounted) {
  push_nested(0);
  Xs taken;
  unsigned refused = 0;
  buffer_->process_nested([&](const UnsentSample& entry) {
    taken.push_back(entry.x());
    for (int i = 0; i < 2; ++i) refused += push_nested(1) ? 0 : 1;
  });
  EXPECT_EQ(taken.size(), 64u);
  EXPECT_EQ(taken.size() + refused, 129u);
  EXPECT_EQ(buffer_->dropped(), refused);
}

// Also where the handler that forks has interrupted the taking of nested entries: the child's own
// is behind them.
TEST_F(ThreadBufferTest, AChildForgetsTheCallWhicheverNestedEntryItWasTaking) {
  for (const std::int64_t at : {1, 2, 3}) {
    for (const std::int64_t x : {1, 2, 3}) push_nested(x);
    Xs taken;
    int forgotten = 0;
    buffer_->process_nested([&](const UnsentSample& entry) {
      if (!entry.statistic()) {
        const MutexLock lock(buffer_->mutex());
        forgotten += 1;
        return buffer_->forget_parents_call();
      }
      taken.push_back(entry.x());
      if (entry.x() == at) {
        const MutexLock lock(buffer_->mutex());
        buffer_->forget_all();
        buffer_->expect_parents_call();
        push_nested(9);
      }
      buffer_->append(entry);
      buffer_->count_cell();
    });
    Xs wanted{1, 2, 3};
    wanted.resize(static_cast<std::size_t>(at));
    wanted.push_back(9);
    EXPECT_EQ(taken, wanted);
    EXPECT_EQ(forgotten, 1);
    EXPECT_EQ(buffer_->held(), 1u);
    EXPECT_EQ(buffer_->counted(), 1u);
    EXPECT_FALSE(buffer_->has_nested());
    const MutexLock lock(buffer_->mutex());
    EXPECT_EQ(buffer_->entry(0).x(), 9);
    buffer_->forget_all();
  }
}

TEST_F(ThreadBufferTest, MakeVoidTakesTheStatisticFromItsEntriesOnly) {
  append(1);
  buffer_->append(UnsentSample(other_, 2, 1, at_ns(0)));
  append(3);
  make_void(statistic_);
  const MutexLock lock(buffer_->mutex());
  EXPECT_EQ(buffer_->entry(0).statistic(), nullptr);
  EXPECT_EQ(buffer_->entry(1).statistic(), &other_);
  EXPECT_EQ(buffer_->entry(2).statistic(), nullptr);
  EXPECT_EQ(buffer_->held(), 3u);
}

TEST_F(ThreadBufferTest, MakeVoidFindsWhatLiesBeyondTheWrap) {
  append_all({1, 2, 3, 4, 5, 6});
  consume(*buffer_, 6);
  append_all({7, 8, 9, 10});
  make_void(statistic_);
  EXPECT_FALSE(holds(statistic_));
}

TEST_F(ThreadBufferTest, HoldsAStatisticUntilItsLastEntryIsConsumed) {
  EXPECT_FALSE(holds(statistic_));
  append_all({1, 2});
  buffer_->append(UnsentSample(other_, 3, 1, at_ns(0)));
  EXPECT_TRUE(holds(statistic_));
  consume(*buffer_, 2);
  EXPECT_FALSE(holds(statistic_));
  EXPECT_TRUE(holds(other_));
  make_void(other_);
  EXPECT_FALSE(holds(other_));
}

// The program may remove a statistic as soon as its handler has returned; the thread that the
// handler interrupted takes the entry in later, and must not find that its statistic is freed.
TEST_F(ThreadBufferTest, HoldsAStatisticThatOnlyANestedEntryNames) {
  push_nested(1);
  EXPECT_TRUE(holds(statistic_));
}

TEST_F(ThreadBufferTest, ABufferHasOneOwnerAtATime) {
  EXPECT_FALSE(buffer_->try_own());
  buffer_->disown();
  EXPECT_TRUE(buffer_->try_own());
  EXPECT_FALSE(buffer_->try_own());
}

TEST_F(ThreadBufferTest, TheNextOwnerGoesOnBehindWhatTheLastOneLeft) {
  append_all({1, 2});
  buffer_->disown();
  ASSERT_TRUE(buffer_->try_own());
  append(3);
  EXPECT_EQ(held_in(*buffer_), (Xs{1, 2, 3}));
}

TEST_F(ThreadBufferTest, ForgetsAllAndStartsAnew) {
  append_all({1, 2, 3});
  consume(*buffer_, 1);
  buffer_->drop();
  push_nested(4);
  set_stop(8);
  forget_all();
  EXPECT_EQ(buffer_->held(), 0u);
  EXPECT_EQ(buffer_->head(), 0u);
  EXPECT_EQ(buffer_->dropped(), 0u);
  EXPECT_FALSE(buffer_->has_nested());
  EXPECT_FALSE(buffer_->below_stop());
  append_all({5, 6, 7, 8, 9});
  EXPECT_EQ(held_in(*buffer_), (Xs{5, 6, 7, 8, 9}));
}

TEST_F(ThreadBufferTest, IsInsideBetweenEnterAndLeave) {
  EXPECT_FALSE(buffer_->is_inside());
  buffer_->enter();
  EXPECT_TRUE(buffer_->is_inside());
  buffer_->leave();
  EXPECT_FALSE(buffer_->is_inside());
}

// Pages of the buffer that memory stands behind.
std::size_t resident_pages(const ThreadBuffer& buffer) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = sizeof(ThreadBuffer) + buffer.capacity() * sizeof(UnsentSample);
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  EXPECT_EQ(::mincore(const_cast<ThreadBuffer*>(&buffer), bytes, pages.data()), 0);
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](auto each) { return each & 1; }));
}

TEST_F(ThreadBufferTest, MemoryThatWasFilledOnceIsGivenBackWhenItIsEmpty) {
  constexpr std::size_t kLarge = 65'536;
  buffer_ = make_buffer(kLarge);
  const std::size_t before = resident_pages(*buffer_);
  for (std::size_t i = 0; i < kLarge; ++i) append(1);
  const std::size_t full = resident_pages(*buffer_);
  EXPECT_GT(full, before);
  {
    const MutexLock lock(buffer_->mutex());
    buffer_->consume(kLarge);
    buffer_->rewind();
    EXPECT_FALSE(buffer_->has_grown());
  }
  const std::size_t left = resident_pages(*buffer_);
  const std::size_t kept_bytes = ThreadBuffer::kEntriesKept * sizeof(UnsentSample);
  EXPECT_LE(left, before + kept_bytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + 2);
  append_all({5, 6, 7});
  EXPECT_EQ(held_in(*buffer_), (Xs{5, 6, 7}));
}

}  // namespace
}  // namespace tallyfs
