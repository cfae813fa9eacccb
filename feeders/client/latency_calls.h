// What other calls of libtally do for those of latency.h.
#pragma once

namespace tallyfs {

// Reports to the daemon how many latencies were dropped since the last report. Waits for room,
// 100 ms at most.
void tell_dropped_latencies();

}  // namespace tallyfs
