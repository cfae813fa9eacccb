// Text in and out, without locale, allocation per number or surprises: the tokens of a line, the
// numbers of the grammar, the time stamps of the files, and what a name may be.
//
// Pure functions: any thread may call any of them on texts of its own. A Tokens object is confined
// to its owner.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/int128.h"

namespace tallyfs {

inline constexpr std::size_t kNameBytesMax = 255;

// A piece of a line without white space, and the byte at which it starts.
struct Token {
  std::string_view text;
  std::size_t at = 0;
};

// White space: blank, \t, \n, \v, \f, \r. Inline, since it is asked of every byte that arrives as
// text.
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Without the blanks at its ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// As ==, without the call that costs more than comparing a few bytes does.
inline bool is_same(std::string_view a, std::string_view b) {
  const auto differ = [&]<typename Word>(Word, std::size_t at) {
    Word of_a;
    Word of_b;
    std::memcpy(&of_a, a.data() + at, sizeof of_a);
    std::memcpy(&of_b, b.data() + at, sizeof of_b);
    return of_a != of_b;
  };
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size < 8) {
    if (size >= 4) return !differ(std::uint32_t{}, 0) && !differ(std::uint32_t{}, size - 4);
    return std::equal(a.begin(), a.end(), b.begin());
  }
  for (std::size_t at = 0; at + 8 < size; at += 8) {
    if (differ(std::uint64_t{}, at)) return false;
  }
  return !differ(std::uint64_t{}, size - 8);
}

// Hands out the tokens of a line one by one.
class Tokens {
 public:
  explicit Tokens(std::string_view line) : line_(line) {}
  // The next token, or nothing at the end of the line.
  std::optional<Token> next();
  // What next() has not handed out yet, with the white space before it.
  Token rest() const { return {line_.substr(at_), at_}; }

 private:
  std::string_view line_;
  std::size_t at_ = 0;
};

// A whole token as a number: decimal, or hexadecimal after 0x; a minus sign only in the signed
// form. Nothing when it is anything else or does not fit into 64 bits.
std::optional<std::int64_t> parse_signed(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// The same as append_...() below, to where there is room for the longest; they return where it
// ends.
inline constexpr std::size_t kNumberBytesMax = 20;
inline constexpr std::size_t kTimestampBytesMax = 29;
char* write_number(char* at, std::uint64_t value);
char* write_number(char* at, std::int64_t value);
char* write_timestamp(char* at, std::chrono::nanoseconds time);

void append_number(std::string& out, std::uint64_t value);
void append_number(std::string& out, std::int64_t value);
void append_number(std::string& out, Int128 value);
void append_hex(std::string& out, std::uint64_t value);  // 0x1f

// `seconds.microseconds`, six decimals, truncated, in brackets: [12.000345]. Not padded: padding
// would break scripts that split the line at blanks. Negative times are printed as 0.
void append_timestamp(std::string& out, std::chrono::nanoseconds time);

// How many bytes the UTF-8 sequence has that text, which is not empty, begins with, and its code
// point; 0: there is none (overlong forms, surrogates, what is cut off).
std::size_t utf8_length(std::string_view text, char32_t& point);

// docs/files.md, "Names and quotas": 1 to 255 bytes of printable UTF-8 without white space, '/',
// control characters or '=', and neither "." nor "..". What shows nothing is not printable.
bool is_name(std::string_view text);
// The same, but '/' is allowed and so is nothing at all.
bool is_units(std::string_view text);

// Appends at most `bytes_max` bytes of text so that it cannot forge a line or steer a terminal:
// what is not printable, backslash and what is not UTF-8 become \xNN. Returns the column, counted
// in code points of what was appended, at which the byte `at` of text came to stand (for a caret).
std::size_t append_escaped(std::string& out, std::string_view text, std::size_t bytes_max,
                           std::size_t at);

}  // namespace tallyfs
