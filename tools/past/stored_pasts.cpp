#include "tools/past/stored_pasts.h"

#include <algorithm>
#include <utility>

#include "tools/past/column.h"

namespace tallyfs::past {
namespace {

constexpr std::uint64_t kLateUnits = 4 * view::Past::kBlockUnits;

}  // namespace

std::uint64_t StoredPasts::Series::realtime_us(std::size_t units_before) const {
  const std::uint64_t newest_us = end_us - (end_us - begin_us) % kBlockUs;
  return newest_us - std::min(newest_us, units_before * kUnitUs);
}

void StoredPasts::forget() {
  series_.clear();
  wanted_.clear();
  seen_.clear();
  begin_us_ = read_us_ = end_us_ = wanted_us_ = 0;
}

Result<bool> StoredPasts::read(Clock::time_point until) {
  auto opened = StoreReader::open(directory_);
  if (!opened) return opened.error();
  StoreReader& store = opened.value();
  step_us_ = store.tiers().front().step_us;
  if (step_us_ > kBlockUs || step_us_ % kUnitUs != 0) {
    return invalid("the store has no points of 5 s or less");
  }
  const auto extent = store.extent(0);
  if (!extent) return extent.error();
  if (!extent.value()) return true;
  // The newest point may have more later.
  const std::uint64_t end_us = extent.value()->end_us - step_us_;
  const std::uint64_t first_us = end_us - std::min(end_us, kReadUs);
  // Of another store, or of long ago.
  if (read_us_ > end_us || read_us_ < first_us) forget();
  if (read_us_ == 0) read_us_ = std::max(first_us, extent.value()->begin_us);
  wanted_us_ = std::max(end_us, read_us_);
  if (auto done = find_series(store); !done) return done.error();
  while (read_us_ < wanted_us_) {
    const std::uint64_t block_us = step_us_ * kBlockPoints;
    const Span part{read_us_, std::min(wanted_us_, read_us_ - read_us_ % block_us + block_us)};
    if (auto done = read_part(store, part); !done) return done.error();
    read_us_ = part.end_us;
    if (Clock::now() >= until) break;
  }
  return read_us_ == wanted_us_;
}

Result<void> StoredPasts::find_series(StoreReader& store) {
  auto found = store.series(wanted_.empty() ? 0 : wanted_.rbegin()->first);
  if (!found) return found.error();
  for (StoredSeries& each : found.value()) {
    auto portions = PointPortions::create(each.shape);
    if (!portions) return invalid("the store is damaged: the definition of " + each.name);
    wanted_[each.id] = adding_of(portions.value().statistic()).precision;
    series_.emplace(each.id, Series{.interface = std::move(each.interface),
                                    .name = std::move(each.name),
                                    .portions = std::move(portions).value()});
  }
  return {};
}

Result<void> StoredPasts::read_part(StoreReader& store, const Span& part) {
  const std::uint64_t late_us = std::min(part.begin_us, kLateUnits * kUnitUs);
  const auto facts = store.facts({part.begin_us - late_us, part.end_us});
  if (!facts) return facts.error();
  breaks_.clear();
  for (const Fact& each : facts.value()) {
    if (each.interface.empty() && each.reason != kReadLate) breaks_.push_back(each.span);
  }
  return store.points({0, part}, wanted_,
                      [&](std::uint64_t id, std::uint64_t begin_us, Point&& point) {
                        take(id, begin_us, point);
                      });
}

bool StoredPasts::is_broken(const Span& gap) const {
  if (gap.end_us > gap.begin_us + kLateUnits * kUnitUs) return true;
  return gap.end_us > gap.begin_us && std::ranges::any_of(breaks_, [&](const Span& each) {
           return each.begin_us < gap.end_us && each.end_us > gap.begin_us;
         });
}

// Blocks of one time that a restart left beside each other come newest first: what is older than
// the newest point is passed over.
void StoredPasts::take(std::uint64_t id, std::uint64_t begin_us, const Point& point) {
  Series& series = series_.at(id);
  if (begin_us < series.end_us) return;
  const std::uint64_t end_us = begin_us + step_us_;
  if (begin_us_ == 0) begin_us_ = begin_us;
  begin_us_ = std::min(begin_us_, begin_us);
  end_us_ = std::max(end_us_, end_us);
  if (series.begin_us == 0) {
    series.is_new = seen_.emplace(series.interface, series.name).second && begin_us > begin_us_;
  }
  if (series.begin_us == 0 || is_broken({series.end_us, begin_us})) {
    series.past = view::Past(series.portions.bucket_octaves(point));
    series.begin_us = series.end_us = begin_us;
  }
  const std::uint64_t units = (end_us - series.end_us) / kUnitUs;
  const view::Portion part = view::part_of(series.portions.portion(point), units);
  for (std::uint64_t i = 0; i < units; ++i) series.past.add(part);
  series.end_us = end_us;
}

std::vector<const StoredPasts::Series*> StoredPasts::series() const {
  std::vector<const Series*> made;
  for (const auto& [id, each] : series_) {
    if (each.end_us == end_us_ && end_us_ != 0) made.push_back(&each);
  }
  return made;
}

double StoredPasts::part_read() const {
  if (wanted_us_ == 0 || read_us_ >= wanted_us_) return 1;
  const std::uint64_t left_us = wanted_us_ - read_us_;
  return 1 - std::min(1.0, static_cast<double>(left_us) / static_cast<double>(kReadUs));
}

}  // namespace tallyfs::past
