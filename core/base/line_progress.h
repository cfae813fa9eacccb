// How far a line has come that changes many things in steps. It stays with the line from step to
// step. A line that begins anew, as things have moved, changes those again that it has changed. A
// value.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace tallyfs {

struct LineProgress {
  bool has_begun = false;
  bool is_planned = false;      // the line is possible for all
  bool has_changed = false;     // something, in a step before
  std::uint8_t attributes = 0;  // of the statistics that were looked at, as a set
  std::uint32_t next = 0;       // place of the first that is left
  std::uint32_t end = 0;        // behind the last one; what comes later is not for the line
  std::uint32_t closings = 0;   // the row's number; with another, places have moved
  std::uint64_t sum = 0;        // bytes that the plan takes, or samples that an undo discards
};

// One step of a line.
struct LineStep {
  LineProgress& progress;
  const IsLate& is_late;
};

}  // namespace tallyfs
