#include "feeders/text/number.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "core/base/decimal.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kDigitsMax = 1'000'000'000'000'000'000;  // one more digit fits below 10^19
constexpr std::int32_t kExponentBound = 1'000'000;
constexpr int kPowersMax = 38;

constexpr auto kPowers = [] {
  std::array<UInt128, kPowersMax + 1> powers{};
  UInt128 power = 1;
  for (UInt128& each : powers) {
    each = power;
    power *= 10;
  }
  return powers;
}();

// Numbers and powers whose products fit into 63 bits.
constexpr std::size_t kShortDigits = 18;
constexpr std::uint64_t kShortMax = 1'000'000'000;
constexpr int kShortExponentMax = kDecimalsMax;

constexpr UInt128 power_of_10(int exponent) { return kPowers[static_cast<std::size_t>(exponent)]; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads the digits on both sides of the point.
class DigitReader {
 public:
  explicit DigitReader(Number& number) : number_(number) {}

  // Returns how many digits there are at the start of the text.
  std::size_t read(std::string_view text, bool is_fraction) {
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      take(static_cast<unsigned>(text[at] - '0'), is_fraction);
    }
    return at;
  }

 private:
  void take(unsigned digit, bool is_fraction) {
    if (number_.digits < kDigitsMax) {
      number_.digits = number_.digits * 10 + digit;
      number_.exponent -= is_fraction ? 1 : 0;
      return;
    }
    number_.exponent += is_fraction ? 0 : 1;
    add_to_tail(digit);
  }
  void add_to_tail(unsigned digit) {
    using Tail = Number::Tail;
    if (!has_tail_) {
      has_tail_ = true;
      number_.tail = digit == 0  ? Tail::kNone
                     : digit < 5 ? Tail::kBelowHalf
                     : digit > 5 ? Tail::kAboveHalf
                                 : Tail::kHalf;
    } else if (digit != 0 && number_.tail == Tail::kNone) {
      number_.tail = Tail::kBelowHalf;
    } else if (digit != 0 && number_.tail == Tail::kHalf) {
      number_.tail = Tail::kAboveHalf;
    }
  }

  Number& number_;
  bool has_tail_ = false;
};

// `text` begins behind the e. Exponents beyond any text's length all mean the same.
std::optional<std::int32_t> parse_exponent(std::string_view text) {
  const bool is_negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::int32_t exponent = 0;
  for (const char c : text) exponent = std::min(exponent * 10 + (c - '0'), kExponentBound);
  return is_negative ? -exponent : exponent;
}

struct Rounded {
  UInt128 value = 0;
  bool is_rounded = false;
};

// value / divisor, which is 1 or a power of 10, rounded half to even; `tail` belongs to value.
Rounded divide(UInt128 value, UInt128 divisor, Number::Tail tail) {
  using Tail = Number::Tail;
  constexpr UInt128 kWordMax = std::numeric_limits<std::uint64_t>::max();
  if (divisor == 1) {
    const bool is_up = tail == Tail::kAboveHalf || (tail == Tail::kHalf && value % 2 != 0);
    return {value + (is_up ? 1 : 0), tail != Tail::kNone};
  }
  // 128 bits are divided by a loop in the compiler's library.
  const bool are_words = value <= kWordMax && divisor <= kWordMax;
  const UInt128 quotient =
      are_words ? static_cast<std::uint64_t>(value) / static_cast<std::uint64_t>(divisor)
                : value / divisor;
  const UInt128 rest = value - quotient * divisor;
  const UInt128 half = divisor / 2;
  const bool is_half = rest == half && tail == Tail::kNone;
  const bool is_up = is_half ? quotient % 2 != 0 : rest >= half;
  return {quotient + (is_up ? 1 : 0), rest != 0 || tail != Tail::kNone};
}

// digits * 10^exponent as an integer; nothing above `most`.
std::optional<Rounded> shift(const Number& number, int exponent, UInt128 most) {
  Rounded shifted;
  if (number.digits == 0) return shifted;
  if (exponent >= 0) {
    if (exponent > kPowersMax || number.digits > most / power_of_10(exponent)) return std::nullopt;
    shifted = divide(number.digits * power_of_10(exponent), 1, number.tail);
  } else if (-exponent <= kPowersMax) {
    shifted = divide(number.digits, power_of_10(-exponent), number.tail);
  } else {
    shifted.is_rounded = true;
  }
  if (shifted.value > most) return std::nullopt;
  return shifted;
}

}  // namespace

std::optional<Number> parse_number(std::string_view text) {
  Number number;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    number.has_sign = true;
    number.is_negative = text.front() == '-';
    text.remove_prefix(1);
  }
  // Most numbers are so short that no digit of them can be too much.
  std::uint64_t digits = 0;
  std::size_t read = 0;
  for (; read < text.size() && read < kShortDigits && is_digit(text[read]); ++read) {
    digits = digits * 10 + static_cast<unsigned>(text[read] - '0');
  }
  number.digits = digits;
  if (read == text.size() && read != 0) return number;
  text.remove_prefix(read);
  DigitReader reader(number);
  const std::size_t more = reader.read(text, false);
  read += more;
  text.remove_prefix(more);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::size_t decimals = reader.read(text, true);
    text.remove_prefix(decimals);
    read += decimals;
  }
  if (read == 0) return std::nullopt;
  if (!text.empty()) {
    if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
    const auto exponent = parse_exponent(text.substr(1));
    if (!exponent) return std::nullopt;
    number.exponent += *exponent;
  }
  return number;
}

std::optional<ScaledInteger> to_integer(const Number& number, unsigned scale) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const int exponent = number.exponent + static_cast<int>(scale);
  // Most numbers: their product fits, whatever it is.
  if (number.digits <= kShortMax && exponent >= 0 && exponent <= kShortExponentMax) {
    const std::uint64_t power = kPowersOfTen[static_cast<std::size_t>(exponent)];
    const auto size = static_cast<std::int64_t>(number.digits * power);
    return ScaledInteger{number.is_negative ? -size : size, false};
  }
  const auto shifted = shift(number, exponent, number.is_negative ? kMax + 1 : kMax);
  if (!shifted) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(shifted->value);
  return ScaledInteger{static_cast<std::int64_t>(number.is_negative ? 0 - size : size),
                       shifted->is_rounded};
}

std::optional<FixedNumber> to_fixed(const Number& number, unsigned scale) {
  constexpr auto kMax = static_cast<UInt128>(std::numeric_limits<std::int64_t>::max()) * kRestUnits;
  const auto shifted = shift(number, number.exponent + static_cast<int>(scale) + 18, kMax);
  if (!shifted) return std::nullopt;
  const auto size = static_cast<Int128>(shifted->value);
  return FixedNumber{number.is_negative ? -size : size, shifted->is_rounded};
}

std::optional<Weight> to_weight(const Number& rate) {
  if (rate.is_negative || rate.digits == 0) return std::nullopt;
  std::uint64_t digits = rate.digits;
  int exponent = rate.exponent;
  for (; digits % 10 == 0; ++exponent) digits /= 10;
  // digits is at most 10^19, and 1/rate at most 10^18.
  if (exponent > 0 || (exponent == 0 && digits > 1) || -exponent > kPowersMax - 1) {
    return std::nullopt;
  }
  const UInt128 one = power_of_10(-exponent);
  const UInt128 whole = one / digits;
  if (whole == 0 || whole > kRestUnits || (whole == kRestUnits && one % digits != 0)) {
    return std::nullopt;
  }
  const UInt128 rest = (one % digits * kRestUnits + digits - 1) / digits;
  if (rest == kRestUnits) return Weight{static_cast<std::uint64_t>(whole + 1), 0};
  return Weight{static_cast<std::uint64_t>(whole), static_cast<std::uint64_t>(rest)};
}

}  // namespace tallyfs
