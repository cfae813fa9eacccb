// Steps of reading an order or a reply, which orders of all kinds share. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace tallyfs::wire
