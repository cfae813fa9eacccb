// A clock that stands still until a test moves it.
#pragma once

#include "core/base/clock.h"

namespace tallyfs {

class FakeClock final : public Clock {
 public:
  // Both clocks start apart, so that a test notices when one is taken for the other.
  explicit FakeClock(std::chrono::nanoseconds start = std::chrono::seconds(0)) : passed_(start) {}

  Timestamp now() const override {
    return {.monotonic = passed_, .realtime = std::chrono::seconds(1'700'000'000) + passed_};
  }
  void advance(std::chrono::nanoseconds by) { passed_ += by; }

 private:
  std::chrono::nanoseconds passed_;
};

}  // namespace tallyfs
