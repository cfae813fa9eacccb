#include "feeders/log/rules/filter.h"

#include <algorithm>
#include <array>

#include "core/base/int128.h"
#include "core/base/nearest.h"

namespace tallyfs::logs {
namespace {

using Kind = Filter::Kind;

struct Word {
  std::string_view text;
  Kind kind;
};
constexpr std::array<Word, 6> kWords{{{"route", Kind::kRoute},
                                      {"lower", Kind::kLower},
                                      {"first", Kind::kFirst},
                                      {"class", Kind::kClass},
                                      {"duration", Kind::kDuration},
                                      {"bytes", Kind::kBytes}}};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// 8-4-4-4-12 hexadecimal digits.
bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_variable(std::string_view segment) {
  constexpr std::size_t kSegmentMax = 40;
  constexpr std::size_t kHexMin = 8;
  if (segment.empty()) return false;
  if (segment.size() > kSegmentMax) return true;
  if (std::ranges::all_of(segment, is_digit)) return true;
  return is_uuid(segment) || (segment.size() >= kHexMin && std::ranges::all_of(segment, is_hex));
}

void append_route(std::string& out, std::string_view path) {
  path = path.substr(0, path.find_first_of("?#"));
  for (;;) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    if (is_variable(segment)) {
      out.push_back('*');
    } else {
      out.append(segment);
    }
    if (end == path.size()) return;
    out.push_back('/');
    path.remove_prefix(end + 1);
  }
}

void append_first(std::string& out, char separator, std::string_view value) {
  while (!value.empty() && value.front() == separator) value.remove_prefix(1);
  out.append(value.substr(0, value.find(separator)));
}

void append_class(std::string& out, std::string_view status) {
  if (status.size() == 3 && std::ranges::all_of(status, is_digit)) {
    out.push_back(status.front());
    out.append("xx");
  } else {
    out.append(status);
  }
}

struct Suffix {
  std::string_view text;  // in small letters
  std::uint64_t factor;
  std::int32_t exponent;
};
constexpr std::array<Suffix, 20> kDurations{{
    {"ns", 1, -9},       {"us", 1, -6},    {"\xc2\xb5s", 1, -6}, {"usec", 1, -6},
    {"ms", 1, -3},       {"msec", 1, -3},  {"s", 1, 0},          {"sec", 1, 0},
    {"secs", 1, 0},      {"second", 1, 0}, {"seconds", 1, 0},    {"m", 60, 0},
    {"min", 60, 0},      {"mins", 60, 0},  {"minutes", 60, 0},   {"h", 3'600, 0},
    {"hours", 3'600, 0}, {"d", 86'400, 0}, {"days", 86'400, 0},  {"", 1, 0},
}};
constexpr std::array<Suffix, 17> kSizes{{
    {"", 1, 0},
    {"b", 1, 0},
    {"byte", 1, 0},
    {"bytes", 1, 0},
    {"kb", 1, 3},
    {"mb", 1, 6},
    {"gb", 1, 9},
    {"tb", 1, 12},
    {"kib", 1 << 10, 0},
    {"mib", 1 << 20, 0},
    {"gib", 1 << 30, 0},
    {"tib", 1ULL << 40, 0},
    {"k", 1 << 10, 0},
    {"m", 1 << 20, 0},
    {"g", 1 << 30, 0},
    {"t", 1ULL << 40, 0},
    {"kbytes", 1 << 10, 0},
}};

template <typename Suffixes>
std::optional<Number> with_suffix(const Suffixes& suffixes, std::string_view value) {
  std::size_t end = 0;
  while (end < value.size() &&
         (is_digit(value[end]) || value[end] == '.' || value[end] == '-' || value[end] == '+')) {
    ++end;
  }
  const auto number = parse_number(value.substr(0, end));
  if (!number) return std::nullopt;
  std::string unit;
  for (const char c : value.substr(end)) {
    if (c != ' ') unit.push_back(lower(c));
  }
  const auto found = std::ranges::find(suffixes, unit, &Suffix::text);
  if (found == suffixes.end()) return std::nullopt;
  return multiplied(*number, {.digits = found->factor, .exponent = found->exponent});
}

}  // namespace

Result<Filter> parse_filter(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view word = text.substr(0, colon);
  const auto found = std::ranges::find(kWords, word, &Word::text);
  if (found == kWords.end()) {
    std::vector<std::string> known;
    for (const Word& each : kWords) known.emplace_back(each.text);
    std::string reason = "there is no filter '" + std::string(word.substr(0, 64)) + "'";
    if (const auto meant = nearest(word, known)) reason.append("; did you mean ").append(*meant);
    return invalid(std::move(reason));
  }
  if (found->kind == Kind::kFirst) {
    if (text.size() != colon + 2) return invalid("first needs one character: first:/");
    return Filter{Kind::kFirst, text.back()};
  }
  if (colon != text.size()) return invalid(std::string(word) + " takes no argument");
  return Filter{found->kind};
}

void append_filtered(std::string& out, Filter filter, std::string_view value) {
  switch (filter.kind) {
    case Kind::kRoute:
      return append_route(out, value);
    case Kind::kLower:
      for (const char c : value) out.push_back(lower(c));
      return;
    case Kind::kFirst:
      return append_first(out, filter.separator, value);
    case Kind::kClass:
      return append_class(out, value);
    case Kind::kDuration:
    case Kind::kBytes:
      out.append(value);
      return;
  }
}

std::optional<Number> filtered_number(Filter filter, std::string_view value) {
  return filter.kind == Kind::kDuration ? with_suffix(kDurations, value)
                                        : with_suffix(kSizes, value);
}

std::optional<Number> multiplied(const Number& number, const Number& factor) {
  constexpr std::uint64_t kDigitsMax = 9'999'999'999'999'999'999U;
  UInt128 digits = UInt128{number.digits} * factor.digits;
  std::int32_t exponent = number.exponent + factor.exponent;
  while (digits > kDigitsMax) {
    if (digits % 10 != 0 || number.tail != Number::Tail::kNone) return std::nullopt;
    digits /= 10;
    ++exponent;
  }
  if (number.tail != Number::Tail::kNone && factor.digits != 1) return std::nullopt;
  return Number{.digits = static_cast<std::uint64_t>(digits),
                .exponent = exponent,
                .tail = number.tail,
                .is_negative = number.is_negative != factor.is_negative,
                .has_sign = number.has_sign};
}

}  // namespace tallyfs::logs
