#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/base/labels.h"

namespace tallyfs {

// RFC 3629, section 4; values past U+10FFFF are none either.
std::size_t utf8_length(std::string_view text, char32_t& point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    point = first;
    return 1;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  point = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    point = (point << 6) | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < kSmallest[length] || surrogate || point > 0x10FFFF ? 0 : length;
}

namespace {

struct Points {
  char32_t first;
  char32_t last;
};

// What beyond ASCII would split or hide a name on a screen, or make two of one look: control
// characters, white space, what steers the direction of text, what is drawn as nothing or as a
// blank. Unicode 15: Cc, Zs, Zl, Zp, Default_Ignorable_Code_Point (DerivedCoreProperties.txt), the
// interlinear annotations, the Braille blank, and the noncharacters of the Arabic block.
constexpr Points kUnprintable[] = {
    {0x7F, 0xA0},       {0xAD, 0xAD},       {0x34F, 0x34F},   {0x61C, 0x61C},   {0x115F, 0x1160},
    {0x1680, 0x1680},   {0x17B4, 0x17B5},   {0x180B, 0x180F}, {0x2000, 0x200F}, {0x2028, 0x202F},
    {0x205F, 0x206F},   {0x2800, 0x2800},   {0x3000, 0x3000}, {0x3164, 0x3164}, {0xFDD0, 0xFDEF},
    {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

bool is_printable(char32_t point) {
  if (point < 0x7F) return point > 0x20;
  const bool noncharacter = (point & 0xFFFE) == 0xFFFE;  // the last two of each plane
  const auto* const at =
      std::lower_bound(std::begin(kUnprintable), std::end(kUnprintable), point,
                       [](const Points& points, char32_t wanted) { return points.last < wanted; });
  return !noncharacter && (at == std::end(kUnprintable) || point < at->first);
}

bool is_printable_without(std::string_view text, std::string_view forbidden) {
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t length = utf8_length(text, point);
    if (length == 0 || !is_printable(point)) return false;
    if (length == 1 && forbidden.find(text.front()) != std::string_view::npos) return false;
    text.remove_prefix(length);
  }
  return true;
}

// How many characters at the start of text are ASCII that append_escaped() leaves as it is.
std::size_t plain_length(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c < 0x7F && c != '\\'; };
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

template <typename T>
void append_chars(std::string& out, T value, int base) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value, base).ptr;
  out.append(digits, end);
}

// As parse_unsigned(), of what it is mostly called for: digits that fit.
std::optional<std::uint64_t> parse_digits(std::string_view text) {
  constexpr std::size_t kDigitsMax = 18;
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

}  // namespace

void Tokens::skip_labels_of_name(std::size_t start) {
  const std::string_view text = token_from(start).text;
  if (text.starts_with("name=") || text.starts_with("of=")) skip_labels(start);
}

std::optional<Token> Tokens::next_path() {
  const auto token = next();
  const std::size_t slash = token ? token->text.find('/') : std::string_view::npos;
  if (slash == std::string_view::npos) return token;
  skip_labels(token->at + slash);
  return token_from(token->at);
}

// Labels without an end are none, and blanks end their token.
void Tokens::skip_labels(std::size_t from) {
  const std::size_t open = line_.substr(0, at_).find('{', from);
  if (open == std::string_view::npos || have_labels_no_end_) return;
  const std::size_t end = labels_end(line_, open);
  have_labels_no_end_ = end == std::string_view::npos;
  if (have_labels_no_end_ || end <= at_) return;
  at_ = end;
  skip_token();
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  if (const auto common = parse_digits(text)) return common;
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_signed(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto magnitude = parse_unsigned(text);
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  if (!magnitude || *magnitude > kHalf || (!negative && *magnitude == kHalf)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
}

void append_number(std::string& out, std::uint64_t value) { append_chars(out, value, 10); }
void append_number(std::string& out, std::int64_t value) { append_chars(out, value, 10); }

void append_number(std::string& out, Int128 value) {
  auto magnitude = static_cast<UInt128>(value);
  if (value < 0) {
    out.push_back('-');
    magnitude = 0 - magnitude;
  }
  char digits[40];
  char* start = std::end(digits);
  do {
    *--start = static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  out.append(start, std::end(digits));
}

void append_hex(std::string& out, std::uint64_t value) {
  out.append("0x");
  append_chars(out, value, 16);
}

char* write_number(char* at, std::uint64_t value) {
  return std::to_chars(at, at + kNumberBytesMax, value).ptr;
}
char* write_number(char* at, std::int64_t value) {
  return std::to_chars(at, at + kNumberBytesMax, value).ptr;
}

char* write_timestamp(char* at, std::chrono::nanoseconds time) {
  constexpr int kDecimals = 6;
  const auto total_us = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)) / 1000;
  *at++ = '[';
  at = write_number(at, total_us / 1'000'000);
  *at++ = '.';
  auto left = static_cast<std::uint32_t>(total_us % 1'000'000);
  for (int i = kDecimals - 1; i >= 0; --i, left /= 10) at[i] = static_cast<char>('0' + left % 10);
  at += kDecimals;
  *at++ = ']';
  return at;
}

void append_timestamp(std::string& out, std::chrono::nanoseconds time) {
  char text[kTimestampBytesMax];
  out.append(text, write_timestamp(text, time));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && text != "." && text != ".." &&
         is_printable_without(text, "/=");
}

bool is_units(std::string_view text) {
  return text.size() <= kNameBytesMax && is_printable_without(text, "=");
}

std::size_t append_escaped(std::string& out, std::string_view text, std::size_t bytes_max,
                           std::size_t at) {
  constexpr char kDigits[] = "0123456789abcdef";
  const std::size_t limit = out.size() + bytes_max;
  std::size_t column = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < text.size() && out.size() + 4 <= limit;) {
    if (const std::size_t plain = plain_length(text.substr(i, limit - 3 - out.size()))) {
      if (i <= at) found = column + std::min(at - i, plain - 1);
      out.append(text, i, plain);
      column += plain;
      i += plain;
      continue;
    }
    if (i <= at) found = column;
    char32_t point = 0;
    const std::size_t length = utf8_length(text.substr(i), point);
    if (length > 1 && is_printable(point)) {
      out.append(text, i, length);
      column += 1;
      i += length;
    } else {
      const auto byte = static_cast<unsigned char>(text[i]);
      out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
      column += 4;
      i += 1;
    }
  }
  return at >= text.size() ? column : found;
}

}  // namespace tallyfs
