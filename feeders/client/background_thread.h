// The library's one thread: it makes rounds, and sleeps as long as nothing is due.
// Thread-safe. start() may be called by a signal handler, in a forked child.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <functional>

#include "feeders/client/link.h"
#include "feeders/client/upkeep_signals.h"

namespace tallyfs {

class BackgroundThread {
 public:
  using Time = std::chrono::nanoseconds;

  struct Rounds {
    // Returns when the next round is due at the latest.
    std::function<Time()> run;
    // After a round when nothing is due. False: something is, since.
    std::function<bool()> fall_asleep;
  };

  BackgroundThread(const Link& link, UpkeepSignals& signals, Rounds rounds);

  // 0; -EAGAIN: no thread can be started. Does nothing while one runs, or after begin_end().
  int start();
  bool is_running() const { return runs_.load(std::memory_order_relaxed); }
  // No further round begins. True for the first call.
  bool begin_end() { return !ending_.exchange(true); }
  void join();
  // In a forked child, which does not have the thread.
  void reset_in_child();
  // Returns when the daemon has sent something, there is room for what waits, or time_max has
  // passed.
  void wait_for_responses(Time time_max) const;

 private:
  static void* run(void* thread);
  void make_rounds();

  const Link& link_;
  UpkeepSignals& signals_;
  const Rounds rounds_;
  std::atomic<bool> runs_{false};
  std::atomic<bool> ending_{false};
  pthread_t thread_{};
};

}  // namespace tallyfs
