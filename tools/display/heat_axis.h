// The bins of a heat map: those of all that was counted, so that each interval has the same ones,
// with the counts of one interval. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "tools/display/distribution.h"

namespace tallyfs::view {

// The bins of `all`, with the counts of `counted`; without it all counts are 0. Neighbours are
// merged in pairs until there are at most `bins_max`.
Distribution binned(const Statistic& all, const Statistic* counted, std::size_t bins_max);

// The upper end of a bin: "16us", "<=0us", ">1.0s".
std::string end_text(const Bin& bin, const Quantity& quantity, Charset charset);

}  // namespace tallyfs::view
