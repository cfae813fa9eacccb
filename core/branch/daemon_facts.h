// Facts about the daemon itself that the tree shows in statistics.json. Values; tracefs() may be
// called on any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tallyfs {

// Whether the kernel's events are read: not asked for; read; asked for, but their feeder has ended.
enum class TracefsState { kOff, kOn, kLost };

struct DaemonFacts {
  std::string version{};
  std::uint64_t epoch = 0;  // which start of the daemon it is
  pid_t pid = 0;
  std::string socket{};                    // its path; empty: not known
  std::optional<unsigned> queue_length{};  // nothing: not known
  std::function<TracefsState()> tracefs = [] { return TracefsState::kOff; };
};

}  // namespace tallyfs
