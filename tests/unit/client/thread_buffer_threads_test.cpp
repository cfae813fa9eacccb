// A buffer between the thread that owns it and one that takes from it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "feeders/client/thread_buffer.h"
#include "thread_buffer_fixture.h"

namespace tallyfs {
namespace {

// Something has happened that another thread may wait for. It orders nothing: that is the buffer's.
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

// A buffer between a thread that owns it and one that takes from it.
class Belt {
 public:
  explicit Belt(std::size_t capacity) : buffer_(make_buffer(capacity)) {}
  ThreadBuffer& buffer() { return *buffer_; }

  // The owner's side as Client::add() has it: below the stop it appends, at the stop it looks.
  void produce(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to; ++i) {
      if (!buffer_->below_stop()) look_around();
      buffer_->append(UnsentSample(statistic_, static_cast<std::int64_t>(i), i * 3, at_ns(i)));
      if (i % (buffer_->capacity() / 2) == 0) filled_.ring();
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
        const MutexLock lock(buffer_->mutex());
        if (buffer_->held() == 0) buffer_->rewind();
        buffer_->set_stop(buffer_->tail() + buffer_->capacity());
        if (buffer_->held() < buffer_->capacity()) return;
      }
      filled_.ring();
      emptied_.wait(rung);
    }
  }
  bool take_what_is_there() {
    std::uint64_t held = 0;
    {
      const MutexLock lock(buffer_->mutex());
      held = buffer_->held();
      for (std::uint64_t i = 0; i != held; ++i, ++taken_) {
        const UnsentSample& entry = buffer_->entry(buffer_->tail() + i);
        in_order_ &= entry.x() == static_cast<std::int64_t>(taken_) && entry.y() == taken_ * 3;
      }
      buffer_->consume(held);
      buffer_->set_stop(0);  // only the owner raises it
    }
    emptied_.ring();
    return held != 0;
  }

  const BufferPointer buffer_;
  FedStatistic statistic_;
  Bell filled_;
  Bell emptied_;
  std::uint64_t taken_ = 0;
  bool in_order_ = true;
};

TEST(ThreadBufferConcurrentTest, AThreadThatTakesGetsEveryEntryOnceAndInOrder) {
  constexpr std::uint64_t kSamples = 50'000;
  Belt belt(1024);
  std::thread producer([&] { belt.produce(0, kSamples); });
  EXPECT_TRUE(belt.take(kSamples));
  producer.join();
  EXPECT_EQ(belt.buffer().held(), 0u);
  EXPECT_EQ(belt.buffer().head(), kSamples);
}

TEST(ThreadBufferConcurrentTest, ThreadsThatOwnItInTurnKeepTheOrder) {
  constexpr std::uint64_t kEach = 5'000;
  constexpr std::uint32_t kThreads = 4;
  Belt belt(512);
  belt.buffer().disown();
  Bell turn;
  std::vector<std::thread> owners;
  for (std::uint32_t n = 0; n < kThreads; ++n) {
    owners.emplace_back([&, n] {
      for (std::uint32_t rung = turn.rung(); rung != n; rung = turn.rung()) turn.wait(rung);
      // What hands the buffer over is this alone.
      while (!belt.buffer().try_own()) {
      }
      belt.produce(n * kEach, (n + 1) * kEach);
      belt.buffer().disown();
      turn.ring();
    });
  }
  EXPECT_TRUE(belt.take(kThreads * kEach));
  for (auto& owner : owners) owner.join();
}

TEST(ThreadBufferConcurrentTest, OfThreadsThatWantItOneOwnsIt) {
  const BufferPointer buffer = make_buffer(16);
  buffer->disown();
  std::atomic<int> owners{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { owners += buffer->try_own() ? 1 : 0; });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(owners, 1);
}

}  // namespace
}  // namespace tallyfs
