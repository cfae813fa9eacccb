// A heat map on a part of a screen: time from left to right, one column for each interval, the
// bins from bottom to top, with their ends at the left. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "tools/display/grid.h"
#include "tools/display/heat_axis.h"
#include "tools/display/heat_colour.h"
#include "tools/display/look.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

// An interval, named by its end. Without `counted` its counts are unknown, and it is dotted. A
// missed interval is hatched.
struct HeatColumn {
  std::uint64_t realtime_us = 0;
  std::optional<Statistic> counted;
  bool is_missed = false;
};

// A time in which nothing was read, in columns of a period each.
struct MissedTime {
  std::uint64_t end_us = 0;  // of the wall clock
  std::uint64_t length_us = 0;
  std::uint64_t period_us = 0;
};
// Appends a missed column for each period of that time, to the nearest number of them: the newest
// `columns_max` at most, and none without a period.
void append_missed(std::deque<HeatColumn>& columns, const MissedTime& missed,
                   std::size_t columns_max);

// statistic: has bins, and the counts of all columns in them.
struct HeatPicture {
  const Statistic& statistic;
  const std::deque<HeatColumn>& columns;
  Colours colours = Colours::kNone;
};

// The newest columns, as many as there is room for, below a legend of their counts; the last two
// rows are the axis of time.
void draw_heat_panel(Grid& grid, const Area& area, const HeatPicture& picture, const Look& look);

// One row of bars, in steps of an eighth of its height; the newest value is at the right.
std::string sparkline(const std::deque<double>& values, int width, Charset charset);

}  // namespace tallyfs::view
