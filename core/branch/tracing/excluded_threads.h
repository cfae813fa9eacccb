// Threads with records that are not shown: the daemon's own.
// Confined to the lock of Tracing's State.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "core/branch/tracing/event_routes.h"
#include "core/model/record.h"

namespace tallyfs {

class ExcludedThreads {
 public:
  ExcludedThreads() = default;
  explicit ExcludedThreads(std::vector<pid_t> threads);

  // Whether the record is about one of these threads.
  bool excludes(const EventRoute& route, const EventRecord& record) const;

 private:
  std::vector<pid_t> threads_;  // in order
  std::uint64_t mask_ = 0;      // a bit for each, by its lower six bits
};

}  // namespace tallyfs
