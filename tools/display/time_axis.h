// The axis of time below lines and heat maps: a rule, and the wall clock at its start, at its end,
// and at round times between where there is room. A date stands before the first time of each day
// that is not today. A pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/display/grid.h"
#include "tools/display/look.h"

namespace tallyfs::view {

// The time at a column, which is counted from the left end of the axis.
struct TimeMark {
  int column = 0;
  std::uint64_t realtime_us = 0;
};

// `marks`: from left to right, with times that do not fall.
struct TimeAxis {
  int row = 0;  // of the rule; the times are in the next
  int left = 0;
  int columns = 0;  // of the rule
  int room = 0;     // columns from `left` on that texts may take
  std::vector<TimeMark> marks{};
};

void draw_time_axis(Grid& grid, const TimeAxis& axis, const Look& look);

}  // namespace tallyfs::view
