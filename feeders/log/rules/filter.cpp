#include "feeders/log/rules/filter.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/base/encoded_name.h"
#include "core/base/int128.h"
#include "core/base/nearest.h"
#include "feeders/log/rules/long_decimal.h"

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
// Programs write either of the two characters for micro.
constexpr std::array<Suffix, 21> kDurations{{
    {"ns", 1, -9},   {"us", 1, -6},       {"\xc2\xb5s", 1, -6}, {"\xce\xbcs", 1, -6},
    {"usec", 1, -6}, {"ms", 1, -3},       {"msec", 1, -3},      {"s", 1, 0},
    {"sec", 1, 0},   {"secs", 1, 0},      {"second", 1, 0},     {"seconds", 1, 0},
    {"m", 60, 0},    {"min", 60, 0},      {"mins", 60, 0},      {"minutes", 60, 0},
    {"h", 3'600, 0}, {"hours", 3'600, 0}, {"d", 86'400, 0},     {"days", 86'400, 0},
    {"", 1, 0},
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

constexpr bool is_of_number(char c) { return is_digit(c) || c == '.' || c == '-' || c == '+'; }

std::size_t number_bytes(std::string_view value) {
  const auto end = std::ranges::find_if_not(value, is_of_number);
  return static_cast<std::size_t>(end - value.begin());
}

// The unit is a Number, so that it can multiply one.
std::optional<Number> unit_of(Filter filter, std::string_view text) {
  std::string unit;
  for (const char c : text) {
    if (c != ' ') unit.push_back(lower(c));
  }
  const std::span<const Suffix> suffixes = filter.kind == Kind::kDuration
                                               ? std::span<const Suffix>(kDurations)
                                               : std::span<const Suffix>(kSizes);
  const auto found = std::ranges::find(suffixes, unit, &Suffix::text);
  if (found == suffixes.end()) return std::nullopt;
  return Number{.digits = found->factor, .exponent = found->exponent};
}

std::uint64_t nanoseconds_of(const Number& unit) {
  std::uint64_t ns = unit.digits;
  for (std::int32_t exponent = unit.exponent; exponent > -9; --exponent) ns *= 10;
  return ns;
}

// 1h2m3.5s: each unit is smaller than the one before it. The sign is before all of them.
std::optional<LongDecimal> sum_of_parts(std::string_view value) {
  if (value.starts_with('-') || value.starts_with('+')) value.remove_prefix(1);
  std::optional<LongDecimal> sum;
  for (std::uint64_t last = UINT64_MAX; !value.empty();) {
    const std::size_t digits = number_bytes(value);
    const std::size_t rest = std::min(value.find_first_of("0123456789", digits), value.size());
    const auto unit = unit_of({Kind::kDuration}, value.substr(digits, rest - digits));
    const bool has_unit = rest != digits && unit && nanoseconds_of(*unit) < last;
    if (!has_unit || !parse_number(value.substr(0, digits))) return std::nullopt;
    last = nanoseconds_of(*unit);
    LongDecimal part(value.substr(0, digits));
    part.multiply(*unit);
    if (sum) part.add(std::move(*sum));
    sum = std::move(part);
    value.remove_prefix(rest);
  }
  return sum;
}

Number product_of(LongDecimal number, const Number& factor, bool is_negative) {
  number.multiply(factor);
  Number product = number.rounded();
  product.is_negative = is_negative != factor.is_negative;
  return product;
}

// number * factor, if 19 digits hold it.
std::optional<Number> short_product(const Number& number, const Number& factor) {
  constexpr std::uint64_t kDigitsMax = 9'999'999'999'999'999'999U;
  if (number.tail != Number::Tail::kNone && factor.digits != 1) return std::nullopt;
  const UInt128 digits = UInt128{number.digits} * factor.digits;
  if (digits > kDigitsMax) return std::nullopt;
  return Number{.digits = static_cast<std::uint64_t>(digits),
                .exponent = number.exponent + factor.exponent,
                .tail = number.tail,
                .is_negative = number.is_negative != factor.is_negative,
                .has_sign = number.has_sign};
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
    if (const auto meant = nearest(word, known)) {
      reason.append("; did you mean ").append(*meant);
    } else {
      for (const std::string& each : known)
        reason.append(&each == known.data() ? "; there are " : ", ").append(each);
    }
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

std::optional<Number> filtered_number(Filter filter, std::string_view value,
                                      const Number& factor) {
  const std::size_t end = number_bytes(value);
  const auto unit = unit_of(filter, value.substr(end));
  if (!unit) {
    const auto sum = filter.kind == Kind::kDuration ? sum_of_parts(value) : std::nullopt;
    if (!sum) return std::nullopt;
    return product_of(*sum, factor, value.starts_with('-'));
  }
  const auto product = multiplied(value.substr(0, end), *unit);
  if (!product) return std::nullopt;
  if (const auto whole = short_product(*product, factor)) return whole;
  LongDecimal exact(value.substr(0, end));
  exact.multiply(*unit);
  return product_of(std::move(exact), factor, product->is_negative);
}

std::optional<Number> multiplied(std::string_view text, const Number& factor) {
  const auto number = parse_number(text);
  if (!number) return std::nullopt;
  if (const auto product = short_product(*number, factor)) return product;
  return product_of(LongDecimal(text), factor, number->is_negative);
}

}  // namespace tallyfs::logs
