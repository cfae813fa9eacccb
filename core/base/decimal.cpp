#include "core/base/decimal.h"

#include <algorithm>
#include <limits>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr UInt128 kMagnitudeMax = UInt128{1} << 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether the digits that do not fit into the places are more than a half, and whether they are
// exactly that.
struct Rest {
  bool is_more = false;
  bool is_half = false;
  bool is_zero = true;
};

Rest rest_of(std::string_view digits) {
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return {};
  const bool is_five_alone =
      digits.front() == '5' && digits.find_first_not_of('0', 1) == std::string_view::npos;
  return {.is_more = digits.front() >= '5' && !is_five_alone,
          .is_half = is_five_alone,
          .is_zero = false};
}

// Appends digits to a magnitude. False: it does not fit into 64 bits.
bool append_digits(UInt128& magnitude, std::string_view digits) {
  for (const char c : digits) {
    magnitude = magnitude * 10 + static_cast<UInt128>(c - '0');
    if (magnitude > kMagnitudeMax) return false;
  }
  return true;
}

}  // namespace

bool is_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() == 1) return false;
  return std::ranges::all_of(text.substr(0, point), is_digit) &&
         std::ranges::all_of(text.substr(point + 1), is_digit);
}

std::optional<Fixed> parse_fixed(std::string_view text, unsigned decimals) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view behind = text.substr(std::min(point + 1, text.size()));
  const std::string_view kept = behind.substr(0, decimals);
  UInt128 magnitude = 0;
  if (!append_digits(magnitude, text.substr(0, point))) return std::nullopt;
  if (!append_digits(magnitude, kept)) return std::nullopt;
  magnitude *= kPowersOfTen[decimals - kept.size()];
  const Rest rest = rest_of(behind.substr(kept.size()));
  if (rest.is_more || (rest.is_half && magnitude % 2 != 0)) ++magnitude;
  if (magnitude > kMagnitudeMax - (is_negative ? 0 : 1)) return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(magnitude);
  return Fixed{.value = static_cast<std::int64_t>(is_negative ? 0 - bits : bits),
               .is_rounded = !rest.is_zero};
}

std::optional<std::int64_t> to_fixed(std::int64_t whole, unsigned decimals) {
  std::int64_t value = 0;
  const auto power = static_cast<std::int64_t>(kPowersOfTen[decimals]);
  if (__builtin_mul_overflow(whole, power, &value)) return std::nullopt;
  return value;
}

void append_fixed(std::string& out, Int128 value, unsigned decimals) {
  if (value < 0) out.push_back('-');
  const std::size_t start = out.size();
  const UInt128 bits = static_cast<UInt128>(value);
  const UInt128 magnitude = value < 0 ? 0 - bits : bits;
  if (magnitude <= std::numeric_limits<std::uint64_t>::max()) {
    append_number(out, static_cast<std::uint64_t>(magnitude));
  } else {
    append_number(out, static_cast<Int128>(magnitude / 10));
    out.push_back(static_cast<char>('0' + static_cast<int>(magnitude % 10)));
  }
  if (decimals == 0) return;
  const std::size_t digits = out.size() - start;
  if (digits <= decimals) out.insert(start, decimals + 1 - digits, '0');
  out.insert(out.size() - decimals, 1, '.');
}

std::size_t fixed_length(std::int64_t value, unsigned decimals) {
  const auto bits = static_cast<std::uint64_t>(value);
  std::size_t digits = 1;
  for (std::uint64_t left = value < 0 ? 0 - bits : bits; left >= 10; left /= 10) ++digits;
  const std::size_t point = decimals == 0 ? 0 : 1;
  return (value < 0 ? 1 : 0) + std::max<std::size_t>(digits, decimals + point) + point;
}

}  // namespace tallyfs
