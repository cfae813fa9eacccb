// Finds the statistic with the highest p99 over the last minute that was read, among the first
// kSlowestAmong statistics of an interface that have bins and counted in that minute. Only times
// can be compared: a time precedes any other quantity, and among other quantities the first is
// chosen. A pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "exporters/web/past.h"
#include "tools/display/statistic.h"

namespace tallyfs::web {

inline constexpr std::size_t kSlowestAmong = 4;
inline constexpr std::uint64_t kSlowestSeconds = 60;
inline constexpr std::uint32_t kP99 = 990'000;  // in millionths

struct Slowest {
  std::string statistic;
  double nanoseconds = -1;  // the p99, for comparisons; below 0: X is no time
  std::string text;         // "1.2ms"
  std::string bounds;       // "1.2ms (1.0-2.0)"
};

// pasts: by statistic. nullopt: no such statistic has counted.
std::optional<Slowest> slowest_of(const view::Interface& interface,
                                  const std::map<std::string, Past>& pasts);

}  // namespace tallyfs::web
