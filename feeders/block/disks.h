// The disks that have been seen, each with its interface `block-DISK` and the statistics in it.
// Confined to one thread. At most kDisksMax; requests to further ones are not counted.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "feeders/block/request.h"
#include "program/feeder/latency_views.h"
#include "tally/statistic.hpp"

namespace tallyfs {

struct Disk {
  tally::Interface interface;
  std::vector<tally::Statistic> request_sizes;  // by direction, as the next two
  std::vector<tally::Statistic> latencies;
  std::vector<tally::Statistic> views;    // of both
  std::vector<tally::Statistic> pending;  // read and write only
  tally::Statistic occurrence_lost;
  std::uint64_t lost = 0;     // not added to occurrence_lost yet
  std::uint64_t dropped = 0;  // by the library, so far
};

// Basename of /sys/dev/block/MAJOR:MINOR's target: sda, loop0, cciss!c0d0; MAJOR:MINOR itself if
// that cannot be the name of an interface. Nothing if there is no such disk (any more).
std::optional<std::string> disk_name(DeviceNumber device);
// MAJOR:MINOR
std::string number_of(DeviceNumber device);

class Disks {
 public:
  static constexpr std::size_t kDisksMax = 3584;
  static constexpr std::size_t kStatisticsPerDisk = (3 + kLatencyViews) * kDirections + 3;
  // libtally has room for as many statistics.
  static_assert(kDisksMax * kStatisticsPerDisk <= 65'536);

  // The disk of this number, new if need be. Null: no room for it. Numbers are given out again
  // after a hot-plug, so the name is looked up anew when the last time is a second ago.
  Disk* find(DeviceNumber device, std::chrono::nanoseconds now);

  template <typename Do>
  void for_each(Do&& what) {
    for (auto& [name, disk] : by_name_) what(disk);
  }

 private:
  struct Numbered {
    Disk* disk = nullptr;
    std::chrono::nanoseconds named_at{0};
  };

  Disk* find_named(const std::string& name);

  boost::unordered_flat_map<DeviceNumber, Numbered>
      by_number_;  // device numbers are few: a disk's partitions share its own
  std::map<std::string, Disk> by_name_;
};

}  // namespace tallyfs
