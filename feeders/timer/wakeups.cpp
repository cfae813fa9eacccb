#include "feeders/timer/wakeups.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "feeders/clock/program_clock.h"

namespace tallyfs {
namespace {

void sleep_until(std::chrono::nanoseconds due) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(due);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (due - seconds).count()};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

}  // namespace

Wakeup judge_wakeup(std::chrono::nanoseconds due, std::chrono::nanoseconds now,
                    std::chrono::nanoseconds period) {
  const auto lateness = std::max(now - due, std::chrono::nanoseconds(0));
  return {now, lateness, static_cast<std::uint64_t>(lateness / period)};
}

Wakeups::Wakeups(unsigned cpu, std::chrono::nanoseconds period)
    : cpu_(cpu), period_(period), thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

Wakeups::~Wakeups() = default;

void Wakeups::take(Taken& taken) {
  taken.wakeups.clear();
  taken.dropped = 0;
  const MutexLock lock(mutex_);
  std::swap(taken, gathered_);
}

void Wakeups::put(const Wakeup& wakeup) {
  const MutexLock lock(mutex_);
  if (gathered_.wakeups.size() >= kHeldMax) {
    gathered_.dropped += 1;
  } else {
    gathered_.wakeups.push_back(wakeup);
  }
}

// A CPU that goes away takes the pinning with it: the kernel moves the thread, which measures on.
void Wakeups::pin() const {
  const std::size_t bytes = CPU_ALLOC_SIZE(cpu_ + 1);
  cpu_set_t* const set = CPU_ALLOC(cpu_ + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(cpu_, bytes, set);
  ::pthread_setaffinity_np(::pthread_self(), bytes, set);
  CPU_FREE(set);
}

void Wakeups::run(std::stop_token stop) {
  pin();
  // Without it, the kernel adds up to 50 us to every sleep to gather timers.
  ::prctl(PR_SET_TIMERSLACK, 1);
  auto due = monotonic_now() + period_;
  while (!stop.stop_requested()) {
    sleep_until(due);
    const Wakeup wakeup = judge_wakeup(due, monotonic_now(), period_);
    put(wakeup);
    due += period_ * static_cast<std::int64_t>(wakeup.periods_skipped + 1);
  }
}

}  // namespace tallyfs
