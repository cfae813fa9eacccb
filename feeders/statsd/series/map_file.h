// The file of --map: which interface the metrics of a name go to, which of their tags stay, and how
// they are defined at first. A line:
//
//   GLOB interface=NAME [keep-tags=a,b] [drop-tags=a,b] [decimals=0..9] [units=U] [DEFINITION]
//
// The definition begins with type=, and is that of tally-definition(5). `scale=` is another word
// for decimals=. Empty lines and those that begin with # are comments. The first line whose GLOB
// matches the metric's name counts. At most 1,024 lines. Values, without threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "feeders/statsd/series/series_name.h"
#include "tally/statistic.hpp"

namespace tallyfs::statsd {

struct MapRule {
  std::string pattern;
  std::string interface;
  TagFilter tags{};
  std::optional<unsigned> scale{};
  std::optional<std::string> units{};
  std::optional<tally::Type> type{};
};

inline constexpr std::size_t kMapRulesMax = 1'024;

// kInvalid: the reason names the line and what is wrong in it.
Result<std::vector<MapRule>> parse_map(std::string_view text);

// nullptr: none matches.
const MapRule* find_rule(const std::vector<MapRule>& rules, const std::string& name);

}  // namespace tallyfs::statsd
