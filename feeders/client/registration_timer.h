// When the background thread registers what is new. A new interface or statistic waits a little for
// its definition, so that one request has both. Confined to the Client's lock.
#pragma once

#include <chrono>

#include "feeders/client/registrar.h"
#include "feeders/client/sample_time.h"
#include "feeders/client/upkeep_signals.h"

namespace tallyfs {

class RegistrationTimer {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kDelay = std::chrono::milliseconds(10);

  RegistrationTimer(Registrar& registrar, UpkeepSignals& upkeep)
      : registrar_(registrar), upkeep_(upkeep) {}

  // Something new is to be registered.
  void start() {
    const Time now(monotonic_ns());
    registrar_.note_change();
    if (due_at_ <= now) due_at_ = now + kDelay;
    upkeep_.sleep.wake();
  }
  bool is_due(Time now) const { return now >= due_at_; }
  Time due_at() const { return due_at_; }

 private:
  Registrar& registrar_;
  UpkeepSignals& upkeep_;
  Time due_at_{0};  // zero is long ago
};

}  // namespace tallyfs
