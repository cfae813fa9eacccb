// Ensures that a reader's open() shows all samples whose send() returned before it: drain_feeders()
// drains the socket into the statistics (docs/files.md, "Reading"). Samples in shared-memory rings
// are collected too, but only for the subject that is being read. (No memory barrier is meant.)
#pragma once

#include <functional>

#include "core/base/clock.h"
#include "core/tree/subject.h"

namespace tallyfs {

// Called from any thread, with no lock held. Bounded in work and time; a drain_feeders() that has
// to give up counts that in the daemon's counters.
class Barrier {
 public:
  virtual ~Barrier() = default;
  // before_waiting may be empty; it is called once, before drain_feeders() waits. Returns the time,
  // read after all samples were in the statistics.
  virtual Timestamp drain_feeders(Subject subject, const std::function<void()>& before_waiting) = 0;
  Timestamp drain_feeders() { return drain_feeders(nullptr, {}); }
};

}  // namespace tallyfs
