// Threads with records that are not shown: the daemon's own, and the feeder's. A record is theirs
// if the task that it is about is one of them, or if one of them did it, not an interrupt that came
// while one of them ran. A switch has two tasks: it is theirs if both are, and in part if one is.
// Confined to the lock of Tracing's State.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/record.h"
#include "core/tracing/format/task_fields.h"

namespace tallyfs::tracing {

class ExcludedThreads {
 public:
  ExcludedThreads() = default;
  explicit ExcludedThreads(std::vector<pid_t> threads);

  // nullopt: the record is of an excluded thread. Else the side of a switch that is an excluded
  // thread; kNone: no part of the record is.
  std::optional<SwitchSide> side_of(const TaskFields& fields, const EventRecord& record) const;

 private:
  bool is_one(std::uint32_t at, const EventRecord& record) const;

  std::vector<pid_t> threads_;  // in order
  std::uint64_t mask_ = 0;      // a bit for each, by its lower six bits
};

}  // namespace tallyfs::tracing
