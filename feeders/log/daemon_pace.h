// Keeps the feeder no faster than the daemon. Files and the journal wait where they are; programs
// that write into a pipe do not wait for a daemon that is not there: libtally holds 65,536 of their
// samples, and then drops and counts them. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <system_error>
#include <utility>

#include "program/feeder/stop_signal.h"

namespace tallyfs::logs {

class DaemonPace {
 public:
  enum class Source { kKept, kPipe };
  // --once waits for the daemon for a while only.
  enum class Patience { kBounded, kEndless };
  struct Meanwhile {
    std::function<void()> publish;
    // Reads what does not wait: names of files, and the pipe.
    std::function<void()> read_on;
  };

  // signals must outlive it.
  DaemonPace(Patience patience, StopSignal& signals, Meanwhile meanwhile)
      : patience_(patience), signals_(signals), meanwhile_(std::move(meanwhile)) {}

  // Before a line, when so many samples were added.
  void let_catch_up(Source source, std::uint64_t samples) {
    if (samples - samples_checked_ < kSamplesBetweenLooks || has_given_up_) return;
    wait(source, samples);
  }
  enum class Answer { kTaken, kLate, kAbsent };
  // Asks once, for a moment, whether the daemon has taken in all that was added.
  static Answer ask();
  // Waits until it has. False: a signal came before, or it has
  // waited for long enough.
  bool confirm();
  // Waits at the end for a daemon that is there.
  void finish() const;
  // The bound of its patience has ended a wait.
  bool has_waited_in_vain() const { return has_waited_in_vain_; }

 private:
  static constexpr std::uint64_t kSamplesBetweenLooks = 256;

  void wait(Source source, std::uint64_t samples);
  bool may_ask_again(std::chrono::nanoseconds begun, std::error_code failure);

  const Patience patience_;
  StopSignal& signals_;
  const Meanwhile meanwhile_;
  std::uint64_t samples_checked_ = 0;  // when the daemon had caught up last
  std::chrono::nanoseconds pipe_waits_at_{0};  // no wait of the pipe before
  bool has_given_up_ = false;  // the daemon is missing, and what is left waits no more
  bool has_waited_in_vain_ = false;
};

}  // namespace tallyfs::logs
