#include "exporters/web/watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/view/distribution.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs::web {
namespace {

constexpr const char* kOwnInterface = "tallyfs";
constexpr double kSmoothSeconds = 3;

bool is_path(const std::string& name) { return name.find('/') != name.npos; }

bool has_bins(const view::Statistic& statistic) {
  return std::holds_alternative<view::Array>(statistic.values) ||
         std::holds_alternative<view::Quantiles>(statistic.values);
}

// Whole seconds between two readings that were not read.
std::uint64_t missed_between(std::uint64_t before_us, std::uint64_t now_us) {
  constexpr std::uint64_t kSecond = 1'000'000;
  const std::uint64_t micros = now_us > before_us ? now_us - before_us : 0;
  const std::uint64_t seconds = (micros + kSecond / 2) / kSecond;
  return seconds > 1 ? seconds - 1 : 0;
}

}  // namespace

void Watch::tick() {
  if (!asked_ || Clock::now() - *asked_ > kAttention) return;
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
    followed_.clear();
  }
  take_rates(before);
  follow();
  constexpr std::uint64_t kEach = 10;
  if (!fault_ && (readings_ % kEach == 1 || is_new)) find_latencies();
  if (fault_) return *fault_;
  return {};
}

void Watch::take_rates(const view::Tree& before) {
  const double seconds = tree_.time_us > before.time_us
                             ? static_cast<double>(tree_.time_us - before.time_us) / 1e6
                             : 0;
  rate_.reset();
  for (const view::InterfaceSummary& each : tree_.interfaces) {
    InterfaceRate& rate = rates_[each.name];
    const bool is_known = rate.seen != 0 && seconds > 0 && each.samples >= rate.samples;
    rate.rate.reset();
    if (is_known) {
      rate.rate = static_cast<double>(each.samples - rate.samples) / seconds;
      const double part = 1 - std::exp(-seconds / kSmoothSeconds);
      rate.smooth = rate.smooth ? *rate.smooth + part * (*rate.rate - *rate.smooth) : *rate.rate;
      rate.minute.push_back(static_cast<float>(*rate.rate));
      if (rate.minute.size() > kMinute) rate.minute.pop_front();
      rate_ = rate_.value_or(0) + *rate.rate;
    }
    rate.samples = each.samples;
    rate.seen = readings_;
  }
  std::erase_if(rates_, [&](const auto& each) { return each.second.seen != readings_; });
}

// What moves is followed without a question, if it is small.
void Watch::choose_followed() {
  followed_[kOwnInterface].looked_at = readings_;
  std::erase_if(followed_, [&](const auto& each) {
    const Followed& followed = each.second;
    const bool is_large = is_path(each.first) || followed.now.statistics.size() > kPastsMax;
    return is_large && followed.looked_at + kMinute < readings_;
  });
  for (const view::InterfaceSummary& each : tree_.interfaces) {
    if (followed_.size() >= kFollowedMax || columns_max_ == 0) return;
    const bool moves = rates_[each.name].rate.value_or(0) > 0;
    if (moves && each.statistics <= kPastsMax) followed_.try_emplace(each.name);
  }
}

void Watch::follow() {
  choose_followed();
  std::map<std::string_view, std::uint64_t> serials;
  for (const view::InterfaceSummary& each : tree_.interfaces) serials[each.name] = each.serial;
  std::erase_if(followed_, [&](const auto& each) {
    return !is_path(each.first) && !serials.contains(each.first);
  });
  for (auto& [name, followed] : followed_) {
    const auto serial = serials.find(name);
    follow(name, followed, serial == serials.end() ? nullptr : &serial->second);
  }
  std::erase_if(followed_, [](const auto& each) { return each.second.read_at == 0; });
  bound_bytes();
}

// What has not moved is known without a reading. After a reading that took too long the others are
// left out: all of them would.
void Watch::follow(const std::string& name, Followed& followed, const std::uint64_t* serial) {
  const bool is_quiet =
      serial && followed.read_at + 1 == readings_ && followed.now.serial == *serial;
  if (!is_quiet) {
    if (!fault_) read_followed(name, followed);
    return;
  }
  followed.before = followed.now;
  followed.now.time_us = tree_.time_us;
  followed.now.realtime_us = tree_.realtime_us;
  followed.read_at = readings_;
  for (auto& [statistic, past] : followed.pasts) past.add_quiet(tree_.realtime_us);
}

bool Watch::read_followed(const std::string& name, Followed& followed) {
  auto json = source_->interface(name);
  auto read = json ? to_interface(json.value()) : Result<view::Interface>(json.error());
  if (!read) {
    if (read.error().code == ErrorCode::kTimedOut) fault_ = read.error();
    if (read.error().code == ErrorCode::kNotFound) followed.read_at = 0;
    return false;
  }
  followed.json = std::move(json).value();
  if (followed.read_at != 0) followed.before = std::move(followed.now);
  followed.now = std::move(read).value();
  followed.read_at = readings_;
  add_columns(followed);
  return true;
}

void Watch::add_columns(Followed& followed) {
  const view::Interface& now = followed.now;
  std::erase_if(followed.pasts, [&](const auto& each) { return !now.find(each.first); });
  if (!followed.before || columns_max_ == 0) return;
  const std::uint64_t missed =
      std::min<std::uint64_t>(missed_between(followed.before->time_us, now.time_us), columns_max_);
  std::size_t pasts = 0;
  for (const view::Statistic& statistic : now.statistics) {
    if (!has_bins(statistic)) {
      followed.pasts.erase(statistic.name);
      continue;
    }
    if (++pasts > kPastsMax && statistic.name != followed.statistic) continue;
    Past& past = followed.pasts[statistic.name];
    for (std::uint64_t i = 0; i < missed; ++i) past.add_missed(now.realtime_us);
    past.add(statistic, view::change_between(*followed.before, now, statistic.name),
             now.realtime_us);
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
      for (auto& [statistic, past] : followed.pasts) past.keep(past.columns().size() / 2);
    }
  }
}

void Watch::drop_oldest() {
  followed_.erase(std::ranges::min_element(followed_, {},
                                           [](const auto& each) { return each.second.looked_at; }));
}

// None where the mount has no tracing/.
void Watch::find_latencies() {
  latencies_.clear();
  auto names = list_in_time(mount() + "/" + std::string(kLatencies));
  if (!names) return;
  latencies_ = std::move(names).value();
  std::erase(latencies_, "enable");
}

std::optional<std::uint64_t> Watch::dropped() const {
  const auto own = followed_.find(kOwnInterface);
  if (own == followed_.end()) return std::nullopt;
  const view::Statistic* const dropped = own->second.now.find("dropped");
  const auto* value = dropped ? std::get_if<view::Value>(&dropped->values) : nullptr;
  return value ? std::optional(static_cast<std::uint64_t>(value->total)) : std::nullopt;
}

Result<const Followed*> Watch::look_at(const std::string& name, const std::string& statistic) {
  if (!followed_.contains(name)) {
    Followed read;
    if (!read_followed(name, read)) {
      return Error{ErrorCode::kNotFound, name + ": no such interface"};
    }
    // Before the new one is there, which is as new as others of this second.
    if (followed_.size() >= kFollowedMax) drop_oldest();
    followed_.emplace(name, std::move(read));
  }
  Followed& followed = followed_.at(name);
  if (!statistic.empty()) followed.statistic = statistic;
  followed.looked_at = readings_ + 1;  // newer than all that only move
  return &followed;
}

}  // namespace tallyfs::web
