// What a user chooses of metrics. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tallyfs {

// Whether OpenMetrics shows when counters began.
enum class ShowCreated { kNo, kYes };

struct MetricsOptions {
  std::string prefix = "tally_";  // of all families; is_metric_prefix()
  std::uint64_t series_max = 100'000;
  std::size_t bytes_max = 15u << 20;
  ShowCreated created = ShowCreated::kNo;
};

}  // namespace tallyfs
