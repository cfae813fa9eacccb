#include "tools/past/stored_pasts.h"

#include <algorithm>
#include <utility>

namespace tallyfs::past {
namespace {

void add_new(std::vector<Fact>& facts, const std::vector<Fact>& more) {
  for (const Fact& each : more) {
    if (std::ranges::count(facts, each) == 0) facts.push_back(each);
  }
}

}  // namespace

std::uint64_t StoredPasts::realtime_us(const Series& series, std::size_t units_before) const {
  const std::uint64_t end_us = series.begin_us + series.paced.end_of_blocks() * part_.unit_us;
  return end_us - std::min(end_us, units_before * part_.unit_us);
}

void StoredPasts::forget() {
  series_.clear();
  names_.clear();
  left_out_.clear();
  damaged_.clear();
  gaps_.clear();
  begin_us_ = read_us_ = end_us_ = wanted_us_ = 0;
}

Result<bool> StoredPasts::read(Clock::time_point until) {
  auto opened = StoreReader::open(directory_);
  if (!opened) return opened.error();
  StoreReader& store = opened.value();
  const Tier& tier = store.tiers()[part_.tier];
  step_us_ = tier.step_us;
  pieces_ = step_us_ / store.tiers().front().step_us;
  precision_ = precision_of(tier);
  if (step_us_ > block_us()) return invalid("the store has no points of 5 s or less");
  const auto extent = store.extent(part_.tier);
  if (!extent) return extent.error();
  if (!extent.value()) return true;
  // The newest point may have more later.
  const std::uint64_t newest_us = extent.value()->end_us - step_us_;
  std::uint64_t end_us = newest_us;
  std::uint64_t first_us = end_us - std::min(end_us, kReadUs);
  if (part_.span.end_us != 0) {
    end_us = std::min(newest_us, part_.span.end_us);
    first_us = part_.span.begin_us - std::min(step_us_, part_.span.end_us - end_us);
  }
  // The pasts are of another store, or of long ago.
  if (read_us_ > end_us || read_us_ < first_us) forget();
  const bool is_moved = part_.seam_us != 0;
  if (read_us_ == 0) read_us_ = is_moved ? first_us : std::max(first_us, extent.value()->begin_us);
  wanted_us_ = std::max(end_us, read_us_);
  while (read_us_ < wanted_us_) {
    const std::uint64_t block_us = step_us_ * kBlockPoints;
    Span part{read_us_, std::min(wanted_us_, read_us_ - read_us_ % block_us + block_us)};
    if (read_us_ < part_.seam_us) part.end_us = std::min(part.end_us, part_.seam_us);
    if (auto done = read_part(store, part); !done) return done.error();
    read_us_ = part.end_us;
    drop_gone();
    if (Clock::now() >= until) break;
  }
  add_new(damaged_, store.damaged());
  // What ended before the oldest point that counts is of no past any more.
  const std::uint64_t first_read_us = read_us_ - std::min(read_us_, past_us());
  const auto is_gone = [&](const Fact& each) {
    return each.span.end_us <= std::max(first_read_us, begin_us_);
  };
  // The times of damaged blocks are the store's, also of a part that is moved.
  if (!is_moved) std::erase_if(damaged_, is_gone);
  std::erase_if(gaps_, is_gone);
  return read_us_ == wanted_us_;
}

void StoredPasts::take_facts(const std::vector<Fact>& facts, std::uint64_t moved_us) {
  breaks_.clear();
  std::vector<Fact> gaps;
  for (const Fact& each : facts) {
    if (!each.interface.empty() || each.reason == kReadLate) continue;
    breaks_.push_back({each.span.begin_us + moved_us, each.span.end_us + moved_us});
    if (moved_us == 0) gaps.push_back(each);
  }
  add_new(gaps_, gaps);
}

// Points that were taken before an error stay: the next read() skips them.
Result<void> StoredPasts::read_part(StoreReader& store, const Span& part) {
  const std::uint64_t moved_us = part.begin_us < part_.seam_us ? part_.moved_us : 0;
  const Span stored{part.begin_us - moved_us, part.end_us - moved_us};
  const std::uint64_t before_us = std::min(stored.begin_us, late_us());
  const auto facts = store.facts({stored.begin_us - before_us, stored.end_us});
  if (!facts) return facts.error();
  take_facts(facts.value(), moved_us);
  left_out_.clear();
  Result<void> taken;
  const auto has = [&](std::uint64_t id) {
    if (series_.contains(id) || series_.size() < series_max_) return true;
    left_out_.insert(id);
    return false;
  };
  // Most points follow one of the same statistic.
  Series* known = nullptr;
  std::uint64_t known_id = 0;
  const auto take_point = [&](std::uint64_t id, std::uint64_t stored_us, Point&& point) {
    if (!taken) return;
    const std::uint64_t begin_us = stored_us + moved_us;
    if (!known || known_id != id) {
      const auto series = find_or_add(store, id, begin_us);
      if (!series) taken = series.error();
      if (!series || !series.value()) return;
      known = series.value();
      known_id = id;
    }
    take(*known, begin_us, point);
  };
  const auto done = store.points({part_.tier, stored}, has, take_point);
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
  auto portions = PointPortions::create(row.shape, precision_);
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
  const std::uint64_t gone_us = left_out_.empty() ? past_us() : late_us();
  std::erase_if(series_, [&](const auto& each) {
    const Series& series = each.second;
    if (series.end_us + gone_us >= read_us_) return false;
    if (--series.known_as->series == 0) names_.erase({series.interface, series.name});
    return true;
  });
}

bool StoredPasts::is_broken(const Span& gap) const {
  if (gap.end_us <= gap.begin_us) return false;
  if (pieces_ > 1 || gap.end_us > gap.begin_us + late_us()) return true;
  return std::ranges::any_of(breaks_, [&](const Span& each) {
    return each.begin_us < gap.end_us && each.end_us > gap.begin_us;
  });
}

// If a restart left two points for the same time, the first one counts.
void StoredPasts::take(Series& series, std::uint64_t begin_us, const Point& point) {
  if (begin_us_ == 0) begin_us_ = begin_us;
  begin_us_ = std::min(begin_us_, begin_us);
  series.known_as->first_us = std::min(series.known_as->first_us, begin_us);
  if (begin_us < series.end_us || point.known * 10 < pieces_ * 9) return;
  const std::uint64_t end_us = begin_us + step_us_;
  end_us_ = std::max(end_us_, end_us);
  if (series.begin_us == 0 || is_broken({series.end_us, begin_us})) {
    series.paced = view::PacedPast(series.portions.bucket_octaves(point));
    series.begin_us = begin_us;
  }
  series.end_us = end_us;
  series.paced.add(series.portions.portion(point));
  series.paced.go_to((end_us - series.begin_us) / part_.unit_us);
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
  return first_us > begin_us_ && first_us + past_us() > end_us_;
}

double StoredPasts::part_read() const {
  if (wanted_us_ == 0 || read_us_ >= wanted_us_) return 1;
  const std::uint64_t left_us = wanted_us_ - read_us_;
  return 1 - std::min(1.0, static_cast<double>(left_us) / static_cast<double>(past_us()));
}

}  // namespace tallyfs::past
