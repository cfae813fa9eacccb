// What stands between a sender's send() and a reader's open(): after settle(), everything that was
// sent before it was called is in the statistics (docs/files.md, "Reading").
#pragma once

#include <functional>

namespace tallyfs {

// Called from any thread, with no lock held. Bounded in work and time; a settle() that had to give
// up counts it in the daemon's own numbers.
class Barrier {
 public:
  virtual ~Barrier() = default;
  // before_waiting is called once if it will take more than a moment; it may be empty.
  virtual void settle(const std::function<void()>& before_waiting) = 0;
  void settle() { settle({}); }
};

}  // namespace tallyfs
