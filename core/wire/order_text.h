// Steps of reading an order or a reply, which orders of all kinds share. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/shown_text.h"
#include "core/base/text.h"

namespace tallyfs::wire {

inline std::optional<std::uint64_t> take_number(Tokens& tokens) {
  const auto token = tokens.next();
  return token ? parse_unsigned(token->text) : std::nullopt;
}

// The rest of a line behind one blank.
inline std::string_view behind_blank(const Tokens& tokens) {
  const std::string_view rest = tokens.rest().text;
  return rest.substr(rest.empty() ? 0 : 1);
}

// More of a reason is cut off.
inline constexpr std::size_t kReasonShownMax = 1'024;

// The rest of a line as a reason that may stand in a log. It quotes what strangers have written,
// and the process that read that may not be trusted.
inline std::string reason_behind_blank(const Tokens& tokens) {
  std::string reason;
  append_shown(reason, behind_blank(tokens), kReasonShownMax, 0);
  return reason;
}

}  // namespace tallyfs::wire
