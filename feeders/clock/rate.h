// How long a cycle takes, measured against CLOCK_MONOTONIC over the last second or two, and whether
// that has changed. An anchor's error is a bound, not an average, so what is beyond it is real.
// Locked by its clock.
#pragma once

#include <cstdint>

#include "feeders/clock/instant.h"

namespace tally {

class Rate {
 public:
  enum class Seen {
    kSteady,
    kKink,    // CLOCK_MONOTONIC is slewed, by what NTP may do
    kChange,  // the counter itself runs faster or slower than before
  };

  constexpr Rate() = default;
  // hz: what the driver said, or an estimate.
  void begin(const Anchor& anchor, double hz);
  // The same counter goes on from elsewhere.
  void begin_again(const Anchor& anchor) { begin(anchor, hz_); }
  Seen add(const Anchor& anchor);

  // ns per cycle, times 2^32.
  std::uint64_t per_cycle() const { return per_cycle_; }
  double hz() const { return hz_; }
  double ns_per_cycle() const { return 1e9 / hz_; }
  // For how long the rate may be relied on, to half a microsecond.
  std::int64_t good_for_ns() const;

 private:
  static constexpr std::int64_t kBaseMax = 1'000'000'000;
  static constexpr double kKinkPpm = 20;
  static constexpr double kChangePpm = 2'000;

  void set_hz(double hz);
  Seen judge(const Anchor& anchor) const;

  double hz_ = 1e9;
  std::uint64_t per_cycle_ = 0;
  bool is_measured_ = false;  // well enough to see a change
  Anchor base_;               // the rate is taken from here on
  Anchor next_base_;
  Anchor last_;
  std::int64_t base_ns_ = 0;  // how long ago that was at last_
};

}  // namespace tally
