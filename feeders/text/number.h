// Decimal numbers, kept exactly as their text says: no double on the way.
//
//   number = [+-] digits [ "." digits ] [ e [+-] digits ]
//
// Digits may be missing on one side of the point; E is e, as Java writes it. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/int128.h"

namespace tallyfs {

struct Number {
  // The digits after the kept ones, as a part of the last kept digit.
  enum class Tail : std::uint8_t { kNone, kBelowHalf, kHalf, kAboveHalf };

  std::uint64_t digits = 0;   // at most the first 19 from the first that is not 0
  std::int32_t exponent = 0;  // digits * 10^exponent, without the tail
  Tail tail = Tail::kNone;    // only after 19 digits
  bool is_negative = false;
  bool has_sign = false;
};

std::optional<Number> parse_number(std::string_view text);

struct ScaledInteger {
  std::int64_t value = 0;
  bool is_rounded = false;
};
// number * 10^scale, rounded half to even. nullopt: it does not fit. scale: 0 to 9.
std::optional<ScaledInteger> to_integer(const Number& number, unsigned scale);

// The unit of what is carried: 10^-18.
inline constexpr std::uint64_t kRestUnits = 1'000'000'000'000'000'000;

struct FixedNumber {
  Int128 units = 0;  // of 10^-18; the whole part fits into 64 bits
  bool is_rounded = false;
};
// The number * 10^scale with 18 decimals.
std::optional<FixedNumber> to_fixed(const Number& number, unsigned scale);

// How many samples one sent sample represents: 1/rate, as a whole number and a rest in units of
// 10^-18, which is rounded up, so that three times 1/0.3 are 10.
struct Weight {
  std::uint64_t whole = 1;
  std::uint64_t rest = 0;
  bool operator==(const Weight&) const = default;
};
// nullopt unless 10^-18 <= rate <= 1. Digits of the rate after the 19th are ignored.
std::optional<Weight> to_weight(const Number& rate);

}  // namespace tallyfs
