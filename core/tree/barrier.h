// What stands between a sender's send() and a reader's open(): after settle(), everything that was
// sent before it was called is in the statistics (docs/files.md, "Reading"). What feeders do not
// send, but leave to be taken, is in those of the reader's subject.
#pragma once

#include <functional>

#include "core/base/clock.h"
#include "core/tree/subject.h"

namespace tallyfs {

// Called from any thread, with no lock held. Bounded in work and time; a settle() that had to give
// up counts it in the daemon's own numbers.
class Barrier {
 public:
  virtual ~Barrier() = default;
  // before_waiting is called once if it will take more than a moment; it may be empty. Returns the
  // time, read when all of that had been taken in.
  virtual Moment settle(Subject subject, const std::function<void()>& before_waiting) = 0;
  Moment settle() { return settle(nullptr, {}); }
};

}  // namespace tallyfs
