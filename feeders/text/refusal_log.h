// Limits how many refused lines reach the log: one a second, with its source and the place that is
// wrong. The next one that is logged says how many were left out. Confined to one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs {

struct RefusedPlace {
  std::string_view source;  // sender or file
  std::string_view reason;
  std::string_view text;  // what is wrong there
  std::size_t at = 0;     // byte of the line
};
// `SOURCE: REASON: TEXT: LINE`, where the line has ` -->` before the place that is wrong. Only 120
// bytes of the line before that place and 80 after it are shown; bytes that do not print are
// escaped.
std::string to_text(const RefusedPlace& place, std::string_view line);

class RefusalLog {
 public:
  // True if a line may be logged; else it is counted as left out. now: CLOCK_MONOTONIC.
  bool may_log(std::chrono::nanoseconds now);
  // Call after may_log() was true. Returns ` (and N more before)` for the lines that were left out
  // since the last call, or an empty text if there were none; they are then counted from 0 again.
  std::string take_left_out();

 private:
  std::optional<std::chrono::nanoseconds> last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tallyfs
