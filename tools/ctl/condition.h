// A condition of `tallyctl check`: WHAT METRIC OPERATOR LIMIT, as `web/latency_us p99 < 20ms`.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tools/display/change.h"
#include "tools/display/look.h"
#include "tools/display/statistic.h"

namespace tallyfs {

struct Limit {
  double number = 0;
  double factor = 1;  // to nanoseconds or bytes, by `kind`; of a number without a unit 1
  view::Quantity::Kind kind = view::Quantity::Kind::kNumber;
  bool has_unit = false;
};

struct Condition {
  enum class Metric : std::uint8_t { kPercentile, kMin, kAvg, kMax, kCount, kRate, kValue, kLast };
  enum class Operator : std::uint8_t { kBelow, kAtMost, kAbove, kAtLeast };

  std::string what;
  std::string metric_text;  // "p99.9"
  Metric metric = Metric::kCount;
  std::uint32_t millionths = 0;  // of kPercentile: 1 to 999,999
  Operator op = Operator::kBelow;
  std::string limit_text;  // "20ms"
  Limit limit;

  // Whether it is about X, and not about how many samples there are.
  bool is_of_x() const;
  // "< 20ms"
  std::string wanted_text() const;
};

// kInvalid: it is none; the reason has one that is right.
Result<Condition> parse_condition(std::string_view text);

// The quantity of the compared number; a limit without a unit is also in this quantity.
view::Quantity quantity_of(const Condition& condition, const view::Statistic& statistic);
// The limit in the unit of the number that is compared. kInvalid: it has another unit.
Result<double> limit_of(const Condition& condition, const view::Statistic& statistic);

struct Measured {
  double value = 0;  // in the unit of the statistic's X, or of its counts
  double limit = 0;  // in the same unit
  std::string text;  // "27us (17-32)"
  bool holds = false;
};

// Measures all samples of a statistic or, with a change, the samples of that. kInvalid: there is no
// number, with the reason: the statistic is off, there was no sample, its type has no such metric,
// or the limit has another unit.
Result<Measured> measure(const Condition& condition, const view::Statistic& statistic,
                         const view::Change* change, view::Charset charset);

}  // namespace tallyfs
