// Chooses rows of statistics and their order, and makes tables of them for other programs. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/display/exported.h"
#include "tools/display/show.h"

namespace tallyfs::view {

enum class SortKey : std::uint8_t { kName, kSamples, kRate, kP50, kP99, kMax, kChange };

// nullopt: the word is not one of listed_sort_keys(), which are "name, samples, ... or change".
std::optional<SortKey> sort_key_of(std::string_view word);
std::string listed_sort_keys();

struct RowChoice {
  // The largest number comes first, and names are in their order; rows without such a number are
  // left out. By p50, p99 and max, times come before bytes, and these before other numbers. The max
  // of an array is the end of its highest bin. By change, the rows come first whose rate is most
  // times more or less than in the other span, so that new and silent ones lead. nullopt: rows keep
  // their order.
  std::optional<SortKey> sort;
  bool nonzero = false;  // only what has samples, now or in the other span
  std::size_t top = 0;   // so many rows at most; 0: all
};

void choose(std::vector<StatisticRow>& rows, const RowChoice& choice);

// Interfaces can be sorted by name or samples; they have no other number.
bool sorts_interfaces(SortKey key);
void choose(std::vector<const InterfaceSummary*>& interfaces, const RowChoice& choice);

// Returns what is known of each row, in plain numbers: seconds, bytes, or as it is counted. `time`
// is the wall clock of the moment, in seconds since 1970. `samples` go on after a reset; `count` is
// what the data are of, and `rate` that of the interval, or of the count since the data began. A
// percentile beyond an end of the scale is not known.
Exported exported(const std::vector<StatisticRow>& rows);
// The columns have the owner's uid and who may feed the interface, too.
Exported exported(const std::vector<const InterfaceSummary*>& interfaces);

}  // namespace tallyfs::view
