// The line by which cycles in the rings of feeders become CLOCK_MONOTONIC: of a clock of its own,
// which $TALLY_CLOCK does not switch off. Without the clock's room, cycles mean nothing.
#pragma once

#include <memory>

#include "feeders/intake/counter_times.h"

namespace tallyfs {

std::unique_ptr<CounterTimes> make_counter_clock();

}  // namespace tallyfs
