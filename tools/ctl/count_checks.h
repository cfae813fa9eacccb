// The problems that the daemon counts in statistics/tallyfs, each with what it means and what to
// do. Pure functions.
#pragma once

#include "tools/ctl/finding.h"
#include "tools/display/statistic.h"

namespace tallyfs {

// A finding for each problem that was counted since the daemon's start, or one that none was.
// `before` and `now` are statistics/tallyfs, a while apart. `log` is tracing/error_log: its newest
// entries explain rejects and refused reloads.
Findings check_counts(const view::Interface& before, const view::Interface& now,
                      const std::string& log);

// A finding for each problem that a feeder of logs or of StatsD has counted in its interface.
// Nothing if it counted none.
Findings check_feeder_counts(const view::Interface& before, const view::Interface& now);

// How old the newest file of --state is. A warning if the last try to write one failed. Nothing
// without --state, and before the first.
Findings check_state(const view::Interface& now);

// How many feeders count in lanes, and which send samples over the socket that they could count in
// one. A warning if the daemon has refused one of them a lane, with its reason.
Finding check_lanes(const view::Interface& before, const view::Interface& now,
                    const std::string& log);

}  // namespace tallyfs
