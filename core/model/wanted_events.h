// The demand for the kernel's scheduling events. A value.
#pragma once

#include <sys/types.h>

namespace tallyfs {

struct WantedEvents {
  bool wakeups = false;   // wakeups, switches, migrations
  bool timers = false;    // the same, and hrtimers
  bool sections = false;  // interrupts and preemption going off and on
  // Beside real-time tasks; 0: none.
  pid_t wakeup_pid = 0;
  pid_t timer_pid = 0;

  bool any() const { return wakeups || timers || sections; }
  bool operator==(const WantedEvents&) const = default;
};

}  // namespace tallyfs
