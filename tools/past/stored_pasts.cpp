#include "tools/past/stored_pasts.h"

#include <algorithm>
#include <utility>

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
  names_.clear();
  left_out_.clear();
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
  while (read_us_ < wanted_us_) {
    const std::uint64_t block_us = step_us_ * kBlockPoints;
    const Span part{read_us_, std::min(wanted_us_, read_us_ - read_us_ % block_us + block_us)};
    if (auto done = read_part(store, part); !done) return done.error();
    read_us_ = part.end_us;
    drop_gone();
    if (Clock::now() >= until) break;
  }
  return read_us_ == wanted_us_;
}

// What was taken before an error stays: the next read() passes over it.
Result<void> StoredPasts::read_part(StoreReader& store, const Span& part) {
  const std::uint64_t late_us = std::min(part.begin_us, kLateUnits * kUnitUs);
  const auto facts = store.facts({part.begin_us - late_us, part.end_us});
  if (!facts) return facts.error();
  breaks_.clear();
  for (const Fact& each : facts.value()) {
    if (each.interface.empty() && each.reason != kReadLate) breaks_.push_back(each.span);
  }
  left_out_.clear();
  Result<void> taken;
  const auto has = [&](std::uint64_t id) {
    if (series_.contains(id) || series_.size() < series_max_) return true;
    left_out_.insert(id);
    return false;
  };
  const auto done =
      store.points({0, part}, has, [&](std::uint64_t id, std::uint64_t begin_us, Point&& point) {
        if (!taken) return;
        const auto series = find_or_add(store, id, begin_us);
        if (!series)
          taken = series.error();
        else if (series.value())
          take(*series.value(), begin_us, point);
      });
  return done ? taken : done;
}

Result<StoredPasts::Series*> StoredPasts::find_or_add(StoreReader& store, std::uint64_t id,
                                                      std::uint64_t begin_us) {
  if (const auto found = series_.find(id); found != series_.end()) return &found->second;
  if (series_.size() >= series_max_) {
    left_out_.insert(id);
    return nullptr;
  }
  auto found = store.find_series(id);
  if (!found) return found.error();
  // The recorder deleted it meanwhile.
  if (!found.value()) return nullptr;
  StoredSeries& row = *found.value();
  auto portions = PointPortions::create(row.shape);
  if (!portions) return invalid("the store is damaged: the definition of " + row.name);
  Name& known_as = names_[{row.interface, row.name}];
  if (known_as.series++ == 0) known_as.first_us = begin_us;
  const auto made = series_.emplace(id, Series{.interface = std::move(row.interface),
                                               .name = std::move(row.name),
                                               .known_as = &known_as,
                                               .portions = std::move(portions).value()});
  return &made.first->second;
}

// While others are left out, one gives way as soon as its past would begin again anyhow.
void StoredPasts::drop_gone() {
  const std::uint64_t gone_us = left_out_.empty() ? kReadUs : kLateUnits * kUnitUs;
  std::erase_if(series_, [&](const auto& each) {
    const Series& series = each.second;
    if (series.end_us + gone_us >= read_us_) return false;
    if (--series.known_as->series == 0) names_.erase({series.interface, series.name});
    return true;
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
void StoredPasts::take(Series& series, std::uint64_t begin_us, const Point& point) {
  if (begin_us_ == 0) begin_us_ = begin_us;
  begin_us_ = std::min(begin_us_, begin_us);
  series.known_as->first_us = std::min(series.known_as->first_us, begin_us);
  if (begin_us < series.end_us) return;
  const std::uint64_t end_us = begin_us + step_us_;
  end_us_ = std::max(end_us_, end_us);
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

bool StoredPasts::is_new(const Series& series) const {
  const std::uint64_t first_us = series.known_as->first_us;
  return first_us > begin_us_ && first_us + kReadUs > end_us_;
}

double StoredPasts::part_read() const {
  if (wanted_us_ == 0 || read_us_ >= wanted_us_) return 1;
  const std::uint64_t left_us = wanted_us_ - read_us_;
  return 1 - std::min(1.0, static_cast<double>(left_us) / static_cast<double>(kReadUs));
}

}  // namespace tallyfs::past
