// What a statistic counted between two of its snapshots, as a Portion of its past. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/display/past.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

// False of what is off, and of types that show past times themselves (history, raw).
bool has_past(const Statistic& statistic);

// Nothing if it is not known: after a reset or another definition, or if a total fell. A view has
// no count: its samples are those of its statistic.
std::optional<Portion> portion_between(const Statistic& before, const Statistic& after);

// What `counted` has in its bins, or as its average, is added.
void add_counted(Portion& portion, const Statistic& counted);

// A part of what was counted in `parts` units.
Portion part_of(Portion portion, std::uint64_t parts);

// How wide its buckets are at its median, in octaves, 1/4 to 1.
double bucket_octaves_of(const Statistic& statistic);

}  // namespace tallyfs::view
