// Refused lines in the log: one a second, with their source and the place that is wrong; the others
// are counted there. Confined to one thread.
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
// `SOURCE: REASON: TEXT: LINE`, where the line has ` -->` before the place that is wrong.
std::string to_text(const RefusedPlace& place, std::string_view line);

class RefusalLog {
 public:
  // Whether a line may be logged at that time; if not it is counted.
  bool may_log(std::chrono::nanoseconds now);
  // ` (and N more before)`: the lines that were not logged since the last one that was, or nothing.
  std::string take_left_out();

 private:
  std::optional<std::chrono::nanoseconds> last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tallyfs
