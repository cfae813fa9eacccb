// Blobs as a whole: made from a template, copied, begun anew, merged. The C calls of tally/stats.h
// are in blob.cpp, merge.cpp, update.cpp, text.cpp, templates_calls.cpp and rates_calls.cpp; what
// the daemon uses of them is declared here and in their headers.
//
// A blob is confined to its owner.
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/stats3/blob/layout.h"

namespace tallyfs::stats3::blob {

// The clock of `created` and `lastrst`, CLOCK_MONOTONIC. For tests, which give another; nullptr:
// the machine's. Not thread-safe.
void use_clock(const Clock* clock);
// Seconds as 32.32, the way FreeBSD makes them of nanoseconds.
std::int64_t to_sbintime(std::chrono::nanoseconds time);

// Calls `function(voi, stat)` for every statistic that is there.
template <typename Function>
void for_each_stat(statsblob* sb, Function&& function) {
  for (int i = 0; i < voi_slots(header_of(sb)); ++i) {
    const Voi& voi = vois_of(sb)[i];
    for (int j = 0; voi.id >= 0 && j <= voi.stat_max; ++j) {
      Stat& stat = stats_of(sb, voi)[j];
      if (stat.stype >= 0) function(voi, stat);
    }
  }
}

// Statistics as they are in a new blob, but the previous values of VOIs; lastrst is `now`.
void reset(statsblob* sb, std::int64_t now);

}  // namespace tallyfs::stats3::blob
