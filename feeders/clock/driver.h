// The counter of a clock. A driver is a value; the counter behind read() belongs to the machine or
// the program, and all threads read it at once.
#pragma once

#include <cstdint>

#include "feeders/clock/cycles.h"

namespace tallyfs {

class WideCounter;

// Unknown: what would tell cannot be read now, for lack of a descriptor or behind a chroot().
enum class Trust { kNo, kYes, kUnknown };

struct Driver {
  enum class Kind : std::uint32_t {
    kNone,
    kCounter,    // the machine's own, by an instruction
    kMonotonic,  // CLOCK_MONOTONIC itself, in nanoseconds
    kOther,      // by read()
  };

  Kind kind = Kind::kNone;
  const char* name = "";
  unsigned width_bits = 64;
  std::uint64_t rate_hz = 0;  // 0: to be measured
  std::uint64_t (*read)(void* context) = nullptr;
  void* context = nullptr;
  WideCounter* wide = nullptr;   // what extends it, if width_bits < 64
  Trust (*trusted)() = nullptr;  // null: always; may read a file
};

// Whether the kernel itself keeps time by the machine's counter. Of x86's, which must run on at one
// rate in all states of the CPU, it says so by making it its clock source; it takes that back when
// the counter turns out to be wrong, so a file is read each time. ARM64's generic counter is what
// the architecture gives for time.
Trust is_counter_trusted();

// Trusted or not. kNone where the machine has none.
inline constexpr Driver kCounterDriver = {
    .kind = *kCounterName == '\0' ? Driver::Kind::kNone : Driver::Kind::kCounter,
    .name = kCounterName,
    .trusted = &is_counter_trusted};
inline constexpr Driver kMonotonicDriver = {
    .kind = Driver::Kind::kMonotonic, .name = "monotonic", .rate_hz = 1'000'000'000};

// The counter if it is known to be trusted, else CLOCK_MONOTONIC.
const Driver* best_driver();

// The driver that $TALLY_CLOCK names: auto, off (null), or a name. The best one if that driver does
// not exist or is not reliable. A program that runs with the rights of another user ignores the
// variable.
const Driver* driver_by_environment();

}  // namespace tallyfs
