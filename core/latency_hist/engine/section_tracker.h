// From the switching off and on of interrupts and preemption to the lengths of critical sections,
// for one CPU: those without interrupts, those without preemption, and those without either, which
// last from the first that goes off until both are on again.
//
// A section that seems to last for kSectionMax has missed its end: it counts as unmatched.
// Confined to its owner's lock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/model/kernel_event.h"

namespace tallyfs {

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

  // event.kind is one of the four that switch something off or on. What is off already stays so; an
  // end without a beginning is none.
  Ended switched(const KernelEvent& event);
  void forget_all() { since_ = {}; }

 private:
  void begin(Section section, Nanoseconds time);
  void end(Section section, Nanoseconds time, Ended& ended);
  bool is_open(Section section) const {
    return since_[static_cast<std::size_t>(section)].has_value();
  }

  std::array<std::optional<Nanoseconds>, kSectionKinds> since_;
};

}  // namespace tallyfs
