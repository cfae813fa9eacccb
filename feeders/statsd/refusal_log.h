// Refused lines in the log: one a second, with sender and place; the others are counted there.
// Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "feeders/statsd/grammar/refusal.h"

namespace tallyfs::statsd {

// `SENDER: REASON: TEXT: LINE`, where the line has ` -->` before the place that is wrong.
std::string to_text(const std::string& sender, std::string_view line, const Refusal& refusal);

class RefusalLog {
 public:
  // Whether a line may be logged at that time; if not it is counted.
  bool may_log(std::chrono::nanoseconds now);
  // The lines that were not logged since the last one that was.
  std::uint64_t take_left_out();

 private:
  std::optional<std::chrono::nanoseconds> last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tallyfs::statsd
