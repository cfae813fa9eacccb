// How the background thread sleeps, and how a thread that adds a sample wakes it: a futex. It needs
// no descriptor, which a program might close or reuse, and a signal handler may use it.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tallyfs {

class UpkeepSleep {
 public:
  // From light sleep the thread wakes by itself when its time has passed. From deep sleep the next
  // sample of any thread wakes it, since the stops of all buffers are 0.
  enum class Depth : std::uint32_t { kAwake, kLight, kDeep };

  // The background thread: sleeps until it is woken, or the time has passed. Returns at once if it
  // was woken since prepare().
  void prepare(Depth depth) { depth_.store(depth); }
  void sleep(std::chrono::nanoseconds time_max);

  // Any thread. Signal-safe. From light sleep only wake() wakes: it is for urgent work.
  void wake();
  void wake_from_deep_sleep() {
    if (depth_.load(std::memory_order_relaxed) == Depth::kDeep) wake();
  }

 private:
  std::atomic<Depth> depth_{Depth::kAwake};
};

// Every other running thread of this process has gone through a full memory barrier when it
// returns, so that the threads themselves need none. False: the kernel cannot.
bool process_barrier();

}  // namespace tallyfs
