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

// Writes the fields of a row into an object that the caller began.
void write_row_view(JsonWriter& writer, const StatisticView& shown);
// Writes those fields, and percentiles, bars or points, of the whole time and of the interval.
void write_full_view(JsonWriter& writer, const StatisticView& shown);

// Points of a line as the page draws them: columns, names, the marks of a linear and of a
// logarithmic axis, and what is beyond the linear one. Into an object that the caller began.
void write_series(JsonWriter& writer, const view::Series& series);
// A number that is drawn, with 3 decimals; below 0.1 with 4 digits, as a logarithmic axis has a
// place for each that is not 0.
void write_drawn(JsonWriter& writer, double value);
// The number by which rows are ordered: p99, an average, a total or the last X; nullopt: there is
// none.
std::optional<double> level_of(const view::Statistic& statistic);
// Percentiles and bars of the bins of a statistic, at most `rows_max`.
void write_distribution(JsonWriter& writer, const view::Statistic& statistic, std::size_t rows_max);

const view::Look& page_look();

}  // namespace tallyfs::web
