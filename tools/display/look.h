// How results are drawn: the width, the characters, the numbers. Immutable values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/display/quantity.h"

namespace tallyfs::view {

// The wall clock of a CLOCK_REALTIME in microseconds: "03:13:42". It reads the time zone, so the
// caller has it.
using ClockText = std::function<std::string(std::uint64_t realtime_us)>;

struct Look {
  int width = 100;
  Charset charset = Charset::kUtf8;
  bool cut = false;    // names that are too long, in the middle; on terminals only
  bool header = true;  // of tables
  bool exact = false;  // all digits
  bool all = false;    // empty rows, too
  std::size_t rows_max = 40;
  ClockText clock;
  ClockText date{};  // "2026-11-22"; empty if that is today

  // A time of another day has its date.
  std::string moment(std::uint64_t realtime_us) const {
    std::string text = date ? date(realtime_us) : std::string();
    if (!text.empty()) text.append(" ");
    return text.append(clock(realtime_us));
  }
};

}  // namespace tallyfs::view
