// What a histogram keeps of a value for each of its keys, and what that comes to when it is shown:
// the sum; or the smallest, the largest, the average, the deviation, a percentile. Fields that are
// signed count with their sign in all of these but sums, which are shown as the kernel shows them,
// without one.
//
// Pure; the words are confined to who holds the HistTable or its copy. A percentile is right within
// a sixteenth, never too small, and never beyond the smallest and the largest value that there
// were.
#pragma once

#include <cstdint>

#include "core/event/hist/expression.h"

namespace tallyfs {

// Log-linear buckets of values, 16 to an octave.
inline constexpr std::uint32_t kOctaveSteps = 16;
inline constexpr std::uint32_t kQuantileBuckets = kOctaveSteps * 61;

struct ValuePart {
  Expression value;
  // sum; or for kMinimum and kMaximum that; for kDeviation the sum and two of the sum of squares;
  // for percentiles the smallest, the largest and u32 counters. Averages are sums.
  std::uint32_t word = 0;

  // Whether what is shown of it is to be read as a std::int64_t.
  bool is_shown_signed() const {
    return value.type.is_signed && is_statistic(value.modifiers.display);
  }
};

// How many words of an entry it takes.
std::uint32_t words_of_value(const Expression& value);
// Which one of the entry.
enum class Hit : bool { kFirst, kLater };
// Takes one more value in.
void add_value(const Expression& to, std::uint64_t* words, std::uint64_t value, Hit hit);

// A value of an entry as it is shown: sums as they are, of a percentile the largest value of its
// bucket.
std::uint64_t shown_value(const ValuePart& part, const std::uint64_t* values);
// Averages and deviations have decimals.
bool has_decimals(Display display);
double shown_decimals(const ValuePart& part, const std::uint64_t* values);

}  // namespace tallyfs
