// A latency histogram by CPU: a heat map that has a column for each CPU. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "exporters/web/heat_json.h"
#include "exporters/web/past.h"
#include "tools/display/statistic.h"

namespace tallyfs::web {

struct CpuHits {
  unsigned cpu = 0;
  std::vector<Hit> hits{};
};

// Sorts the text of a file CPUn into the bins of the array that all CPUs share. The text has lines
// with `#`, of which those for too small and too large X count, and then lines with X and its
// number of samples.
std::vector<Hit> hits_of_cpu(std::string_view text, const view::Array& bins);

// The JSON of heat_json(), with "names" of the columns instead of their times.
std::string cpus_json(const std::string& interface, const view::Statistic& statistic,
                      const std::vector<CpuHits>& cpus, const HeatOrder& order);

}  // namespace tallyfs::web
