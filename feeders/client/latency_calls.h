// What other calls of libtally do for those of latency.h.
#pragma once

namespace tallyfs {

// Tells the daemon how many latencies were dropped that it has not been told of. Waits for room,
// 100 ms at most.
void tell_dropped_latencies();

}  // namespace tallyfs
