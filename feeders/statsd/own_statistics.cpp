#include "feeders/statsd/own_statistics.h"

#include <string>
#include <utility>

namespace tallyfs::statsd {
namespace {

// Calls visit(name, units, total) for each count.
template <typename Visit>
void each_count(const Counts& counts, Visit visit) {
  visit("packets", "packets", counts.packets);
  visit("bytes", "bytes", counts.bytes);
  visit("lines", "lines", counts.lines);
  visit("metrics", "metrics", counts.metrics);
  visit("events", "events", counts.events);
  visit("checks", "checks", counts.checks);
  visit("overflowed", "metrics", counts.overflowed);
  visit("rounded", "metrics", counts.rounded);
  visit("lengths_guessed", "events", counts.lengths_guessed);
  visit("times_clipped", "lines", counts.times_clipped);
  visit("truncated", "packets", counts.truncated);
  visit("denied", "packets", counts.denied);
  visit("kernel_drops", "packets", counts.kernel_drops);
  visit("connections_closed", "connections", counts.connections_closed);
  visit("series", "series", counts.series);
  visit("names_given_up", "names", counts.names_given_up);
  for (std::size_t i = 0; i < kReasonNames.size(); ++i) {
    visit(std::string("refused{reason:").append(kReasonNames[i]).append("}"), "lines",
          counts.refused[i]);
  }
}

}  // namespace

OwnStatistics::OwnStatistics() {
  each_count({}, [this](const std::string& name, const char* unit, std::uint64_t) {
    const std::string units = std::string("statsd/").append(unit);
    published_.push_back(
        {tally::Statistic(interface_, name, {.units = units, .begin = tally::Begin::kOn})});
  });
}

void OwnStatistics::publish(const Counts& counts) {
  std::size_t at = 0;
  each_count(counts, [&](const std::string&, const char*, std::uint64_t total) {
    Published& published = published_[at++];
    const std::uint64_t added = total - std::exchange(published.total, total);
    if (added != 0) published.statistic.add(1, added);
  });
}

}  // namespace tallyfs::statsd
