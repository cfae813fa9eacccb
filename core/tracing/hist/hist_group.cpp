#include "core/tracing/hist/hist_group.h"

#include <algorithm>
#include <bit>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

bool is_below_zero(const Expression& key, std::uint64_t value) {
  return key.type.is_signed && static_cast<std::int64_t>(value) < 0;
}

// As the kernel has it: the exponent of the next power of two, 0 for 0.
std::uint64_t log2_of(std::uint64_t value) {
  return value <= 1 ? 0 : static_cast<std::uint64_t>(std::bit_width(value - 1));
}

// The smallest value of the group, with 2^steps groups to an octave.
std::uint64_t log_linear(std::uint64_t value, std::uint64_t steps) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  if (width <= steps + 1) return value;
  const unsigned dropped = width - 1 - static_cast<unsigned>(steps);
  return value >> dropped << dropped;
}

// The number of values in the group that begins with `first`.
std::uint64_t width_of(const Modifiers& modifiers, std::uint64_t first) {
  if (modifiers.display == Display::kBuckets) return modifiers.parameter;
  std::uint64_t width = 1;
  while (first / width >= (std::uint64_t{2} << modifiers.parameter)) width *= 2;
  return width;
}

void append_signed(std::string& out, bool negative, std::uint64_t value) {
  if (negative) out.push_back('-');
  append_number(out, value);
}

void append_exponent(std::string& out, bool negative, std::uint64_t exponent) {
  const std::string digits = std::to_string(exponent);
  out.append(negative ? "~ -2^" : "~ 2^").append(digits).append(digits.size() < 2 ? " " : "");
}

}  // namespace

std::uint64_t group_of(const Expression& key, std::uint64_t value) {
  const auto& [display, parameter, usecs] = key.modifiers;
  const bool negative = is_below_zero(key, value);
  const std::uint64_t size = negative ? 0 - value : value;
  if (display == Display::kBuckets) {
    if (negative) return 0 - ((size - 1) / parameter * parameter + 1);
    return value - value % parameter;
  }
  if (display != Display::kLog2) return value;
  if (parameter == 0) return negative ? ~log2_of(size) : log2_of(size);
  return negative ? 0 - log_linear(size, parameter) : log_linear(size, parameter);
}

void append_group(std::string& out, const Expression& key, std::uint64_t group) {
  const bool negative = is_below_zero(key, group);
  if (key.modifiers.display == Display::kLog2 && key.modifiers.parameter == 0) {
    return append_exponent(out, negative, negative ? ~group : group);
  }
  const std::uint64_t first = negative ? 0 - group : group;
  // The last group ends at the largest number, so it may have fewer values.
  const std::uint64_t most =
      (~std::uint64_t{0} >> (key.type.is_signed ? 1 : 0)) + (negative ? 1 : 0);
  const std::uint64_t last = first + std::min(width_of(key.modifiers, first) - 1, most - first);
  out.append("~ ");
  append_signed(out, negative, negative ? last : first);
  out.push_back('-');
  append_signed(out, negative, negative ? first : last);
}

}  // namespace tallyfs::tracing
