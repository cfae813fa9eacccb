// The time as core sees it: a Timestamp is read once per batch, open or write and passed down. So
// everything that happens in one step has one time, and tests can set it.
#pragma once

#include <chrono>
#include <functional>

namespace tallyfs {

// One instant on two clocks. monotonic (CLOCK_MONOTONIC) is what the files print and what periods
// count; realtime (CLOCK_REALTIME) is only for mtime.
struct Timestamp {
  std::chrono::nanoseconds monotonic{0};
  std::chrono::nanoseconds realtime{0};
};

// Asked between two steps of work that can be continued later.
using IsLate = std::function<bool()>;
inline bool never_late() { return false; }
inline bool always_late() { return true; }  // after one step

// Thread-safe. The one access to the machine's time; tests pass a FakeClock (tests/unit).
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
  // CPU time of the calling thread, without what passes while others have the CPU. Where a test
  // moves the clock, threads work all the time.
  virtual std::chrono::nanoseconds cpu_time() const { return now().monotonic; }
};

// Stateless, so thread-safe.
class SystemClock final : public Clock {
 public:
  Timestamp now() const override { return {.monotonic = monotonic(), .realtime = realtime()}; }
  std::chrono::nanoseconds cpu_time() const override;
  static std::chrono::nanoseconds monotonic();
  static std::chrono::nanoseconds realtime();
};

}  // namespace tallyfs
