#include "core/statistics/exposition/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/text.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint64_t kLimb = 1'000'000'000'000'000'000;
constexpr unsigned kLimbDigits = 18;
// A double has all integers up to here.
constexpr Int128 kExactDoubleMax = Int128{1} << 53;

// The digits of a product that 128 bits may not hold.
void append_product(std::string& out, UInt128 magnitude, std::uint64_t multiplier) {
  std::array<std::uint64_t, 5> limbs{};
  UInt128 carry = 0;
  std::size_t size = 0;
  for (; magnitude != 0 || carry != 0; magnitude /= kLimb) {
    carry += magnitude % kLimb * multiplier;
    limbs[size++] = static_cast<std::uint64_t>(carry % kLimb);
    carry /= kLimb;
  }
  if (size == 0) size = 1;
  append_number(out, limbs[size - 1]);
  for (std::size_t i = size - 1; i-- > 0;) {
    const std::string digits = std::to_string(limbs[i]);
    out.append(kLimbDigits - digits.size(), '0').append(digits);
  }
}

// The digits behind `start` are those of a number with the scale's decimals.
void set_point(std::string& out, std::size_t start, const UnitScale& scale) {
  const std::size_t digits = out.size() - start;
  if (digits <= scale.decimals) out.insert(start, scale.decimals + 1 - digits, '0');
  const std::size_t point = out.size() - scale.decimals;
  out.insert(point, 1, '.');
  out.erase(std::max(out.find_last_not_of('0') + 1, point + 1 + scale.places));
  if (out.size() == point + 1) out.pop_back();
}

}  // namespace

UnitScale scale_of(const UnitFactor& factor) {
  UnitScale scale{.multiplier = factor.numerator};
  std::uint64_t rest = factor.denominator;
  for (; rest % 10 == 0; rest /= 10) ++scale.decimals;
  // 1 / 8 is 125 / 1000.
  for (; rest % 2 == 0; rest /= 2) {
    scale.multiplier *= 5;
    ++scale.decimals;
  }
  return scale;
}

void append_decimal(std::string& out, const Quantity& quantity) {
  const auto& [value, scale] = quantity;
  if (value < 0) out.push_back('-');
  const UInt128 magnitude =
      value < 0 ? 0 - static_cast<UInt128>(value) : static_cast<UInt128>(value);
  const std::size_t start = out.size();
  const UInt128 product = magnitude * scale.multiplier;
  if (magnitude < kLimb && product <= ~std::uint64_t{0}) {
    append_number(out, static_cast<std::uint64_t>(product));
  } else {
    append_product(out, magnitude, scale.multiplier);
  }
  if (scale.decimals != 0) set_point(out, start, scale);
}

double to_double(const Quantity& quantity) {
  const auto& [value, scale] = quantity;
  if (scale == UnitScale{} && value <= kExactDoubleMax && value >= -kExactDoubleMax) {
    return static_cast<double>(static_cast<std::int64_t>(value));
  }
  std::string digits;
  append_decimal(digits, quantity);
  double nearest = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), nearest);
  return nearest;
}

void append_go_double(std::string& out, double value) {
  if (std::isinf(value)) {
    out.append(value < 0 ? "-Inf" : "+Inf");
    return;
  }
  constexpr std::size_t kBytes = 32;
  constexpr int kLeastExponent = -4;
  constexpr int kExponentBound = 6;
  std::array<char, kBytes> text;
  const auto print = [&](std::chars_format format) {
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format).ptr;
    return std::string_view(text.data(), static_cast<std::size_t>(end - text.data()));
  };
  const std::string_view scientific = print(std::chars_format::scientific);
  const std::string_view digits = scientific.substr(scientific.find('e') + 2);
  int exponent = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (scientific[scientific.find('e') + 1] == '-') exponent = -exponent;
  if (exponent < kLeastExponent || exponent >= kExponentBound) {
    out.append(scientific);
    return;
  }
  const std::string_view plain = print(std::chars_format::fixed);
  out.append(plain);
  if (plain.find('.') == std::string_view::npos) out.append(".0");
}

}  // namespace tallyfs::statistics
