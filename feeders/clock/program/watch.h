// Holds the clock against the system's clocks for a while. One thread.
#pragma once

#include <array>
#include <cstdint>

namespace tallyfs {

// How many numbers were how far from zero, in ns: exactly below a microsecond.
class Distances {
 public:
  void add(std::int64_t ns);
  std::uint64_t count() const { return count_; }
  std::int64_t max() const { return max_; }
  // At least this share of them was no further; beyond a microsecond, max().
  std::int64_t quantile(double share) const;

 private:
  std::array<std::uint64_t, 1024> by_ns_{};
  std::uint64_t count_ = 0;
  std::int64_t max_ = 0;
};

enum class Progress { kShown, kQuiet };

struct Watched {
  bool is_good = false;  // or sched_clock() was more than a microsecond outside what
                         // CLOCK_MONOTONIC said before and after, or stepped back
  std::int64_t stamp_p99_ns = 0;
  double same_microsecond_percent = 0;
};

// Prints what was found; a line of progress goes to stderr each second.
// SIGINT and SIGTERM end it early.
Watched watch(unsigned seconds, Progress progress);

}  // namespace tallyfs
