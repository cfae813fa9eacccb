// The thread that keeps a clock's anchors, on request: every period, and when the kernel says that
// the wall clock was set or the machine woke up (a timerfd for the end of time, which is cancelled
// then). Its owner holds its lock.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>

#include "core/base/fd.h"
#include "feeders/clock/cycle_clock.h"

namespace tallyfs {

class UpkeepThread {
 public:
  // A negative errno: -EBUSY, -EAGAIN, -EMFILE and the like.
  int start(CycleClock& clock, std::chrono::milliseconds period);
  void stop();  // returns when it has ended
  // No longer, too, if the program has closed our descriptors.
  bool runs() const { return works_.load(); }
  // In a forked child, which does not have the thread.
  void forget();

 private:
  static void* run(void* self);
  void keep();
  bool spawn();
  int open_descriptors();
  bool arm() const;

  CycleClock* clock_ = nullptr;
  std::chrono::milliseconds period_{0};
  bool is_to_be_joined_ = false;
  std::atomic<bool> works_{false};
  Fd wall_set_;
  Fd stop_;
  pthread_t thread_{};
};

}  // namespace tallyfs
