// Why a part of a line is not taken as its rule says: what is counted in refused{reason:...}.
// Plain values, without threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tallyfs::logs {

enum class Reason : std::uint8_t { kValue, kRange, kName, kFormat };

inline constexpr std::array<std::string_view, 4> kReasonNames{"value", "range", "name", "format"};

constexpr std::string_view name_of(Reason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}

struct Refusal {
  Reason reason = Reason::kValue;
  const char* text = "";     // static: what is wrong, without full stop
  std::string_view value{};  // the piece of the line that is wrong; empty: all of it
};

}  // namespace tallyfs::logs
