// The options of metrics. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tallyfs::statistics {

// Whether OpenMetrics shows when counters began.
enum class ShowCreated { kNo, kYes };

// Characters of names: those that every version of every scraper takes, or all of UTF-8 for those
// that ask for it; then names that need it are quoted.
enum class NameCharacters : std::uint8_t { kAscii, kUtf8 };

struct MetricsOptions {
  std::string prefix = "tally_";  // of all families; is_metric_prefix()
  std::uint64_t series_max = 100'000;
  std::size_t bytes_max = 15u << 20;
  ShowCreated created = ShowCreated::kNo;
  NameCharacters characters = NameCharacters::kAscii;
};

}  // namespace tallyfs::statistics
