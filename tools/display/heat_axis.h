// A heat map has the bins of all that was counted, so that each interval has the same ones. These
// functions make them, label them, and draw the legend of their colours. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "tools/display/distribution.h"
#include "tools/display/grid.h"
#include "tools/display/heat_colour.h"

namespace tallyfs::view {

// Returns the bins of `all`, with the counts of `counted`; without it all counts are 0. Neighbours
// are merged in pairs until there are at most `bins_max`.
Distribution binned(const Statistic& all, const Statistic* counted, std::size_t bins_max);

struct Area {
  int row = 0;
  int column = 0;
  int width = 0;
  int height = 0;
};

// Colours stand for counts from 1 to `top`.
struct CountScale {
  Int128 top;
  Colours colours = Colours::kNone;
  Steps steps = Steps::kLog;
};
// Draws a row that explains colours and shades: the least count of each level, and the top. If not
// all have room, it has each second, third and so on.
void draw_legend(Grid& grid, const Area& area, const CountScale& scale);

// Returns the upper end of a bin: "16us", "<=0us", ">1.0s".
std::string end_text(const Bin& bin, const Quantity& quantity, Charset charset);

}  // namespace tallyfs::view
