#include "tools/ctl/probe_latencies.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tallyfs {
namespace {

constexpr int kGroupBits = 6;

// Of the group that begins with this value.
std::uint64_t middle_of(std::uint64_t smallest) {
  const int bits = static_cast<int>(std::bit_width(smallest)) - 1;
  const std::uint64_t width = bits <= kGroupBits ? 1 : std::uint64_t{1} << (bits - kGroupBits);
  return smallest + width / 2;
}

}  // namespace

std::uint64_t ProbeLatencies::Row::percentile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count)));
  std::uint64_t seen = 0;
  for (const auto& [smallest, group] : groups) {
    seen += group.count;
    if (seen >= wanted) return std::min(middle_of(smallest), max());
  }
  return max();
}

ProbeLatencies ProbeLatencies::read(const Json& histogram, const std::string& by) {
  ProbeLatencies read(histogram.number_of("time_us"));
  read.dropped_ = histogram.number_of("dropped");
  const Json* const entries = histogram.find("entries");
  if (!entries) return read;
  for (const Json& each : entries->items) {
    const Json* const key = each.find("key");
    if (!key) continue;
    const std::string of_by = by.empty() ? std::string() : std::string(key->text_of(by));
    Row& row = read.rows_[{key->number_of("f"), of_by}];
    const Group group{each.number_of("hitcount"), each.number_of("lat"), each.number_of("lat.max")};
    row.count += group.count;
    row.sum += group.sum;
    row.groups[key->number_of("lat")] = group;
  }
  return read;
}

ProbeLatencies ProbeLatencies::since(const ProbeLatencies& before) const {
  ProbeLatencies made(time_us_);
  for (const auto& [key, row] : rows_) {
    const auto old = before.rows_.find(key);
    Row& grown = made.rows_[key];
    for (const auto& [smallest, group] : row.groups) {
      Group since = group;
      if (old != before.rows_.end()) {
        const auto at = old->second.groups.find(smallest);
        if (at != old->second.groups.end()) {
          since.count -= at->second.count;
          since.sum -= at->second.sum;
        }
      }
      if (since.count == 0) continue;
      grown.count += since.count;
      grown.sum += since.sum;
      grown.groups[smallest] = since;
    }
  }
  return made;
}

std::uint64_t ProbeLatencies::count() const {
  std::uint64_t count = 0;
  for (const auto& [key, row] : rows_) count += row.count;
  return count;
}

}  // namespace tallyfs
