#include "exporters/web/slowest.h"

#include <utility>
#include <vector>

#include "tools/display/distribution.h"
#include "tools/display/quantity.h"

namespace tallyfs::web {
namespace {

std::vector<Hit> hits_of_minute(const Past& past) {
  std::vector<Hit> hits;
  std::uint64_t seconds = 0;
  for (auto column = past.columns().rbegin(); column != past.columns().rend(); ++column) {
    seconds += column->interval.seconds;
    if (seconds > kSlowestSeconds) break;
    hits.insert(hits.end(), column->hits.begin(), column->hits.end());
  }
  return summed(std::move(hits));
}

Slowest as_slowest(const view::Statistic& statistic, view::Percentile found) {
  const view::Quantity quantity = view::quantity_of_x(statistic);
  Slowest made{.statistic = statistic.name};
  made.bounds = view::percentile_text(found, quantity, false, view::Charset::kUtf8);
  if (quantity.kind == view::Quantity::Kind::kTime) {
    made.nanoseconds = found.estimate * quantity.factor;
  }
  if (found.ends == view::Bin::Ends::kBoth) found.low = found.high;
  made.text = view::percentile_text(found, quantity, false, view::Charset::kUtf8);
  return made;
}

}  // namespace

std::optional<Slowest> slowest_of(const view::Interface& interface,
                                  const std::map<std::string, Past>& pasts) {
  std::optional<Slowest> slowest;
  std::size_t looked_at = 0;
  for (const view::Statistic& statistic : interface.statistics) {
    const auto past = pasts.find(statistic.name);
    if (past == pasts.end() || !has_bins(statistic)) continue;
    const auto hits = hits_of_minute(past->second);
    if (hits.empty()) continue;
    const auto bins = view::distribution_of(with_hits(statistic, hits), view::Detail::kFine);
    const auto found = bins ? view::percentile(*bins, kP99) : std::nullopt;
    if (!found) continue;
    Slowest each = as_slowest(statistic, *found);
    if (!slowest || each.nanoseconds > slowest->nanoseconds) slowest = std::move(each);
    if (++looked_at == kSlowestAmong) break;
  }
  return slowest;
}

}  // namespace tallyfs::web
