// A statistic's "view" for the page: the numbers of tallyctl --json, and beside them texts, rows
// and points, so that the page only draws. Pure functions.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "tools/display/change.h"
#include "tools/display/look.h"
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

// Percentiles and bars of the bins of a statistic, at most `rows_max`.
void write_distribution(JsonWriter& writer, const view::Statistic& statistic, std::size_t rows_max);

const view::Look& page_look();

}  // namespace tallyfs::web
