// Whether a process that owes a response is at work, from /proc/PID/stat: on a busy machine it may
// run seldom, and the kernel may take long with what it has ordered. Stateless; thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace tallyfs {

struct FeederActivity {
  enum class State {
    kUnknown,  // /proc does not show it
    kAsleep,   // it waits for something to do
    kAtWork,   // runnable (R), or in a call that nothing interrupts (D)
    kStopped,  // by a signal, or by a debugger
  };
  State state = State::kUnknown;
  std::uint64_t cpu_ticks = 0;  // that it has used so far

  bool operator==(const FeederActivity&) const = default;
};

FeederActivity feeder_activity(pid_t feeder);
// The text of /proc/PID/stat.
FeederActivity parse_activity(std::string_view stat);

}  // namespace tallyfs
