#include "exporters/web/watch.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tools/display/distribution.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs::web {
namespace {

const std::string kOwn(view::kOwnInterface);

bool is_path(const std::string& name) { return name.find('/') != name.npos; }

// From the reading before to that of `now`.
Interval interval_to(const view::Interface& now, std::uint64_t before_us) {
  constexpr std::uint64_t kSecond = 1'000'000;
  const std::uint64_t micros = now.time_us > before_us ? now.time_us - before_us : 0;
  return {now.realtime_us, std::max<std::uint64_t>(1, (micros + kSecond / 2) / kSecond), micros};
}

bool is_rated(std::uint64_t begin_us, std::uint64_t end_us) {
  return end_us >= begin_us + static_cast<std::uint64_t>(Watch::kRated.count());
}

// An interval ends with this reading. False if it is too short: it is continued.
bool ends_interval(Followed& followed, std::uint64_t time_us) {
  if (!followed.begin || !is_rated(followed.begin->time_us, time_us)) return false;
  followed.before = std::exchange(followed.begin, std::nullopt);
  return true;
}

}  // namespace

bool Watch::has_attention() const { return asked_ && Clock::now() - *asked_ <= kAttention; }

void Watch::tick() {
  if (!has_attention()) return;
  if (auto done = read(); !done) return;  // the next answer says it
}

Result<void> Watch::refresh() {
  asked_ = Clock::now();
  return check();
}

Result<void> Watch::check() {
  const auto now = Clock::now();
  if (!read_time_ || now - *read_time_ > kFresh) return read();
  if (fault_) return *fault_;
  return {};
}

Result<void> Watch::read() {
  auto json = source_->tree();
  auto tree = json ? to_tree(json.value()) : Result<view::Tree>(json.error());
  read_time_ = Clock::now();
  if (!tree) {
    fault_ = tree.error();
    return *fault_;
  }
  fault_.reset();
  ++readings_;
  const view::Tree before = std::exchange(tree_, std::move(tree).value());
  tree_json_ = std::move(json).value();
  const bool is_new = before.epoch != tree_.epoch;
  const bool has_slept = tree_.time_us > before.time_us + 60'000'000;
  if (is_new || has_slept) {
    rates_.clear();
    rated_.clear();
    followed_.clear();
    rated_us_ = 0;
  }
  take_rates();
  follow();
  constexpr std::uint64_t kEach = 10;
  if (!fault_ && (readings_ % kEach == 1 || is_new)) find_latencies();
  if (fault_) return *fault_;
  return {};
}

void Watch::take_rates() {
  const bool ends = rated_us_ == 0 || is_rated(rated_us_, tree_.time_us);
  const double seconds = rated_us_ == 0 ? 0 : static_cast<double>(tree_.time_us - rated_us_) / 1e6;
  if (ends) rated_us_ = tree_.time_us;
  rate_.reset();
  find_rates();
  for (auto* const each : rated_) {
    InterfaceRate& rate = each->second;
    if (ends) rate.recent.take(rate.summary->samples, seconds);
    const auto& last = rate.recent.last();
    if (last && each->first != kOwn) rate_ = rate_.value_or(0) + *last;
  }
}

// The tree has most interfaces in the places of the last reading: those need no look-up.
void Watch::find_rates() {
  const auto& interfaces = tree_.interfaces;
  rated_.resize(interfaces.size());
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    if (!rated_[i] || rated_[i]->first != interfaces[i].name) {
      rated_[i] = &*rates_.try_emplace(interfaces[i].name).first;
    }
    rated_[i]->second.seen = readings_;
    rated_[i]->second.summary = &interfaces[i];
  }
  if (rates_.size() == rated_.size()) return;
  std::erase_if(rates_, [&](const auto& each) { return each.second.seen != readings_; });
}

// Follows small interfaces that count, also without a request for them.
void Watch::choose_followed() {
  for (auto& [name, followed] : followed_) followed.moves_most = false;
  Followed& own = followed_[kOwn];
  own.looked_at = readings_;
  own.moves_most = true;
  std::erase_if(followed_, [&](const auto& each) {
    const Followed& followed = each.second;
    const bool is_large = is_path(each.first) || followed.now.statistics.size() > kPastsMax;
    return is_large && followed.looked_at + kLargeReadings < readings_;
  });
  if (columns_max_ > 0) choose_moving();
  while (followed_.size() > kFollowedMax) drop_for_another();
}

// Replaces a followed interface only by one that counts clearly more: each replacement loses a
// past, and equals would replace one another in turn.
void Watch::choose_moving() {
  constexpr double kStays = 1.25;
  std::vector<std::pair<double, const std::string*>> moving;
  for (const auto* const each : rated_) {
    const auto& [name, rate] = *each;
    const double samples = rate.recent.of_minute();
    if (samples <= 0 || name == kOwn || rate.summary->statistics > kPastsMax) continue;
    moving.emplace_back(followed_.contains(name) ? kStays * samples : samples, &name);
  }
  const std::size_t size = std::min(moving.size(), kMovingMax - 1);  // the daemon's own is one
  std::ranges::partial_sort(moving, moving.begin() + static_cast<std::ptrdiff_t>(size),
                            std::greater<>(), [](const auto& each) { return each.first; });
  for (std::size_t i = 0; i < size; ++i) followed_[*moving[i].second].moves_most = true;
}

double Watch::moved(const std::string& name) const {
  const auto found = rates_.find(name);
  return found == rates_.end() ? 0 : found->second.recent.of_minute();
}

void Watch::follow() {
  choose_followed();
  std::erase_if(followed_, [&](const auto& each) {
    return !is_path(each.first) && !rates_.contains(each.first);
  });
  for (auto& [name, followed] : followed_) {
    const auto rate = rates_.find(name);
    follow(name, followed, rate == rates_.end() ? nullptr : &rate->second.summary->serial);
  }
  std::erase_if(followed_, [](const auto& each) { return each.second.read_at == 0; });
  bound_bytes();
}

// An interface with the same serial number needs no reading. After a reading that took too long the
// others are left out, since they would take too long as well.
void Watch::follow(const std::string& name, Followed& followed, const std::uint64_t* serial) {
  const bool is_quiet =
      serial && followed.read_at + 1 == readings_ && followed.now.serial == *serial;
  if (!is_quiet) {
    if (fault_) return;
    const auto done = read_followed(name, followed);
    if (!done && done.error().code == ErrorCode::kTimedOut) fault_ = done.error();
    if (!done && done.error().code == ErrorCode::kNotFound) followed.read_at = 0;
    return;
  }
  if (!followed.begin) followed.begin = followed.now;
  followed.now.time_us = tree_.time_us;
  followed.now.realtime_us = tree_.realtime_us;
  followed.read_at = readings_;
  if (!ends_interval(followed, followed.now.time_us)) return;
  // A reading too soon after the last one ended no interval, but may have seen new counts.
  const bool has_counted = followed.before->serial != followed.now.serial;
  // A statistic that has not counted since its first reading has no past yet.
  const bool has_pasts = !followed.pasts.empty() && (followed.statistic.empty() ||
                                                     followed.pasts.contains(followed.statistic));
  if (has_counted || !has_pasts) return add_columns(followed);
  const Interval interval = interval_to(followed.now, followed.before->time_us);
  for (auto& [statistic, past] : followed.pasts) past.add_quiet(interval);
}

Result<void> Watch::read_followed(const std::string& name, Followed& followed) {
  auto json = source_->interface(name);
  auto read = json ? to_interface(json.value()) : Result<view::Interface>(json.error());
  if (!read) return read.error();
  followed.json = std::move(json).value();
  if (followed.read_at != 0 && !followed.begin) followed.begin = std::move(followed.now);
  followed.now = std::move(read).value();
  followed.read_at = readings_;
  fit_pasts(followed);
  if (ends_interval(followed, followed.now.time_us)) add_columns(followed);
  return {};
}

// Forgets pasts that the newest definitions do not keep, and columns with other bins: a picture has
// the bins of the newest definition.
void Watch::fit_pasts(Followed& followed) {
  const view::Interface& now = followed.now;
  std::erase_if(followed.pasts, [&](const auto& each) {
    const view::Statistic* const statistic = now.find(each.first);
    return !statistic || !keeps_past(*statistic);
  });
  for (auto& [name, past] : followed.pasts) past.fit(*now.find(name));
}

void Watch::add_columns(Followed& followed) {
  if (columns_max_ == 0) return;
  const view::Interface& now = followed.now;
  const Interval interval = interval_to(now, followed.before->time_us);
  std::size_t with_bins = 0;
  std::size_t others = 0;
  for (const view::Statistic& statistic : now.statistics) {
    if (!keeps_past(statistic)) continue;
    std::size_t& pasts = has_bins(statistic) ? with_bins : others;
    if (++pasts > kPastsMax && statistic.name != followed.statistic) continue;
    Past& past = followed.pasts[statistic.name];
    past.add(statistic, view::change_between(*followed.before, now, statistic.name), interval);
    past.keep(columns_max_);
  }
}

void Watch::bound_bytes() {
  for (;;) {
    std::size_t bytes = 0;
    for (auto& [name, followed] : followed_) {
      for (auto& [statistic, past] : followed.pasts) {
        past.keep(columns_max_);
        bytes += past.bytes();
      }
    }
    if (bytes <= kPastBytesMax) return;
    if (followed_.size() > 2) {
      drop_oldest();
      continue;
    }
    // The interface that is looked at is too large by itself: half of its past stays.
    for (auto& [name, followed] : followed_) {
      for (auto& [statistic, past] : followed.pasts) past.keep(past.seconds() / 2);
    }
  }
}

// For its bytes.
void Watch::drop_oldest() {
  followed_.erase(std::ranges::min_element(followed_, {}, [&](const auto& each) {
    return std::pair(each.second.looked_at, moved(each.first));
  }));
}

// For its place: those that move most keep theirs.
void Watch::drop_for_another() {
  followed_.erase(std::ranges::min_element(followed_, {}, [&](const auto& each) {
    return std::tuple(each.second.moves_most, each.second.looked_at, moved(each.first));
  }));
}

// None where the mount has no tracing/.
void Watch::find_latencies() {
  latencies_.clear();
  auto names = list_in_time(mount() + "/" + std::string(kLatencies));
  if (!names) return;
  latencies_ = std::move(names).value();
  std::erase(latencies_, "enable");
}

const std::optional<Slowest>& Watch::slowest(const std::string& name) {
  static const std::optional<Slowest> kNone;
  const auto found = followed_.find(name);
  if (found == followed_.end()) return kNone;
  Followed& followed = found->second;
  if (followed.slowest_at != readings_) {
    followed.slowest = slowest_of(followed.now, followed.pasts);
    followed.slowest_at = readings_;
  }
  return followed.slowest;
}

bool Watch::knows_slowest(const std::string& name) const {
  const auto rate = rates_.find(name);
  const bool is_quiet = rate != rates_.end() &&
                        rate->second.recent.minute().size() == view::RecentRate::kMinute &&
                        rate->second.recent.of_minute() <= 0;
  return is_quiet || followed_.contains(name);
}

std::optional<std::uint64_t> Watch::dropped() const {
  const auto own = followed_.find(kOwn);
  if (own == followed_.end()) return std::nullopt;
  const view::Statistic* const dropped = own->second.now.find("dropped");
  const auto* value = dropped ? std::get_if<view::Value>(&dropped->values) : nullptr;
  return value ? std::optional(static_cast<std::uint64_t>(value->total)) : std::nullopt;
}

std::uint64_t Watch::counts_since_us() const {
  const auto own = followed_.find(kOwn);
  if (own == followed_.end() || own->second.now.statistics.empty()) return 0;
  const view::Interface& now = own->second.now;
  // One of them may have been reset since.
  const auto& first = std::ranges::min(now.statistics, {}, &view::Statistic::data_us);
  return now.realtime_at(first.data_us);
}

// Reads the names again at once if the summary has another number of statistics.
const Watch::Names* Watch::names_of(const view::InterfaceSummary& interface,
                                    Clock::time_point until) {
  const auto known = names_.find(interface.name);
  const bool is_known = known != names_.end() &&
                        known->second.names.size() == interface.statistics &&
                        known->second.read_at + kNamesReadings > readings_;
  if (is_known) return &known->second;
  if (Clock::now() > until) return nullptr;
  const auto json = source_->interface(interface.name);
  const auto read = json ? to_interface(json.value()) : Result<view::Interface>(json.error());
  if (!read) return nullptr;
  Names made{.read_at = readings_};
  for (const view::Statistic& each : read.value().statistics) made.names.push_back(each.name);
  return &names_.insert_or_assign(interface.name, std::move(made)).first->second;
}

Watch::Search Watch::search(const Filter& filter) {
  Search made;
  const auto until = Clock::now() + kSearchTime;
  std::erase_if(names_, [&](const auto& each) { return !rates_.contains(each.first); });
  for (const view::InterfaceSummary& interface : tree_.interfaces) {
    const Names* const known = names_of(interface, until);
    if (!known) continue;
    ++made.searched;
    if (filter.matches(interface.name)) continue;
    for (const std::string& name : known->names) {
      if (!filter.matches(interface.name + "/" + name)) continue;
      if (++made.count <= kFoundMax) made.found.emplace_back(interface.name, name);
    }
  }
  return made;
}

Result<const Followed*> Watch::look_at(const std::string& name, const std::string& statistic) {
  if (!followed_.contains(name)) {
    Followed read;
    if (auto done = read_followed(name, read); !done) return done.error();
    // Before the new one is there, which is as new as others of this second.
    if (followed_.size() >= kFollowedMax) drop_for_another();
    followed_.emplace(name, std::move(read));
  }
  Followed& followed = followed_.at(name);
  if (!statistic.empty()) followed.statistic = statistic;
  followed.looked_at = readings_ + 1;  // newer than all that only move
  return &followed;
}

}  // namespace tallyfs::web
