// The past of the map of `top` on a mount, out of the store that records it. Functions without a
// state; read_map_past() reads the store.
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
  std::chrono::microseconds period{};      // that of its columns
  std::deque<view::HeatColumn> columns{};  // oldest first; the newest ends with the store
  std::string fault{};                     // why there is no more, as a line for a person
};

// Returns $TALLY_STORE, or the store of the service if the mount is that of the service; empty: no
// store is known to be of this mount.
std::string store_of_mount(const std::string& mount);

// A line that says that there is no store, and what makes one. store: as of store_of_mount().
std::string no_store_text(const std::string& store);

// Reads a column for each period before the interface was read, as many as a screen has at most;
// none where the points of the store are farther apart than a period. The counts of a time in which
// the statistic had another type or other units are not known.
MapPast read_map_past(const std::string& store, const view::Interface& interface,
                      const view::Statistic& statistic, std::chrono::microseconds period);

}  // namespace tallyfs
