// uprobe_profile and kprobe_profile: how often the places of the mount's probes were met. Pure
// function, values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/tracing/branch/probe_source.h"
#include "core/tracing/branch/probes.h"

namespace tallyfs::tracing {

// The source's states of the places of one probe; the caller asks for each once, in their order.
// Several places may have the same text: after a program was replaced a line can be written again,
// and the place of the first line is in the replaced file.
class PlaceStates {
 public:
  PlaceStates(const ProbeHits& hits, std::uint64_t serial) : hits_(hits), serial_(serial) {}

  // nullptr: the source has no such place.
  const PlaceState* next(const Probes::Place& place);

 private:
  const ProbeHits& hits_;
  const std::uint64_t serial_;
  std::map<std::string, std::size_t> met_;  // by `PATH:OFFSET`
};

// Lines as the kernel has them, for each place that the source has: `  PATH EVENT HITS` of
// programs, `  EVENT HITS MISSED` of the kernel. A place that the source does not have gets no
// line, since its hits are unknown.
std::string probe_profile(const std::vector<std::pair<EventPath, Probes::Probe>>& probes,
                          const ProbeHits& hits, ProbeTarget target);

}  // namespace tallyfs::tracing
