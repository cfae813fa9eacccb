// What stands between a sender's send() and a reader's open(): after settle(), everything that was
// sent before it was called is in the statistics (reference/statistics.md, "The data file").
#pragma once

namespace tally {

// Called from any thread, with no lock held. Bounded in work and time; a settle() that had to give
// up counts it in the daemon's own numbers.
class Barrier {
 public:
  virtual ~Barrier() = default;
  virtual void settle() = 0;
};

}  // namespace tally
