// The ThreadBuffers of this process: a table from which a thread takes one, and to which its end
// gives it back. Buffers are never freed before the table is.
//
// Thread-safe. own() and give_back() are signal-safe. Bounded: kThreadsMax buffers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feeders/client/cell_file.h"
#include "feeders/client/thread_buffer.h"

namespace tallyfs {

class ThreadBuffers {
 public:
  static constexpr std::size_t kThreadsMax = 1024;

  // The memory of a thread that found no buffer: by it the thread need not search with every
  // sample.
  struct Search {
    std::uint64_t in_vain = 0;  // 1 more than the buffers that had been given back then
  };

  // capacity: of each buffer, a power of two.
  explicit ThreadBuffers(std::size_t capacity) : capacity_(capacity) {}
  ~ThreadBuffers();
  ThreadBuffers(const ThreadBuffers&) = delete;
  ThreadBuffers& operator=(const ThreadBuffers&) = delete;

  // ---- ownership

  // A buffer for the calling thread; nullptr: there are kThreadsMax, or no memory.
  ThreadBuffer* own(Search& search);
  // Another thread may own the buffer. Its samples are sent with those of the others.
  void give_back(ThreadBuffer& buffer);
  // The background thread takes the buffer back when the calling thread, its owner, no longer
  // exists: for threads whose end gives no notification. Signal-safe.
  static void watch(ThreadBuffer& buffer);
  // Takes back the buffers of watched threads that have ended. A thread number that the kernel has
  // given out again keeps the buffer reserved until that thread ends. Buffers without an owner
  // return the memory of their samples, as owned ones do by themselves.
  void reclaim(const CellFiles& files);

  // ---- all buffers, always in one order

  template <typename Do>
  void for_each(Do&& visit) const {
    for (const auto& place : buffers_) {
      ThreadBuffer* const buffer = place.load(std::memory_order_acquire);
      if (!buffer) return;  // they fill up from the front
      visit(*buffer);
    }
  }
  std::vector<ThreadBuffer*> all() const;
  // Each thread that was sending when this was called has finished its datagram.
  void wait_for_senders() const;
  // Samples of the statistic that are not sent are void.
  void make_void(const FedStatistic& statistic) const;
  // Keeps samples that are added from now on back, until the barriers are lowered.
  void raise_barriers() const;
  void lower_barriers() const;

  // ---- sums over all buffers

  std::uint64_t held() const;
  std::uint64_t dropped() const;
  // Added to the queues, dropped ones included.
  std::uint64_t queued() const;
  std::uint64_t counted_in_cells() const;

  // ---- fork, under the Client's lock

  void lock_all() NO_THREAD_SAFETY_ANALYSIS;
  void unlock_all() NO_THREAD_SAFETY_ANALYSIS;
  // In the child, whose only thread owns `own`, if it has a buffer: unlocks and empties all.
  void reset_in_child(const ThreadBuffer* own) NO_THREAD_SAFETY_ANALYSIS;

 private:
  const std::size_t capacity_;
  std::array<std::atomic<ThreadBuffer*>, kThreadsMax> buffers_{};
  std::atomic<std::uint64_t> given_back_{0};
  // How many lock_all() locked. Threads may have added more since.
  std::size_t locked_ = 0;
};

}  // namespace tallyfs
