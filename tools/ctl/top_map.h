// The past of the map of `top` on a mount, out of the store that records it. Pure functions, but
// for what they read.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "tools/display/heat_panel.h"
#include "tools/display/statistic.h"

namespace tallyfs {

struct MapPast {
  std::string interface {};
  std::string statistic{};
  std::deque<view::HeatColumn> columns{};  // oldest first; the newest ends with the store
  std::string fault{};                     // why there is no more, where a store is there
};

// $TALLY_STORE, or the store of the service if the mount is that of the service; empty: no store is
// known to be of this mount.
std::string store_of_mount(const std::string& mount);

// A column for each period before the interface was read, as many as a screen has at most. None
// where the points of the store are farther apart than that. What was defined otherwise then is not
// known.
MapPast read_map_past(const std::string& store, const view::Interface& interface,
                      const view::Statistic& statistic, std::chrono::microseconds period);

}  // namespace tallyfs
