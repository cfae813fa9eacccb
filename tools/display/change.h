// The difference of two snapshots of an interface.
//
// Time is that of the snapshots, never the poller's clock. Totals are unknown after another epoch,
// a reset or a new definition, if one fell, and if one is at the end of its type. Samples are known
// unless the epoch changed or they fell. All is unknown if the data begin with the later snapshot.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/display/statistic.h"

namespace tallyfs::view {

struct Change {
  std::uint64_t micros = 0;
  std::optional<std::uint64_t> samples;
  // With the values of the interval; its `data_us` is the interval's start.
  std::optional<Statistic> counted;

  // Samples a second.
  std::optional<double> rate() const {
    if (!samples || micros == 0) return std::nullopt;
    return static_cast<double>(*samples) * 1e6 / static_cast<double>(micros);
  }
};

// The change of one statistic; all is unknown if one of the snapshots lacks it. Types that show
// times themselves (history, raw, last) are not subtracted: `counted` has their present values.
Change change_between(const Interface& before, const Interface& after, std::string_view name);

// The counts of a statistic in a span of the past, with the time in which it was observed
// (tools/past/span_source.h).
Change change_in(const Interface& span, const Statistic& statistic);
// nullopt: there is no such statistic.
std::optional<Change> change_in(const Interface& span, std::string_view name);

// `after`, but of a raw statistic only the samples, and of a history only the periods, that are new
// or changed since `before`.
Values entries_since(const Values& before, const Values& after);

// The growth from `before` to `after`; nullopt if it is unknown.
std::optional<Values> difference(const Values& before, const Values& after);

}  // namespace tallyfs::view
