// A thread's samples on their way to the daemon: a ring. The thread that owns the buffer writes it
// without a lock; the thread that sends reads it under the buffer's mutex.
//
// The owner checks `below_stop()` alone before it appends. At stop() it has more to do: a datagram
// is full, the ring is full, or the background thread must be woken. Every thread sets stop() under
// the mutex.
//
// A signal handler may interrupt the owner anywhere. Between enter() and leave() the handler's
// samples are nested: they go to a small side table, which the owner processes before it continues.
// At other times the handler acts as the owner.
//
// Positions count the entries that were ever appended: head() is the next one to be written, tail()
// the next one to be sent, and the entries between them are "held".
//
// Bounded: `capacity` entries, kNestedMax nested ones. A buffer is never freed: a thread's end
// gives it back, and another thread takes it over with what is in it.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/mutex.h"
#include "feeders/client/fed_statistic.h"
#include "feeders/client/thread_cells.h"
#include "feeders/client/thread_ring.h"

namespace tallyfs {

// When a sample was taken, on one of two scales.
struct Stamp {
  enum class Scale : std::uintptr_t { kCycles = 0, kNs = 1 };  // of the SampleTime; CLOCK_MONOTONIC
  Scale scale = Scale::kCycles;
  std::uint64_t value = 0;
};

// A sample that was added but not sent.
class UnsentSample {
 public:
  UnsentSample() = default;
  UnsentSample(FedStatistic& statistic, std::int64_t x, std::uint64_t y, const Stamp& stamp)
      : tagged_(reinterpret_cast<std::uintptr_t>(&statistic) |
                static_cast<std::uintptr_t>(stamp.scale)),
        x_(x),
        y_(y),
        time_(stamp.value) {}

  // Null: the statistic is gone, and the sample void.
  FedStatistic* statistic() const { return reinterpret_cast<FedStatistic*>(tagged_ & ~kIsNs); }
  bool is_ns() const { return (tagged_ & kIsNs) != 0; }
  std::int64_t x() const { return x_; }
  std::uint64_t y() const { return y_; }
  std::uint64_t time() const { return time_; }
  void make_void() { tagged_ = 0; }
  // True for the same statistic and the same scale of time, if both samples need a Y in the
  // datagram or neither does.
  bool is_like(const UnsentSample& other) const {
    return tagged_ == other.tagged_ && (y_ == 1) == (other.y_ == 1);
  }

 private:
  // No statistic has an odd address.
  static constexpr auto kIsNs = static_cast<std::uintptr_t>(Stamp::Scale::kNs);

  std::uintptr_t tagged_ = 0;
  std::int64_t x_ = 0;
  std::uint64_t y_ = 0;
  std::uint64_t time_ = 0;
};

class ThreadBuffer {
 public:
  static constexpr std::size_t kDatagramBytes = 8 * 1024;
  static constexpr std::uint32_t kNestedMax = 64;
  // How much of the ring's memory an empty buffer keeps: 128 KiB.
  static constexpr std::size_t kEntriesKept = 4096;

  // capacity: a power of two. Nullptr: no memory. By mmap alone, as a signal handler may.
  static ThreadBuffer* create(std::size_t capacity);
  static void destroy(ThreadBuffer* buffer);  // for tests; no thread may be using it
  ThreadBuffer(const ThreadBuffer&) = delete;
  ThreadBuffer& operator=(const ThreadBuffer&) = delete;

  // ---- ownership; any thread

  bool try_own() {
    bool owned = owned_.load(std::memory_order_relaxed);
    return !owned && owned_.compare_exchange_strong(owned, true, std::memory_order_acquire);
  }
  void disown() { owned_.store(false, std::memory_order_release); }
  // The owner's thread id, if the background thread has to check whether that thread still exists.
  // 0: the thread's end gives the buffer back.
  pid_t watched() const { return watched_.load(std::memory_order_relaxed); }
  void watch(pid_t thread) { watched_.store(thread, std::memory_order_relaxed); }
  // Takes the buffer from a thread that has ended. False: the thread gave it back itself meanwhile.
  bool take_back(pid_t thread, const CellFiles& files) {
    if (!watched_.compare_exchange_strong(thread, 0)) return false;
    if (is_in_file()) cells_.finish_adds(files);
    abandon();
    return true;
  }
  // Gives up the ownership of a thread that does not exist, wherever in its call it was: one that
  // has ended, or, in a forked child, a thread of the parent.
  void abandon() {
    in_call_.store(false, std::memory_order_relaxed);
    inside_.store(false, std::memory_order_relaxed);
    watch(0);
    disown();
  }

  // In a forked child, for a buffer whose lock was not taken for the fork.
  void reset_with_lock() NO_THREAD_SAFETY_ANALYSIS {
    new (&mutex_) Mutex(LockRank::kThreadBuffer);
    forget_all();
    abandon();
  }

  // ---- the owner

  bool is_inside() const { return inside_.load(std::memory_order_relaxed); }
  void enter() {
    inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // Release: the background thread that sees it reads the lane file's rings and unmaps the file.
  void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    inside_.store(false, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // These enclose a call that adds no samples: the owner is inside, but in no lane file.
  void enter_call() {
    enter();
    in_call_.store(true, std::memory_order_release);
  }
  void leave_call() {
    in_call_.store(false, std::memory_order_relaxed);
    leave();
  }
  // Called by other threads. False: the owner is in no lane file, and all that it did there is
  // visible.
  bool is_in_file() const {
    return inside_.load(std::memory_order_acquire) && !in_call_.load(std::memory_order_acquire);
  }
  bool below_stop() const {
    return head_.load(std::memory_order_relaxed) < stop_.load(std::memory_order_relaxed);
  }
  // Call when nothing is held. The next entry goes to the start of the ring, so that a thread which
  // fills one datagram after the other stays in its first-level cache. Memory that was filled while
  // no daemon was there is given back to the kernel.
  void rewind() REQUIRES(mutex_) {
    if (has_grown()) [[unlikely]]
      give_back_memory();
    offset_ = -head_.load(std::memory_order_relaxed);
  }
  // True if more than kEntriesKept entries of the ring were used since the last rewind().
  bool has_grown() const REQUIRES(mutex_) { return head() + offset_ > kEntriesKept; }
  // There must be room.
  void append(const UnsentSample& entry) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    entries_[(head + offset_) & mask_] = entry;
    head_.store(head + 1, std::memory_order_release);
  }
  void drop() { count_dropped(1); }
  ThreadCells& cells() { return cells_; }
  ThreadRing& ring() { return ring_; }
  // Samples were counted in a cell.
  void count_cell(std::uint64_t samples = 1) {
    counted_.store(counted_.load(std::memory_order_relaxed) + samples, std::memory_order_relaxed);
  }

  // A sample was put into the ring.
  void count_in_ring() {
    in_ring_.store(in_ring_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // For a handler that finds the owner inside. False: no room, which process_nested() will count.
  bool push_nested(const UnsentSample& entry);
  bool has_nested() const { return nested_used_.load(std::memory_order_relaxed) != 0; }
  // Calls `take` with each nested entry, in their order. The owner calls this, between enter() and
  // leave(). A handler may fork meanwhile: then expect_parents_call() in the child replaces the
  // entries, whichever of them `take` had.
  template <typename Take>
  void process_nested(Take&& take) {
    for (;;) {
      std::uint32_t used = nested_used_.load(std::memory_order_relaxed);
      while (nested_taken_.load(std::memory_order_relaxed) < std::min(used, kNestedMax)) {
        const UnsentSample entry = nested_[nested_taken_.fetch_add(1, std::memory_order_relaxed)];
        take(entry);
        used = nested_used_.load(std::memory_order_relaxed);
      }
      if (!nested_used_.compare_exchange_strong(used, 0, std::memory_order_relaxed)) continue;
      nested_taken_.store(0, std::memory_order_relaxed);
      if (used > kNestedMax) count_dropped(used - kNestedMax);
      return;
    }
  }

  // ---- under the mutex

  Mutex& mutex() RETURN_CAPABILITY(mutex_) { return mutex_; }
  std::size_t capacity() const { return mask_ + 1; }
  std::uint64_t tail() const { return tail_.load(std::memory_order_relaxed); }
  const UnsentSample& entry(std::uint64_t position) const {
    return entries_[(position + offset_) & mask_];
  }
  void consume(std::uint64_t entries) REQUIRES(mutex_) {
    tail_.store(tail() + entries, std::memory_order_release);
  }
  // The end of the entries that may be sent: the barrier, or head() if there is none before it. A
  // barrier at the current head keeps later samples back until a definition that has to precede
  // them has been sent.
  std::uint64_t end() const REQUIRES(mutex_) { return std::min(head(), barrier_); }
  void raise_barrier() REQUIRES(mutex_) { barrier_ = std::min(barrier_, head()); }
  void lower_barrier() REQUIRES(mutex_) { barrier_ = kNoBarrier; }
  void set_stop(std::uint64_t position) REQUIRES(mutex_) {
    stop_.store(position, std::memory_order_relaxed);
  }
  // Makes the statistic's held samples void. Call before the statistic is destroyed.
  void make_void(const FedStatistic* statistic) REQUIRES(mutex_);
  // Calls `what` with each held entry, without nested ones.
  template <typename Do>
  void for_each_held(Do&& what) REQUIRES(mutex_) {
    const std::uint64_t end = head();
    for (std::uint64_t i = tail(); i != end; ++i) what(entries_[(i + offset_) & mask_]);
  }
  // Forgets all samples, in a forked child: the parent sends them.
  void forget_all() REQUIRES(mutex_);

  // Call after forget_all() in the child of a handler that forked and had interrupted a call in a
  // lane file. The call continues in the child, but its sample is the parent's. A nested sample
  // without a statistic makes the owner forget it at the end of the call. The child's own samples
  // follow that nested one.
  void expect_parents_call() {
    nested_[0] = UnsentSample();
    nested_used_.store(1, std::memory_order_relaxed);
  }
  void forget_parents_call() REQUIRES(mutex_) {
    tail_.store(0, std::memory_order_relaxed);
    head_.store(0, std::memory_order_relaxed);
    stop_.store(0, std::memory_order_relaxed);
    dropped_.store(0, std::memory_order_relaxed);
    counted_.store(0, std::memory_order_relaxed);
    in_ring_.store(0, std::memory_order_relaxed);
  }

  // The memory in which the buffer's datagrams are made, and the time of the last sample in one:
  // times of one thread do not go back.
  std::array<char, kDatagramBytes>& datagram() REQUIRES(mutex_) { return datagram_; }
  std::int64_t last_ns() const REQUIRES(mutex_) { return last_ns_; }
  void set_last_ns(std::int64_t ns) REQUIRES(mutex_) { last_ns_ = ns; }

  // ---- any thread

  std::uint64_t head() const { return head_.load(std::memory_order_acquire); }
  std::uint64_t held() const {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    return head() - tail;
  }
  // True if everything before this position was sent or dropped.
  bool has_sent(std::uint64_t position) const {
    return tail_.load(std::memory_order_acquire) >= position;
  }
  // How many samples went into cells.
  std::uint64_t counted() const { return counted_.load(std::memory_order_relaxed); }
  // How many samples went into rings.
  std::uint64_t in_ring() const { return in_ring_.load(std::memory_order_relaxed); }
  // Samples for which the buffer had no room. head() + dropped() is the number of all that were
  // ever added to it.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  ThreadBuffer(std::size_t capacity, UnsentSample* entries, std::uint32_t* ring_notes)
      : mask_(capacity - 1), entries_(entries), ring_(ring_notes) {}
  void give_back_memory() REQUIRES(mutex_);
  static constexpr std::uint64_t kNoBarrier = UINT64_MAX;
  void count_dropped(std::uint64_t more) {
    // No other thread writes it, and a handler counts its own by push_nested().
    dropped_.store(dropped_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  // The owner's cache line.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> stop_{0};
  std::atomic<bool> inside_{false};
  std::atomic<bool> in_call_{false};
  std::atomic<std::uint32_t> nested_used_{0};
  const std::uint64_t mask_;
  UnsentSample* const entries_;
  std::uint64_t offset_ = 0;  // written by the owner under mutex_, read by it or under mutex_
  std::atomic<std::uint64_t> dropped_{0};

  std::atomic<std::uint64_t> counted_{0};
  std::atomic<std::uint64_t> in_ring_{0};
  ThreadCells cells_;
  ThreadRing ring_;

  // Members of the threads that send.
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  Mutex mutex_{LockRank::kThreadBuffer};
  std::int64_t last_ns_ GUARDED_BY(mutex_) = 0;
  std::uint64_t barrier_ GUARDED_BY(mutex_) = kNoBarrier;
  std::atomic<bool> owned_{false};
  std::atomic<pid_t> watched_{0};

  // The owner's members for signal handlers. nested_taken_: how many process_nested() has passed
  // on.
  std::atomic<std::uint32_t> nested_taken_{0};
  std::array<UnsentSample, kNestedMax> nested_;
  alignas(8) std::array<char, kDatagramBytes> datagram_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
