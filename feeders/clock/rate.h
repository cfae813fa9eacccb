// How long a cycle takes, measured against CLOCK_MONOTONIC over the last second or two, and whether
// that has changed. An anchor's error is a bound, not an average, so a deviation beyond it is real.
//
// A rate counts once it is known to kErrorMax. Until then it is the driver's or the program's
// figure, and no line may be laid by it. No rate is taken from an interval in which it changed. A
// counter is taken to change its frequency by less than half or double; beyond that it has jumped.
// Locked by its clock.
#pragma once

#include <cstdint>

#include "feeders/clock/instant.h"

namespace tallyfs {

class Rate {
 public:
  enum class Observation {
    kSteady,
    kKink,    // CLOCK_MONOTONIC is slewed, by what NTP may do
    kChange,  // the counter itself runs faster or slower than before
    kJump,    // it is elsewhere; begin_again() is to follow
    kStop,    // it stands still
  };
  // The least that a rate is taken over.
  static constexpr std::int64_t kBaseMin = 50'000;
  // A counter that stands still for less than this advances in large steps.
  static constexpr std::int64_t kStopMin = 10'000'000;

  constexpr Rate() = default;
  // hz: what the driver said, or an estimate.
  void begin(const Anchor& anchor, double hz);
  // Begins again with the same counter at another value.
  void begin_again(const Anchor& anchor) { begin(anchor, hz_); }
  Observation add(const Anchor& anchor);

  // ns per cycle, times 2^32.
  std::uint64_t per_cycle() const { return per_cycle_; }
  double hz() const { return hz_; }
  double ns_per_cycle() const { return 1e9 / hz_; }
  bool is_measured() const { return is_measured_; }
  // Over how long, by now.
  std::int64_t measured_over_ns() const { return is_measured_ ? base_ns_ : 0; }
  // For how long the rate may be relied on, to half a microsecond.
  std::int64_t good_for_ns() const;
  // How long the counter has shown the value of the last anchor.
  std::int64_t stood_ns() const { return last_.ns - ticked_ns_; }

 private:
  static constexpr std::int64_t kBaseMax = 1'000'000'000;
  static constexpr double kErrorMax = 0.001;
  static constexpr double kKink = 20e-6;
  static constexpr double kChange = 0.002;
  static constexpr double kStopCycles = 8;

  void set_hz(double hz);
  void measure(const Anchor& anchor);
  Observation judge(const Anchor& anchor) const;

  double hz_ = 1e9;
  std::uint64_t per_cycle_ = 0;
  bool is_measured_ = false;
  double error_ = 0;  // of the measured rate, as a share of it
  Anchor base_;       // the rate is taken from here on
  Anchor next_base_;
  Anchor last_;
  std::int64_t ticked_ns_ = 0;  // when the value of last_ was seen first
  std::int64_t base_ns_ = 0;    // how long ago base_ was at last_
};

}  // namespace tallyfs
