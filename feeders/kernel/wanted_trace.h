// Which trace events give what the latency histograms want, and the filters that leave out in the
// kernel what they do not (docs/latency-histograms.md): a busy neighbour would flood the buffer.
// Pure.
#pragma once

#include <sys/types.h>

#include <vector>

#include "core/model/wanted_events.h"
#include "feeders/tracefs/instance.h"

namespace tallyfs {

// without: tasks whose wakeups are left out. exits_of: tasks that run without switches to them
// being recorded: the exits of their system calls, a microsecond behind the switch, stand in.
std::vector<TracefsInstance::Event> trace_events(const WantedEvents& wanted,
                                                 const std::vector<pid_t>& without,
                                                 const std::vector<pid_t>& exits_of);

}  // namespace tallyfs
