// A value of a histogram for each of its keys, and the result that is shown. The result is the sum,
// the smallest, the largest, the average, the deviation, or a percentile. Values of signed fields
// count with their sign in all of these but sums. Sums are shown without a sign, as in the kernel.
//
// Pure; the words are confined to the holder of the HistTable or of its copy. A percentile is at
// most a sixteenth too large and never too small. It is never beyond the smallest and the largest
// value that was added.
#pragma once

#include <cstdint>

#include "core/tracing/hist/expression.h"

namespace tallyfs::tracing {

// Log-linear buckets of values, 16 to an octave.
inline constexpr std::uint32_t kOctaveSteps = 16;
inline constexpr std::uint32_t kQuantileBuckets = kOctaveSteps * 61;

struct ValuePart {
  Expression value;
  // At this word is the sum; for kMinimum and kMaximum, the extreme value. For kDeviation, two
  // words of the sum of squares follow the sum. For percentiles: the smallest, the largest and u32
  // counters. Averages keep the sum.
  std::uint32_t word = 0;

  // Whether the value that is shown is to be read as a std::int64_t.
  bool is_shown_signed() const {
    return value.type.is_signed && is_statistic(value.modifiers.display);
  }
};

// The number of words that the value takes in an entry.
std::uint32_t words_of_value(const Expression& value);
// Whether it is the first hit of the entry.
enum class Hit : bool { kFirst, kLater };
// Adds one more value.
void add_value(const Expression& to, std::uint64_t* words, std::uint64_t value, Hit hit);

// The value of an entry as it is shown. Sums are shown as they are; a percentile is the largest
// value of its bucket.
std::uint64_t shown_value(const ValuePart& part, const std::uint64_t* values);
// Averages and deviations have decimals.
bool has_decimals(Display display);
double shown_decimals(const ValuePart& part, const std::uint64_t* values);

}  // namespace tallyfs::tracing
