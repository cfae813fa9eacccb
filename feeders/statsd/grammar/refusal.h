// Why a line of StatsD is refused: a reason that is counted, and its place for the log's caret.
// Plain values, without threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tallyfs::statsd {

enum class Reason : std::uint8_t {
  kFormat,
  kName,
  kValue,
  kType,
  kRate,
  kRange,
  kNegative,
  kTimestamp,
  kEvent,
  kCheck,
};

inline constexpr std::array<std::string_view, 10> kReasonNames{
    "format", "name",     "value",     "type",  "rate",
    "range",  "negative", "timestamp", "event", "check"};

constexpr std::string_view name_of(Reason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}

struct Refusal {
  Reason reason = Reason::kFormat;
  std::size_t at = 0;     // byte of the line
  const char* text = "";  // static: what is wrong there, without full stop
};

}  // namespace tallyfs::statsd
