// How a series is defined at first: by its kind, unless a rule of --map says otherwise.
// Pure functions.
#pragma once

#include "feeders/statsd/grammar/metric_line.h"
#include "feeders/statsd/series/map_file.h"
#include "tally/statistic.hpp"

namespace tallyfs::statsd {

// The decimals of X: 0 of counters and sets, 3 of gauges and timers, 6 of histograms. rule may be
// nullptr.
unsigned scale_of(Kind kind, const MapRule* rule);

tally::Definition definition_of(Kind kind, const MapRule* rule);

// The definition of a check's status.
tally::Definition definition_of_check();

}  // namespace tallyfs::statsd
