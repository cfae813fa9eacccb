// Measures the cost of the calls of clock.h on this machine, and of the system's. One thread.
#pragma once

namespace tallyfs {

// The best of some rounds, in CPU time, and as a ratio to what each is to replace.
// False: a ratio is above what is wanted of get_cycles(), sched_clock() and
// store_fast_timestamp(): 0.6, 0.8 and 0.8.
bool print_costs();

}  // namespace tallyfs
