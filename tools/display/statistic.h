// The contents of `data.json` and `statistics.json` as values: a snapshot of one interface, and of
// the whole tree. Times are CLOCK_MONOTONIC in microseconds, but `realtime_us` is the wall clock of
// the same moment.
//
// Totals are exact up to 127 bits. Values only: no files, no JSON, no threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/decimal.h"
#include "core/base/int128.h"
#include "core/base/statistic_types.h"
#include "core/base/text.h"

namespace tallyfs::view {

struct Value {
  static constexpr std::string_view kType = "value";
  Int128 total = 0;
};

// min, avg and max are absent while number is 0, and in differences, where they are unknown.
struct Range {
  static constexpr std::string_view kType = "range";
  std::uint64_t number = 0;
  std::optional<std::int64_t> min;
  std::optional<double> avg;
  std::optional<std::int64_t> max;
  Int128 sum = 0;
};

struct List {
  static constexpr std::string_view kType = "list";
  std::vector<std::int64_t> x;
  std::vector<Int128> totals;
};

// counts[i] is of X up to bounds[i]; the last count, beyond all bounds, has no bound. A latency
// histogram also counts what lies outside of its range.
struct Array {
  static constexpr std::string_view kType = "array";
  std::vector<Int128> bounds;  // the last one may be 2^63
  std::vector<Int128> counts;
  std::uint64_t below = 0;
  std::uint64_t above = 0;
};

struct Raw {
  static constexpr std::string_view kType = "raw";
  std::vector<std::uint64_t> time_us;
  std::vector<std::uint64_t> serial;
  std::vector<std::int64_t> x;
  std::vector<std::uint64_t> y;
};

// A percentile that the daemon shows: its label, "99.9", and its value if there are samples.
struct ShownQuantile {
  std::string q;
  std::optional<std::int64_t> value;
};

// Buckets of one sign, by the index of core/base/exponential_buckets.h.
struct Buckets {
  std::vector<std::int32_t> indexes;
  std::vector<Int128> counts;
};

struct Quantiles {
  static constexpr std::string_view kType = "quantiles";
  Range all;
  std::vector<ShownQuantile> shown;
  Int128 zero = 0;
  Buckets positive;
  Buckets negative;
};

struct Last {
  static constexpr std::string_view kType = "last";
  std::optional<std::uint64_t> time_us;
  std::int64_t x = 0;
};

// One percentile of each period.
struct QuantileColumn {
  std::string q;
  std::vector<std::optional<std::int64_t>> values;
};

// Columns by period, oldest first. With totals alone: modes increments and products. Else `number`
// and the rest, as type=range has them; `sum` in mode range, `quantiles` in mode quantiles.
struct History {
  static constexpr std::string_view kType = "history";
  std::vector<std::uint64_t> end_us;
  std::vector<Int128> totals;
  std::vector<std::uint64_t> number;
  std::vector<std::optional<std::int64_t>> min;
  std::vector<std::optional<double>> avg;
  std::vector<std::optional<std::int64_t>> max;
  std::vector<Int128> sum;
  std::vector<QuantileColumn> quantiles;
};

using Values = std::variant<Value, Range, List, Array, Raw, Quantiles, Last, History>;
static_assert(has_each_type(static_cast<const Values*>(nullptr)));

struct Key {
  std::string name;
  std::string value;
};

struct Statistic {
  std::string name;
  bool on = false;
  std::string type;
  std::string units;
  std::vector<Key> definition;  // what may be written back, in the order of the definition line
  std::uint64_t hits_out_of_range = 0;
  std::uint64_t hits_missed = 0;
  std::uint64_t data_us = 0;
  std::uint64_t started_us = 0;
  std::uint64_t stopped_us = 0;
  std::uint64_t samples = 0;
  std::uint64_t undo_us = 0;  // until when undo=1 brings data back; 0: it does not
  Values values;

  // The value of a key of the definition; empty if it has no such key.
  std::string_view key(std::string_view wanted) const {
    const auto found = std::ranges::find(definition, wanted, &Key::name);
    return found == definition.end() ? std::string_view() : std::string_view(found->value);
  }
  // X of all values, as they are here, are integers of so many decimal places.
  unsigned decimals() const {
    const std::uint64_t found = parse_unsigned(key("decimals")).value_or(0);
    return static_cast<unsigned>(std::min<std::uint64_t>(found, kDecimalsMax));
  }
};

struct Interface {
  std::string name;
  std::string epoch;
  std::uint64_t serial = 0;
  std::uint64_t time_us = 0;
  std::uint64_t realtime_us = 0;
  std::vector<Statistic> statistics;

  // The wall clock of a CLOCK_MONOTONIC, as this moment has both; 0 before 1970.
  std::uint64_t realtime_at(std::uint64_t monotonic_us) const {
    const Int128 moment = Int128{realtime_us} - time_us + monotonic_us;
    constexpr Int128 kMax = std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(std::clamp<Int128>(moment, 0, kMax));
  }
  const Statistic* find(std::string_view wanted) const {
    const auto found = std::ranges::find(statistics, wanted, &Statistic::name);
    return found == statistics.end() ? nullptr : &*found;
  }
};

struct InterfaceSummary {
  std::string name;
  std::uint64_t statistics = 0;
  std::uint64_t on = 0;
  std::uint64_t samples = 0;
  std::uint64_t serial = 0;
  std::string uid{};   // of its owner; empty: the daemon is older
  std::string feed{};  // any, owner
};

// What is held of quotas, or their limits.
struct Holdings {
  std::uint64_t interfaces = 0;
  std::uint64_t statistics = 0;
  std::uint64_t bytes = 0;
};

struct Quota {
  std::uint64_t uid = 0;
  Holdings held{};
};

struct QuotaLimits {
  Holdings uid{};  // of each
  Holdings all{};  // of all of them
};

struct Tree {
  std::string version;
  std::string epoch;
  std::uint64_t time_us = 0;
  std::uint64_t realtime_us = 0;
  std::uint64_t pid = 0;
  std::string socket;
  std::optional<std::uint64_t> queue_length{};  // nullopt: not known
  std::string tracefs;
  std::vector<Quota> quotas;
  std::optional<QuotaLimits> quota_limits{};  // nothing: the daemon is older
  std::vector<InterfaceSummary> interfaces;
};

}  // namespace tallyfs::view
