// Where the daemon counts what it does. statistics/tallyfs shows these numbers as ordinary
// statistics, so their implementation is of the statistics branch (CounterInterface); all other
// rooms see this interface.
//
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "core/base/clock.h"
#include "core/base/daemon_counter.h"

namespace tallyfs {

class DaemonCounters {
 public:
  virtual ~DaemonCounters() = default;

  // Counts `count` (Y) of `what`, with X where the number is a measure and not a count.
  virtual void record(DaemonCounter what, std::int64_t x, std::uint64_t count, Timestamp now) = 0;
  void count(DaemonCounter what, std::uint64_t count, Timestamp now) {
    record(what, 0, count, now);
  }
};

// Counts that one thread gathers without a lock, until publish() enters them into the counters.
// Confined to its owner's thread or lock.
class PendingCounts {
 public:
  void add(DaemonCounter what, std::uint64_t count = 1) {
    counts_[what.index()] += count;
    has_any_ = has_any_ || count != 0;
  }
  // Enters all counts and starts from 0 again.
  void publish(DaemonCounters& counters, Timestamp now);

 private:
  std::array<std::uint64_t, std::size(DaemonCounter::kRows)> counts_{};
  bool has_any_ = false;
};

}  // namespace tallyfs
