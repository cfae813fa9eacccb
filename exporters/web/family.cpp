#include "exporters/web/family.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tallyfs::web {
namespace {

std::vector<const view::Statistic*> all_of(const view::Interface& interface) {
  std::vector<const view::Statistic*> all;
  all.reserve(interface.statistics.size());
  for (const view::Statistic& each : interface.statistics) all.push_back(&each);
  return all;
}

std::size_t names_in(const Family& family) {
  std::size_t names = family.left_out.size();
  for (const auto& parts : family.parts) names += parts.size();
  return names;
}

PastReading reading_of(const Family& family, std::size_t sum, const std::vector<Past>& pasts) {
  return {.statistic = family.interface.statistics[sum],
          .past = sum_of(pasts),
          .parts = {.all = family.parts[sum].size(), .read = pasts.size()}};
}

Result<PastReading> stored_sum(const Family& family, std::size_t sum, const std::string& store,
                               const PastSpan& wanted) {
  auto stored =
      pasts_of_store(store, family.interface.name, family.parts[sum], kSummedMax, wanted);
  if (!stored) return stored.error();
  std::vector<Past> pasts;
  for (PastReading& each : stored.value()) pasts.push_back(std::move(each.past));
  PastReading made = reading_of(family, sum, pasts);
  // Buckets of points may be coarser than those of the family.
  made.statistic = std::move(stored.value().front().statistic);
  made.statistic.name = family.interface.statistics[sum].name;
  made.parts.left_out = stored.value().front().parts.left_out;
  made.damaged = std::move(stored.value().front().damaged);
  return made;
}

}  // namespace

std::optional<std::size_t> Family::find(std::string_view sum) const {
  const auto found = std::ranges::find(interface.statistics, sum, &view::Statistic::name);
  if (found == interface.statistics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - interface.statistics.begin());
}

Result<Family> family_of(const view::Interface& interface, const std::string& label,
                         view::Begin begin) {
  const auto all = all_of(interface);
  std::vector<std::string> labels = view::labels_of(all);
  if (std::ranges::find(labels, label) == labels.end()) {
    return Error{ErrorCode::kNotFound, view::no_label_text(label, labels)};
  }
  view::Sums sums = view::sums_by(label, all, begin);
  Family made{.label = label,
              .labels = std::move(labels),
              .interface = {.name = interface.name,
                            .epoch = interface.epoch,
                            .serial = interface.serial,
                            .time_us = interface.time_us,
                            .realtime_us = interface.realtime_us,
                            .statistics = std::move(sums.statistics)},
              .parts = std::move(sums.parts),
              .oldest_us = {},
              .left_out = std::move(sums.left_out)};
  std::unordered_map<std::string_view, std::uint64_t> begins;
  for (const view::Statistic& each : interface.statistics) begins[each.name] = each.data_us;
  for (const auto& parts : made.parts) {
    std::uint64_t oldest_us = UINT64_MAX;
    for (const std::string& part : parts) oldest_us = std::min(oldest_us, begins.at(part));
    made.oldest_us.push_back(oldest_us);
  }
  return made;
}

// One that has counted nothing since has another time alone. Of two such families the one that was
// asked for longest ago gets it: no page asks for the reading before the one before the newest.
Result<const Family*> KeptFamilies::find(const view::Interface& interface,
                                         const std::string& label) {
  const auto is_alike = [&](const Family& each) {
    const view::Interface& known = each.interface;
    return each.label == label && known.name == interface.name &&
           known.epoch == interface.epoch && known.serial == interface.serial;
  };
  auto found = families_.end();
  std::size_t alike = 0;
  bool is_it = false;
  for (auto each = families_.begin(); each != families_.end() && !is_it; ++each) {
    if (!is_alike(*each)) continue;
    found = each;
    ++alike;
    is_it = each->interface.time_us == interface.time_us;
  }
  if (!is_it && alike < 2) {
    auto made = alike == 0 ? family_of(interface, label) : Result<Family>(*found);
    if (!made) return made.error();
    found = families_.insert(families_.begin(), std::move(made).value());
  }
  found->interface.time_us = interface.time_us;
  found->interface.realtime_us = interface.realtime_us;
  families_.splice(families_.begin(), families_, found);
  bound();
  return &*found;
}

// The newest reading and the one before it are of the answer that is made.
void KeptFamilies::bound() {
  std::size_t names = 0;
  for (const Family& each : families_) names += names_in(each);
  while (families_.size() > 2 && (families_.size() > kMax || names > names_max_)) {
    names -= names_in(families_.back());
    families_.pop_back();
  }
}

Result<PastReading> past_of_sum(const KeptSpan& kept, const Family& family, std::size_t sum) {
  std::vector<Past> pasts;
  for (const std::string& part : family.parts[sum]) {
    const auto found = kept.pasts.find(part);
    if (found != kept.pasts.end()) pasts.push_back(found->second);
  }
  return reading_of(family, sum, pasts);
}

Result<PastReading> past_of_sum(const KeptSpan& kept, const Family& family, std::size_t sum,
                                const std::string& store, const PastSpan& wanted) {
  // Columns that are kept end at readings, those of the store at its points: they do not mix.
  const auto reaches = [&](const std::string& part) { return kept.reaches(wanted.span, part); };
  auto made = past_of_sum(kept, family, sum);
  if (!std::ranges::all_of(family.parts[sum], reaches)) {
    auto stored = stored_sum(family, sum, store, wanted);
    if (!stored && made.value().parts.read == 0) return stored;
    if (stored) made = std::move(stored);
  }
  Past& past = made.value().past;
  past = past.within(wanted.span.begin_us, wanted.span.end_us);
  return made;
}

}  // namespace tallyfs::web
