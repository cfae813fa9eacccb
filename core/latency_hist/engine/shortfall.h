// How much of what began on a CPU is missing from its histogram, and the line that says so in the
// file of that CPU. Values; pure.
#pragma once

#include <cstdint>
#include <string>

namespace tallyfs::latency_hist {

// The measured thing, by which a directory's latencies are counted.
enum class Kind { kWakeups, kTimers, kTimersAndWakeups, kSections, kFed };

struct CpuCounts {
  std::uint64_t samples = 0;    // in the histogram
  std::uint64_t bounded = 0;    // of these, those whose latency is an upper bound
  std::uint64_t unmatched = 0;  // begun, and never seen to end
  std::uint64_t lost = 0;       // events

  // True if more than one in a hundred of the latencies that began here is missing. A lost event
  // counts as one that began, since it may have been.
  bool falls_short() const;
};

// `#N of M wakeups are not in this histogram: REASON` and a newline; empty: counts do not fall
// short. It does not end in ` 0`, which `grep -v " 0$"` would leave out.
std::string shortfall_line(Kind kind, const CpuCounts& counts);

}  // namespace tallyfs::latency_hist
