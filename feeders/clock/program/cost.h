// What the calls of clock.h cost on this machine, beside the system's. One thread.
#pragma once

namespace tally {

// The best of some rounds, in CPU time, and as a ratio to what each is to replace.
void print_costs();

}  // namespace tally
