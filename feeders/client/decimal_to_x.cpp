#include "feeders/client/decimal_to_x.h"

#include "core/base/decimal.h"

namespace tallyfs {

// Without libm, which each program that links libtally statically would need.
Result<std::int64_t> decimal_to_x(double number, unsigned decimals) {
  if (decimals == 0) return invalid("whole numbers only: the statistic has no decimals");
  if (!__builtin_isfinite(number)) return invalid("X is no finite number");
  const long double x = static_cast<long double>(number) * kPowersOfTen[decimals];
  constexpr long double kEnd = 0x1p63L;
  if (x >= kEnd || x < -kEnd) return invalid("X does not fit into 64 bits");
  const auto whole = static_cast<std::int64_t>(x);
  const long double rest = x - static_cast<long double>(whole);
  const bool is_odd = whole % 2 != 0;
  if (rest > 0.5L || (rest == 0.5L && is_odd)) return whole + 1;
  if (rest < -0.5L || (rest == -0.5L && is_odd)) return whole - 1;
  return whole;
}

}  // namespace tallyfs
