// Words of a line, as those that look into it before or after it is parsed need them. Pure
// functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace tallyfs::statistics {

// The key of a definition line that says which statistic it is for.
inline constexpr std::string_view kNameKey = "name=";

// Text of a sender in a reason.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kBytesShown = 512;
  std::string escaped;
  append_escaped(escaped, text, kBytesShown, 0);
  return escaped;
}

inline std::optional<Token> find_word(std::string_view text, std::string_view begin) {
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    if (token->text.starts_with(begin)) return token;
  }
  return std::nullopt;
}

}  // namespace tallyfs::statistics
