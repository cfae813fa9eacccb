#include "program/feeder/own_counts.h"

#include <utility>

namespace tallyfs {

OwnCounts::OwnCounts(const std::string& interface, const std::string& xs,
                     const std::vector<OwnCount>& counts)
    : interface_(interface, tally::Lifetime::kForGood, tally::Units::kAny, tally::Feed::kOwner) {
  for (const OwnCount& each : counts) {
    const std::string units = xs + "/" + each.units;
    published_.push_back(
        {tally::Statistic(interface_, each.name, {.units = units, .begin = tally::Begin::kOn})});
  }
}

void OwnCounts::publish(const std::vector<OwnCount>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Published& published = published_[i];
    const std::uint64_t added = counts[i].total - std::exchange(published.total, counts[i].total);
    if (added != 0) published.statistic.add(1, added);
  }
}

}  // namespace tallyfs
