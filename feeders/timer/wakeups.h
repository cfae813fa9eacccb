// One CPU's sleeper: a thread pinned there that sleeps until the next multiple of the period,
// CLOCK_MONOTONIC, and notes how late it was woken. As cyclictest does, but without a real-time
// priority: what it measures is what an ordinary process gets.
//
// take() may be called from any thread; the lock is held for the exchange of two vectors. Holds
// at most kHeldMax wake-ups between two take()s; further ones count in Taken::dropped.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/base/mutex.h"

namespace tallyfs {

struct Wakeup {
  std::chrono::nanoseconds time{0};  // at which the thread ran
  std::chrono::nanoseconds lateness{0};
  std::uint64_t periods_skipped = 0;  // that it was too late for altogether
};

// Judges a wakeup at `now` from a sleep until `due`.
Wakeup judge_wakeup(std::chrono::nanoseconds due, std::chrono::nanoseconds now,
                    std::chrono::nanoseconds period);

class Wakeups {
 public:
  static constexpr std::size_t kHeldMax = 65'536;

  struct Taken {
    std::vector<Wakeup> wakeups;
    std::uint64_t dropped = 0;
  };

  Wakeups(unsigned cpu, std::chrono::nanoseconds period);
  // Waits for the thread, a period at most.
  ~Wakeups();
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;

  // Moves what was gathered since the last time into `taken`, whose memory is used further.
  void take(Taken& taken) EXCLUDES(mutex_);

  unsigned cpu() const { return cpu_; }

 private:
  void run(std::stop_token stop);
  void pin() const;
  void put(const Wakeup& wakeup) EXCLUDES(mutex_);

  const unsigned cpu_;
  const std::chrono::nanoseconds period_;
  Mutex mutex_{LockRank::kWakeups};
  Taken gathered_ GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace tallyfs
