// probes.json: all that is known of the probes of the mount, for programs. Pure function.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tracing/branch/probes.h"

namespace tallyfs::tracing {

// hits: an error if their source does not say. Longer than bytes_max: it is cut, and no JSON.
std::string probes_json(const std::vector<std::pair<EventPath, Probes::Probe>>& probes,
                        const Result<ProbeHits>& hits, Timestamp now, std::size_t bytes_max);

}  // namespace tallyfs::tracing
