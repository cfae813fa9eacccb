#include "core/tracing/hist/hist_value.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/int128.h"
#include "core/tracing/hist/hist_plan.h"

namespace tallyfs::tracing {
namespace {

// Words of a percentile before its counters.
constexpr std::uint32_t kSmallestWord = 0;
constexpr std::uint32_t kLargestWord = 1;
constexpr std::uint32_t kCountersWord = 2;

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// Maps signed and unsigned numbers to numbers whose unsigned comparison gives the same order.
std::uint64_t in_order(std::uint64_t value, bool is_signed) {
  return is_signed ? value ^ kSignBit : value;
}

bool is_negative(std::uint64_t value, bool is_signed) {
  return is_signed && (value & kSignBit) != 0;
}

std::uint64_t magnitude(std::uint64_t value, bool is_signed) {
  return is_negative(value, is_signed) ? 0 - value : value;
}

std::uint32_t quantile_bucket(std::uint64_t value) {
  if (value < kOctaveSteps) return static_cast<std::uint32_t>(value);
  const auto octave = static_cast<unsigned>(std::bit_width(value)) - 4;  // 1 for 16..31
  return octave * kOctaveSteps + static_cast<std::uint32_t>((value >> (octave - 1)) - kOctaveSteps);
}

// The smallest and the largest value of a bucket.
std::uint64_t bucket_low(std::uint32_t bucket) {
  if (bucket < kOctaveSteps) return bucket;
  const unsigned octave = bucket / kOctaveSteps;
  return (std::uint64_t{bucket % kOctaveSteps} + kOctaveSteps) << (octave - 1);
}

std::uint64_t bucket_high(std::uint32_t bucket) {
  if (bucket < kOctaveSteps) return bucket;
  return bucket_low(bucket) + (std::uint64_t{1} << (bucket / kOctaveSteps - 1)) - 1;
}

// The buckets of a signed value begin with the negative ones, the farthest from 0 first.
std::uint32_t counters_of(bool is_signed) {
  return is_signed ? 2 * kQuantileBuckets : kQuantileBuckets;
}

std::uint32_t counter_of(std::uint64_t value, bool is_signed) {
  const std::uint32_t bucket = quantile_bucket(magnitude(value, is_signed));
  if (!is_signed) return bucket;
  return is_negative(value, true) ? kQuantileBuckets - 1 - bucket : kQuantileBuckets + bucket;
}

std::uint64_t largest_of(std::uint32_t counter, bool is_signed) {
  if (!is_signed) return bucket_high(counter);
  if (counter >= kQuantileBuckets) return bucket_high(counter - kQuantileBuckets);
  return 0 - bucket_low(kQuantileBuckets - 1 - counter);
}

std::uint64_t smaller(std::uint64_t a, std::uint64_t b, bool is_signed) {
  return in_order(a, is_signed) < in_order(b, is_signed) ? a : b;
}

std::uint64_t larger(std::uint64_t a, std::uint64_t b, bool is_signed) {
  return in_order(a, is_signed) < in_order(b, is_signed) ? b : a;
}

void count_quantile(std::uint64_t* words, std::uint64_t value, bool is_signed, Hit hit) {
  const bool first = hit == Hit::kFirst;
  words[kSmallestWord] = first ? value : smaller(words[kSmallestWord], value, is_signed);
  words[kLargestWord] = first ? value : larger(words[kLargestWord], value, is_signed);
  auto* const counters = reinterpret_cast<std::uint32_t*>(words + kCountersWord);
  std::uint32_t& counter = counters[counter_of(value, is_signed)];
  if (counter != ~std::uint32_t{0}) counter += 1;
}

void add_square(std::uint64_t* words, std::uint64_t value) {
  UInt128 squares = static_cast<UInt128>(words[1]) << 64 | words[0];
  squares += static_cast<UInt128>(value) * value;
  words[0] = static_cast<std::uint64_t>(squares);
  words[1] = static_cast<std::uint64_t>(squares >> 64);
}

// The smallest value that at least so many values do not exceed, to the precision of the buckets.
std::uint64_t percentile(const std::uint64_t* words, std::uint64_t hits, std::uint64_t per_mille,
                         bool is_signed) {
  const auto* const counters = reinterpret_cast<const std::uint32_t*>(words + kCountersWord);
  std::uint64_t wanted = (hits * per_mille + 999) / 1000;
  std::uint32_t at = 0;
  for (; at + 1 < counters_of(is_signed) && counters[at] < wanted; ++at) wanted -= counters[at];
  const std::uint64_t found = larger(largest_of(at, is_signed), words[kSmallestWord], is_signed);
  return smaller(found, words[kLargestWord], is_signed);
}

}  // namespace

std::uint32_t words_of_value(const Expression& value) {
  const Display display = value.modifiers.display;
  if (display == Display::kDeviation) return 3;
  if (!is_percentile(display)) return 1;
  return kCountersWord + counters_of(value.type.is_signed) / 2;
}

void add_value(const Expression& to, std::uint64_t* words, std::uint64_t value, Hit hit) {
  const bool is_signed = to.type.is_signed;
  switch (to.modifiers.display) {
    case Display::kMinimum:
      words[0] = hit == Hit::kFirst ? value : smaller(words[0], value, is_signed);
      break;
    case Display::kMaximum:
      words[0] = hit == Hit::kFirst ? value : larger(words[0], value, is_signed);
      break;
    case Display::kDeviation:
      words[0] += value;
      add_square(words + 1, magnitude(value, is_signed));
      break;
    case Display::kP50:
    case Display::kP99:
    case Display::kP999:
      count_quantile(words, value, is_signed, hit);
      break;
    default:
      words[0] += value;
  }
}

std::uint64_t shown_value(const ValuePart& part, const std::uint64_t* values) {
  const std::uint64_t hits = values[kHitsWord];
  const std::uint64_t* const words = values + part.word;
  const bool is_signed = part.value.type.is_signed;
  switch (part.value.modifiers.display) {
    case Display::kP50:
      return percentile(words, hits, 500, is_signed);
    case Display::kP99:
      return percentile(words, hits, 990, is_signed);
    case Display::kP999:
      return percentile(words, hits, 999, is_signed);
    default:
      return words[0];
  }
}

bool has_decimals(Display display) {
  return display == Display::kAverage || display == Display::kDeviation;
}

double shown_decimals(const ValuePart& part, const std::uint64_t* values) {
  const auto hits = static_cast<long double>(values[kHitsWord]);
  const std::uint64_t* const words = values + part.word;
  const bool is_signed = part.value.type.is_signed;
  const std::uint64_t sum = magnitude(words[0], is_signed);
  const long double average = static_cast<long double>(sum) / hits;
  if (part.value.modifiers.display == Display::kAverage) {
    return static_cast<double>(is_negative(words[0], is_signed) ? -average : average);
  }
  const UInt128 squares = static_cast<UInt128>(words[2]) << 64 | words[1];
  // n * sum of squares - square of the sum: exact as long as it fits. Deviation of the population.
  const UInt128 n = values[kHitsWord];
  const auto difference = static_cast<long double>(n * squares - static_cast<UInt128>(sum) * sum);
  const bool exact = squares == 0 || n <= ~UInt128{0} / squares;
  const long double variance =
      exact ? difference / (hits * hits)
            : std::max(0.0L, static_cast<long double>(squares) / hits - average * average);
  return static_cast<double>(std::sqrt(variance));
}

}  // namespace tallyfs::tracing
