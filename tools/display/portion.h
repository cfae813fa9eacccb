// Makes the Portion of a statistic's past that lies between two snapshots. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/display/past.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

// False for a statistic that is off, and for types that show past times themselves (history, raw).
bool has_past(const Statistic& statistic);

// nullopt if it is unknown: after a reset or another definition, or if a total fell. A view has no
// count: its samples are those of its statistic.
std::optional<Portion> portion_between(const Statistic& before, const Statistic& after);

// Adds the counts in the bins of `counted`, or its average, to `portion`.
void add_counted(Portion& portion, const Statistic& counted);

// The share of one unit in a portion of `parts` units.
Portion part_of(Portion portion, std::uint64_t parts);

// The width of the statistic's bins at its median, in octaves, from 1/4 to 1.
double bucket_octaves_of(const Statistic& statistic);

}  // namespace tallyfs::view
