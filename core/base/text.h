// Reads and writes texts, without locale and without an allocation per number: the tokens of a
// line, the numbers of the grammar, the time stamps of the files, and the rules for names.
//
// Pure functions: any thread may call any of them on texts of its own. A Tokens object is confined
// to its owner.
#pragma once

#include <algorithm>
#include <bit>
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

// White space: blank, \t, \n, \v, \f, \r. Inline, since it is called for every byte that arrives as
// text.
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The text without the blanks at its ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// As ==, without a call that costs more than the comparison of a few bytes.
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

// Splits a line into tokens, one by one.
class Tokens {
 public:
  explicit Tokens(std::string_view line) : line_(line) {}
  // Where blanks are in the first bytes of the line, a bit for each of kMarked. After the line's
  // end all bits are set. So tokens end without a loop, whose end nothing could guess.
  static constexpr std::size_t kMarked = 64;
  Tokens(std::string_view line, std::uint64_t blanks)
      : line_(line), blanks_(blanks), marked_(std::min(line.size(), kMarked)) {}
  // The next token, or nothing at the end of the line. Of name= and of= blanks within the labels
  // of the name (labels.h) belong to the token. Labels without an end are none, nor are those that
  // follow in the line.
  std::optional<Token> next() {
    skip_blanks();
    if (at_ == line_.size()) return std::nullopt;
    const std::size_t start = at_;
    skip_token();
    if (line_[start] == 'n' || line_[start] == 'o') [[unlikely]]
      skip_labels_of_name(start);
    return token_from(start);
  }
  // As next(), for a token that may be INTERFACE/STATISTIC.
  std::optional<Token> next_path();
  // The part that next() has not returned yet, with the white space before it.
  Token rest() const { return {line_.substr(at_), at_}; }

 private:
  void skip_blanks() {
    if (at_ < marked_) {
      const auto skipped = static_cast<std::size_t>(std::countr_one(blanks_ >> at_));
      at_ = std::min(at_ + skipped, marked_);
    }
    if (at_ < marked_) return;
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  }
  void skip_token() {
    if (at_ < marked_) {
      const auto skipped = static_cast<std::size_t>(std::countr_zero(blanks_ >> at_));
      at_ = std::min(at_ + skipped, marked_);
      if (at_ < marked_) return;
    }
    while (at_ < line_.size() && !is_blank(line_[at_])) ++at_;
  }
  Token token_from(std::size_t start) const {
    return {std::string_view(line_.data() + start, at_ - start), start};
  }
  // In the token that was skipped, and begins there: of name= and of=; of a name.
  void skip_labels_of_name(std::size_t start);
  void skip_labels(std::size_t from);

  std::string_view line_;
  std::uint64_t blanks_ = 0;
  std::size_t marked_ = 0;
  std::size_t at_ = 0;
  bool have_labels_no_end_ = false;  // else each would be looked for in all of the line
};

// Reads a whole token as a number: decimal, or hexadecimal after 0x; a minus sign only in the
// signed form. Nothing if the token is anything else or does not fit into 64 bits.
std::optional<std::int64_t> parse_signed(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// As append_...() below, into memory that has room for the longest number; they return its end.
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

// The length in bytes of the UTF-8 sequence at the start of text, which is not empty, and its code
// point. 0: there is no such sequence (overlong forms, surrogates, a sequence that is cut off).
std::size_t utf8_length(std::string_view text, char32_t& point);

// docs/files.md, "Names and quotas": 1 to 255 bytes of printable UTF-8 without white space, '/',
// control characters or '=', and neither "." nor "..". Invisible characters are not printable.
bool is_name(std::string_view text);
// As is_name(), but '/' is allowed and the text may be empty.
bool is_units(std::string_view text);

// Appends at most `bytes_max` bytes of text so that it cannot forge a line or control a terminal:
// unprintable characters, backslashes and bytes that are not UTF-8 become \xNN. Returns the column
// of the byte `at` of text, for a caret, counted in code points of the appended text.
std::size_t append_escaped(std::string& out, std::string_view text, std::size_t bytes_max,
                           std::size_t at);

}  // namespace tallyfs
