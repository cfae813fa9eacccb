// Ensures that a reader's open() shows all samples whose send() returned before it: settle() drains
// the socket into the statistics (docs/files.md, "Reading"). Samples in shared-memory rings are
// collected too, but only for the subject that is being read. (No memory barrier is meant.)
#pragma once

#include <functional>

#include "core/base/clock.h"
#include "core/tree/subject.h"

namespace tallyfs {

// Called from any thread, with no lock held. Bounded in work and time; a settle() that has to give
// up counts that in the daemon's counters.
class Barrier {
 public:
  virtual ~Barrier() = default;
  // before_waiting may be empty; it is called once, before settle() waits. Returns the time, read
  // after all samples were in the statistics.
  virtual Moment settle(Subject subject, const std::function<void()>& before_waiting) = 0;
  Moment settle() { return settle(nullptr, {}); }
};

}  // namespace tallyfs
