// A function of latency.h's calls for other calls of libtally.
#pragma once

namespace tallyfs {

// Reports to the daemon how many latencies were dropped since the last report. Waits for room,
// 100 ms at most.
void report_dropped_latencies();

}  // namespace tallyfs
