// The highest p99 among an interface's statistics with bins, over the last minute that was read.
// Times come before all else, since they alone can be compared: of the others it is the first.
// A pure function; it looks at kSlowestAmong statistics that have counted something.
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
  double nanoseconds = -1;  // for comparisons; below 0: it is no time
  std::string text;         // "1.2ms"
  std::string bounds;       // "1.2ms (1.0-2.0)"
};

std::optional<Slowest> slowest_of(const view::Interface& interface,
                                  const std::map<std::string, Past>& pasts);

}  // namespace tallyfs::web
