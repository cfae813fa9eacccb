// One latency, with who suffered from it and who was in the way. A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/model/task.h"

namespace tallyfs {

struct LatencyRecord {
  std::chrono::nanoseconds time{0};  // CLOCK_MONOTONIC, of its end
  unsigned cpu = 0;
  std::chrono::nanoseconds latency{0};
  std::chrono::nanoseconds timer_offset{0};  // what of it a late timer is to blame for
  Task victim;
  std::optional<Task> culprit;  // who ran meanwhile, if that is known

  std::int64_t latency_us() const { return latency.count() / 1000; }
};

// `PID PRIORITY LATENCY COMMAND`, or with a culprit
// `PID PRIORITY LATENCY (TIMEROFFSET) COMMAND <- PID PRIORITY COMMAND SECONDS.MICROSECONDS`.
// Latencies in microseconds; a priority is 99 minus the kernel's, so that the highest is 99.
void append_record(std::string& out, const LatencyRecord& record);

}  // namespace tallyfs
