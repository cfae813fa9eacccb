// One latency, with the task that suffered from it and the task that delayed it. A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/boot.h"
#include "core/base/bytes.h"
#include "core/model/task.h"

namespace tallyfs::latency_hist {

struct Record {
  std::chrono::nanoseconds time{0};  // CLOCK_MONOTONIC, of its end
  unsigned cpu = 0;
  std::chrono::nanoseconds latency{0};
  std::chrono::nanoseconds timer_offset{0};  // the part that a late timer caused
  Task victim;
  std::optional<Task> culprit;  // ran meanwhile, if it is known
  bool is_bound = false;        // the latency is no longer than that; its end was not seen

  std::int64_t latency_us() const { return latency.count() / 1000; }
};

// Save and load a record. load_record() fails the reader on bytes that save_record() does not
// write; a record of another boot gets the time 0.
void save_record(ByteWriter& out, const Record& record);
Record load_record(ByteReader& in, Boot boot);

// `PID PRIORITY LATENCY COMMAND`, or with a culprit
// `PID PRIORITY LATENCY (TIMEROFFSET) COMMAND <- PID PRIORITY COMMAND SECONDS.MICROSECONDS`.
// Latencies in microseconds; a priority is 99 minus the kernel's, so that the highest is 99.
void append_record(std::string& out, const Record& record);

}  // namespace tallyfs::latency_hist
