#include "feeders/log/daemon_pace.h"

#include <cerrno>

#include "core/base/clock.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {
namespace {

using namespace std::chrono_literals;

// The time of one question whether the daemon has taken all in.
constexpr std::chrono::milliseconds kAskTime = 250ms;
// --once asks so long in vain: a daemon that does not answer, and one that is not there.
constexpr std::chrono::milliseconds kSlowTime = 10'000ms;
constexpr std::chrono::milliseconds kAbsentTime = 1'000ms;
// Samples that are under way: a ring has room for four times as many, and libtally holds more.
constexpr std::uint64_t kUnderWayMax = 8'192;
// After a wait of the pipe in vain: there is no daemon.
constexpr std::chrono::milliseconds kPipePause = 1'000ms;

bool has_much_under_way() {
  const auto counts = tally::counts();
  return counts.held + (counts.sent - counts.confirmed - counts.lost) > kUnderWayMax;
}

bool is_absent(std::error_code failure) { return failure.value() == ENOTCONN; }
// The daemon has not answered a sync.
bool is_missing(std::error_code failure) {
  return failure.value() == ETIMEDOUT || is_absent(failure);
}

}  // namespace

void DaemonPace::wait(Source source, std::uint64_t samples) {
  const auto begun = SystemClock::monotonic();
  if (source == Source::kPipe && begun < pipe_waits_at_) return;
  while (has_much_under_way()) {
    const std::error_code failure = tally::sync(kAskTime);
    if (source == Source::kPipe && is_absent(failure)) {
      pipe_waits_at_ = SystemClock::monotonic() + kPipePause;
      return;
    }
    meanwhile_.publish();
    if (!may_ask_again(begun, failure)) {
      has_given_up_ = is_missing(failure);
      return;
    }
    if (source == Source::kKept) meanwhile_.read_on();
  }
  samples_checked_ = samples;
}

DaemonPace::Answer DaemonPace::ask() {
  const std::error_code failure = tally::sync(kAskTime);
  if (is_absent(failure)) return Answer::kAbsent;
  return is_missing(failure) ? Answer::kLate : Answer::kTaken;
}

// The refusal of a statistic is no reason to wait: samples of all others have been taken in.
bool DaemonPace::confirm() {
  if (has_given_up_) return false;
  const auto begun = SystemClock::monotonic();
  for (;;) {
    const std::error_code failure = tally::sync(kAskTime);
    if (!is_missing(failure)) return true;
    if (!may_ask_again(begun, failure)) {
      has_given_up_ = true;
      return false;
    }
    meanwhile_.read_on();
  }
}

bool DaemonPace::may_ask_again(std::chrono::nanoseconds begun, std::error_code failure) {
  signals_.read();
  const auto bound = is_absent(failure) ? kAbsentTime : kSlowTime;
  const bool is_over =
      patience_ == Patience::kBounded && SystemClock::monotonic() - begun >= bound;
  has_waited_in_vain_ = has_waited_in_vain_ || is_over;
  return !is_over && !signals_.is_stopped();
}

void DaemonPace::finish() const {
  if (!is_absent(tally::sync(0ms))) (void)tally::sync(2 * kAskTime);
}

}  // namespace tallyfs::logs
