// A decimal number of any length, for products and sums that do not fit into the 19 digits of a
// Number. A value, without threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "feeders/text/number.h"

namespace tallyfs::logs {

class LongDecimal {
 public:
  // text: one that parse_number() takes. Its sign is left out.
  explicit LongDecimal(std::string_view text);

  // Multiplies by factor.digits * 10^factor.exponent; the sign is left out.
  void multiply(const Number& factor);
  // Takes as much memory as the exponents are apart.
  void add(LongDecimal other);
  // The number has the first 19 digits; its tail says what the others are.
  Number rounded() const;

 private:
  std::string digits_;  // '0' to '9'
  std::int64_t exponent_ = 0;
};

}  // namespace tallyfs::logs
