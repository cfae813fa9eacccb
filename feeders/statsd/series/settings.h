// Settings of the command line for turning metrics into statistics. Values, set before the first
// line.
#pragma once

#include <cstddef>
#include <vector>

#include "feeders/statsd/series/map_file.h"
#include "feeders/statsd/series/series_name.h"
#include "feeders/text/series_bounds.h"

namespace tallyfs::statsd {

// The meaning of a sign before a gauge's value: decided by the listener, a change of the value, or
// a part of the number.
enum class GaugeSign { kByListener, kDelta, kAbsolute };
// Tags in a metric's name: none, `name,k=v` or `name;k=v`.
enum class NameTags { kNone, kInflux, kGraphite };

struct Settings {
  GaugeSign gauge_sign = GaugeSign::kByListener;
  NameTags name_tags = NameTags::kNone;
  bool has_container_tag = false;
  TagFilter tags{};  // of --drop-tags
  SeriesLimits limits{};
  std::vector<MapRule> map{};
};

}  // namespace tallyfs::statsd
