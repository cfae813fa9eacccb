#include "tools/display/onset.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tallyfs::view {
namespace {

// Samples that must be missing before a statistic is called silent.
constexpr double kMissing = 3;
// Events that the baseline never had are expected half a time in it. Otherwise an interval that
// begins before the change would be as unlikely as one that begins with it.
constexpr double kNever = 0.5;

// Sums over the units before one: the counts, and the expected counts. For levels and values they
// are the sum of the deviations, and their number.
struct Sums {
  double counted = 0;
  double expected = 0;
};

Sums sums_of(const Portion& unit, Channel channel, const Baseline& baseline) {
  const double units = static_cast<double>(baseline.blocks * Past::kBlockUnits);
  switch (channel) {
    case Channel::kRate:
      return {unit.count, (baseline.sums.count + kNever) / units};
    case Channel::kLevel:
      return {unit.level_sum - unit.levels * baseline.mean_level, unit.levels};
    case Channel::kValue:
      return {*unit.value - baseline.value_mean, 1};
    case Channel::kTail:
    case Channel::kFarTail:
      break;
  }
  const double levels = baseline.sums.levels;
  const double share = levels > 0 ? (baseline.above_tail + kNever) / levels : 0;
  return {count_above(unit.buckets, baseline.tail_index), unit.levels * share};
}

// How unlikely an interval is; 0 if it is not in the direction of the change.
double unlikeliness(const Sums& sums, const Behaviour& behaviour) {
  const double sign = behaviour.direction == Direction::kUp ? 1 : -1;
  const double x = sums.counted;
  if (behaviour.channel == Channel::kLevel || behaviour.channel == Channel::kValue) {
    return sums.expected > 0 && sign * x > 0 ? x * x / sums.expected : 0;
  }
  if (sign * (x - sums.expected) <= 0) return 0;
  return (x > 0 ? x * std::log(x / sums.expected) : 0) - (x - sums.expected);
}

}  // namespace

Onset onset_of(const Past& past, const Behaviour& behaviour, const Baseline& baseline) {
  const std::size_t units = past.units();
  if (behaviour.channel == Channel::kRate && behaviour.direction == Direction::kDown) {
    const std::size_t quiet = past.units_since_sample().value_or(units);
    const double rate =
        baseline.sums.count / static_cast<double>(baseline.blocks * Past::kBlockUnits);
    const bool is_silent =
        quiet >= Past::kBlockUnits && rate * static_cast<double>(quiet) >= kMissing;
    if (is_silent) return {.begin = quiet, .end = 0, .is_silent = true};
  }
  std::vector<Sums> before(units + 1);
  for (std::size_t i = 0; i < units; ++i) {
    const Sums sums = sums_of(past.unit(i), behaviour.channel, baseline);
    before[i + 1] = {before[i].counted + sums.counted, before[i].expected + sums.expected};
  }
  Onset found{.begin = units};
  double highest = 0;
  for (std::size_t begin = 0; begin < units; ++begin) {
    for (std::size_t end = begin + 1; end <= units; ++end) {
      const double now = unlikeliness({before[end].counted - before[begin].counted,
                                       before[end].expected - before[begin].expected},
                                      behaviour);
      if (now <= highest) continue;
      highest = now;
      found = {.begin = units - begin, .end = units - end};
    }
  }
  return found;
}

}  // namespace tallyfs::view
