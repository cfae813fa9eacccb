#include "exporters/web/watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/view/distribution.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::web {
namespace {

constexpr const char* kOwnInterface = "tallyfs";
constexpr double kSmoothSeconds = 3;

bool is_path(const std::string& name) { return name.find('/') != name.npos; }

}  // namespace

void Watch::tick() {
  if (!asked_ || Clock::now() - *asked_ > kAttention) return;
  if (auto done = read(); !done) return;  // the next answer says it
}

Result<void> Watch::refresh() {
  const auto now = Clock::now();
  asked_ = now;
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
  return {};
}

void Watch::take_rates(const view::Tree& before) {
  const double seconds =
      tree_.time_us > before.time_us ? static_cast<double>(tree_.time_us - before.time_us) / 1e6
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

// Reads what is followed and has moved; what has not is known without a reading.
void Watch::follow() {
  followed_[kOwnInterface].looked_at = readings_;
  std::erase_if(followed_, [&](const auto& each) {
    return is_path(each.first) && each.second.looked_at + kMinute < readings_;
  });
  std::map<std::string, std::uint64_t> serials;
  for (const view::InterfaceSummary& each : tree_.interfaces) {
    const bool has_room = followed_.size() < kFollowedMax && columns_max_ > 0;
    const InterfaceRate& rate = rates_[each.name];
    if (has_room && rate.rate.value_or(0) > 0) followed_.try_emplace(each.name);
    serials[each.name] = each.serial;
  }
  for (auto& [name, followed] : followed_) {
    const auto serial = serials.find(name);
    const bool is_quiet = serial != serials.end() && followed.read_at + 1 == readings_ &&
                          followed.now.serial == serial->second;
    if (!is_quiet) {
      read_followed(name, followed);
      continue;
    }
    followed.before = followed.now;
    followed.now.time_us = tree_.time_us;
    followed.now.realtime_us = tree_.realtime_us;
    followed.read_at = readings_;
    for (auto& [statistic, past] : followed.pasts) past.add_quiet(tree_.realtime_us);
  }
  std::erase_if(followed_, [&](const auto& each) { return each.second.read_at != readings_; });
  bound_bytes();
}

bool Watch::read_followed(const std::string& name, Followed& followed) {
  auto json = source_->interface(name);
  auto read = json ? to_interface(json.value()) : Result<view::Interface>(json.error());
  if (!read) return false;
  followed.json = std::move(json).value();
  if (followed.read_at != 0) followed.before = std::move(followed.now);
  followed.now = std::move(read).value();
  const std::uint64_t missed =
      followed.read_at != 0 && readings_ > followed.read_at ? readings_ - followed.read_at - 1 : 0;
  followed.read_at = readings_;
  add_columns(followed, missed);
  return true;
}

void Watch::add_columns(Followed& followed, std::uint64_t missed) {
  const view::Interface& now = followed.now;
  std::erase_if(followed.pasts, [&](const auto& each) { return !now.find(each.first); });
  if (!followed.before || columns_max_ == 0) return;
  for (const view::Statistic& statistic : now.statistics) {
    if (!std::holds_alternative<view::Array>(statistic.values) &&
        !std::holds_alternative<view::Quantiles>(statistic.values)) {
      followed.pasts.erase(statistic.name);
      continue;
    }
    Past& past = followed.pasts[statistic.name];
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(missed, columns_max_); ++i) {
      past.add_missed(now.realtime_us);
    }
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
  followed_.erase(std::ranges::min_element(
      followed_, {}, [](const auto& each) { return each.second.looked_at; }));
}

std::optional<std::uint64_t> Watch::dropped() const {
  const auto own = followed_.find(kOwnInterface);
  if (own == followed_.end()) return std::nullopt;
  const view::Statistic* const dropped = own->second.now.find("dropped");
  const auto* value = dropped ? std::get_if<view::Value>(&dropped->values) : nullptr;
  return value ? std::optional(static_cast<std::uint64_t>(value->total)) : std::nullopt;
}

Result<const Followed*> Watch::look_at(const std::string& name) {
  const bool is_new = !followed_.contains(name);
  Followed& followed = followed_[name];
  if (is_new && !read_followed(name, followed)) {
    followed_.erase(name);
    return Error{ErrorCode::kNotFound, name + ": no such interface"};
  }
  followed.looked_at = readings_ + 1;  // newer than all that only move
  if (followed_.size() > kFollowedMax) drop_oldest();
  return &followed;
}

}  // namespace tallyfs::web
