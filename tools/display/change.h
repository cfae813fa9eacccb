// What was counted between two snapshots of an interface.
//
// Time is that of the snapshots, never the poller's clock. Totals are unknown after another epoch,
// a reset or a new definition, if one fell, and if one stands at the end of its type; samples go
// on, unless the epoch changed or they fell. Nothing is known where the data begin with the later
// snapshot. Pure functions.
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

// Of one statistic of the interface. Without it in one of them all is unknown. What shows times
// itself (history, raw, last) is not subtracted: `counted` is what is there now.
Change change_between(const Interface& before, const Interface& after, std::string_view name);

// Of an interface of a span of the past: what was counted in it, with the time in which it was
// observed (tools/past/span_source.h).
Change change_in(const Interface& span, const Statistic& statistic);
// Nothing: the statistic is not there.
std::optional<Change> change_in(const Interface& span, std::string_view name);

// Values that grew from `before` to `after`; nothing if that is not known.
std::optional<Values> difference(const Values& before, const Values& after);

}  // namespace tallyfs::view
