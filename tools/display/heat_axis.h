// The bins of a heat map: those of all that was counted, so that each interval has the same ones,
// with the counts of one interval. Their labels, and the legend of their
// colours. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "tools/display/distribution.h"
#include "tools/display/grid.h"
#include "tools/display/heat_colour.h"

namespace tallyfs::view {

// The bins of `all`, with the counts of `counted`; without it all counts are 0. Neighbours are
// merged in pairs until there are at most `bins_max`.
Distribution binned(const Statistic& all, const Statistic* counted, std::size_t bins_max);

struct Area {
  int row = 0;
  int column = 0;
  int width = 0;
  int height = 0;
};

// The counts that colours mean.
struct CountScale {
  Int128 top;
  Colours colours = Colours::kNone;
  Steps steps = Steps::kLog;
};
// What colours and shades mean, in a row: the least count of each level, and the top. Where not all
// have room, each second, third and so on is shown.
void draw_legend(Grid& grid, const Area& area, const CountScale& scale);

// The upper end of a bin: "16us", "<=0us", ">1.0s".
std::string end_text(const Bin& bin, const Quantity& quantity, Charset charset);

}  // namespace tallyfs::view
