// A statistic's "view" for the page: the numbers of tallyctl --json, and beside them texts, rows
// and points, so that the page only draws. Pure functions.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "tools/display/change.h"
#include "tools/display/look.h"
#include "tools/display/plot.h"
#include "tools/display/statistic.h"

namespace tallyfs::web {

struct StatisticView {
  const view::Interface& interface;
  const view::Statistic& statistic;
  const std::optional<view::Change>& change;
};

// Into an object that the caller began: what a row among others has.
void write_row_view(JsonWriter& writer, const StatisticView& shown);
// The same and all else: percentiles, bars or points, of all and of the interval.
void write_full_view(JsonWriter& writer, const StatisticView& shown);

// Points of a line as the page draws them: columns, names, and the marks of the value axis. Into an
// object that the caller began.
void write_series(JsonWriter& writer, const view::Series& series);
// What rows are ordered by: p99, an average, a total, the last X; nothing without one.
std::optional<double> level_of(const view::Statistic& statistic);
// Percentiles and bars of the bins of a statistic, at most `rows_max`.
void write_distribution(JsonWriter& writer, const view::Statistic& statistic, std::size_t rows_max);

const view::Look& page_look();

}  // namespace tallyfs::web
