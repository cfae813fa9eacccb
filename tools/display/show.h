// Tables of statistics, on a grid. Confined to the grid's thread.
#pragma once

#include <vector>

#include "tools/display/change.h"
#include "tools/display/grid.h"
#include "tools/display/look.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

// One statistic with all that it has: heading, percentiles, what was left out, a table. Its data is
// of the moment at which `interface` was read; a Change's `counted` is shown as well.
void draw_statistic(Grid& grid, const Interface& interface, const Statistic& statistic,
                    const Look& look);

// A row for a statistic. `change`: since the snapshot before, or nothing. `other`: of another span,
// if it is compared with that.
struct StatisticRow {
  const Interface* interface = nullptr;
  const Statistic* statistic = nullptr;
  std::optional<Change> change;
  std::optional<Change> other{};
};

// A table with a row for each; with changes it has their rates, and "-" where none is known.
void draw_rows(Grid& grid, const std::vector<StatisticRow>& rows, const Look& look);

}  // namespace tallyfs::view
