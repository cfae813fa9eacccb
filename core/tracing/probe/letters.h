// Which bytes names and numbers consist of. Pure functions.
#pragma once

namespace tallyfs::tracing {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
// True for a character of a name in C.
constexpr bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

}  // namespace tallyfs::tracing
