#include "feeders/client/sample_clock.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <string_view>

#include "core/base/fd.h"

namespace tally {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// The first rate is taken over this long; its error is that of an anchor, some 50 ns, over it.
constexpr std::int64_t kFirstSpan = 200'000;

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

SampleClock::Source SampleClock::best_source() {
#if defined(__x86_64__)
  const Fd file(::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                       O_RDONLY | O_CLOEXEC));
  char name[16];
  const auto size = file.valid() ? ::read(file.get(), name, sizeof name) : 0;
  if (size > 0 && std::string_view(name, static_cast<std::size_t>(size)) == "tsc\n") {
    return Source::kCounter;
  }
#endif
  return Source::kMonotonic;
}

// Spins for kFirstSpan, once in a process: without a rate the first samples would have no time.
SampleClock::SampleClock(Source source) : source_(source), older_(anchor()), newer_(older_) {
  if (source_ == Source::kMonotonic) return;
  while (newer_.ns - older_.ns < kFirstSpan) newer_ = anchor();
  ns_per_tick_ =
      static_cast<double>(newer_.ns - older_.ns) / static_cast<double>(newer_.ticks - older_.ticks);
}

SampleClock::Anchor SampleClock::anchor() const {
  const std::uint64_t before = ticks();
  const std::int64_t ns = monotonic_ns();
  const std::uint64_t after = ticks();
  return {before + (after - before) / 2, ns};
}

void SampleClock::calibrate() {
  if (source_ == Source::kMonotonic) return;
  const Anchor now = anchor();
  const auto ticks = static_cast<double>(now.ticks - older_.ticks);
  // A suspended machine may have stopped one of the two, or set it back: no rate comes of that.
  const double rate = static_cast<double>(now.ns - older_.ns) / ticks;
  const double known = ns_per_tick_.load(std::memory_order_relaxed);
  if (rate > known * 0.99 && rate < known * 1.01) {
    ns_per_tick_.store(rate, std::memory_order_relaxed);
  } else {
    older_ = newer_ = now;
  }
  if (now.ns - newer_.ns >= kSecond) {
    older_ = newer_;
    newer_ = now;
  }
}

}  // namespace tally
