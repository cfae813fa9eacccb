// Measures the critical sections of one CPU, from events that switch interrupts or preemption off
// and on: sections without interrupts, without preemption, and without at least one of them. The
// last kind begins when the first of the two goes off, and ends when both are on again.
//
// A section that seems to last for kSectionMax has missed its end: it counts as unmatched.
// Confined to its owner's lock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/model/kernel_event.h"

namespace tallyfs::latency_hist {

enum class Section { kIrqsOff, kPreemptOff, kPreemptIrqsOff };
inline constexpr std::size_t kSectionKinds = 3;

class SectionTracker {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr Nanoseconds kSectionMax = std::chrono::seconds(1);

  // The sections that a switch ended, at most one of each kind.
  struct Ended {
    std::array<std::optional<Nanoseconds>, kSectionKinds> lengths;
    std::array<std::uint64_t, kSectionKinds> unmatched{};
  };

  // event.kind is one of the four that switch interrupts or preemption. A second "off" does not
  // begin a section again; an "on" without an "off" ends none.
  Ended switched(const KernelEvent& event);
  // Call after events of this CPU were lost.
  void forget_all() { since_ = {}; }

 private:
  void begin(Section section, Nanoseconds time);
  void end(Section section, Nanoseconds time, Ended& ended);
  bool is_open(Section section) const {
    return since_[static_cast<std::size_t>(section)].has_value();
  }

  std::array<std::optional<Nanoseconds>, kSectionKinds> since_;
};

}  // namespace tallyfs::latency_hist
