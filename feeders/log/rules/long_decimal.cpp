#include "feeders/log/rules/long_decimal.h"

#include <algorithm>
#include <utility>

#include "core/base/int128.h"

namespace tallyfs::logs {

// parse_number() has read the exponent: the difference between its digits and those here.
LongDecimal::LongDecimal(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  bool is_fraction = false;
  for (const char c : text.substr(0, end)) {
    if (c == '.') is_fraction = true;
    if (c < '0' || c > '9') continue;
    digits_.push_back(c);
    exponent_ -= is_fraction ? 1 : 0;
  }
  const auto power = parse_number("1" + std::string(text.substr(end)));
  exponent_ += power ? power->exponent : 0;
}

// The digits are multiplied from the last to the first, as by hand.
void LongDecimal::multiply(const Number& factor) {
  std::string product;
  UInt128 carry = 0;
  for (auto digit = digits_.rbegin(); digit != digits_.rend() || carry != 0;) {
    if (digit != digits_.rend()) carry += UInt128{factor.digits} * unsigned(*digit++ - '0');
    product.push_back(static_cast<char>('0' + static_cast<int>(carry % 10)));
    carry /= 10;
  }
  std::ranges::reverse(product);
  digits_ = std::move(product);
  exponent_ += factor.exponent;
}

void LongDecimal::add(LongDecimal other) {
  if (exponent_ < other.exponent_) std::swap(*this, other);
  digits_.append(static_cast<std::size_t>(exponent_ - other.exponent_), '0');
  exponent_ = other.exponent_;
  const std::size_t size = std::max(digits_.size(), other.digits_.size()) + 1;
  digits_.insert(0, size - digits_.size(), '0');
  other.digits_.insert(0, size - other.digits_.size(), '0');
  int carry = 0;
  for (std::size_t i = size; i-- != 0; carry /= 10) {
    carry += (digits_[i] - '0') + (other.digits_[i] - '0');
    digits_[i] = static_cast<char>('0' + carry % 10);
  }
}

Number LongDecimal::rounded() const {
  const std::string text = "0" + digits_ + "e" + std::to_string(exponent_);
  return parse_number(text).value_or(Number{});
}

}  // namespace tallyfs::logs
