#include "tools/ctl/past_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/display/portion.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs {

Result<void> PastReader::read(std::uint64_t spans) {
  const bool is_mount = !source_.mount().empty();
  const auto block_us = static_cast<std::int64_t>(unit_us_ * view::Past::kBlockUnits);
  if (source_.period().count() > block_us) {
    return Error{ErrorCode::kInvalid, "the recording has a moment each " +
                                          std::to_string(source_.period().count() / 1'000'000) +
                                          " s; a span needs twelve of them at least"};
  }
  const std::chrono::microseconds every(is_mount ? static_cast<std::int64_t>(unit_us_) : 0);
  for (;;) {
    if (auto done = read_timestamp(); !done) return done.error();
    if (is_mount && units_ >= spans * kUnits) return {};
    const auto next = source_.next(every);
    if (!next) return next.error();
    if (next.value() == Source::Next::kEnd) return {};
  }
}

Result<void> PastReader::read_timestamp() {
  const auto names = interfaces();
  if (!names) return names.error();
  for (const std::string& each : names.value()) {
    if (auto done = read_interface(each); !done) return done.error();
  }
  if (units_ < until_) close_units();
  return {};
}

// The interfaces that have counted since the last snapshot. Removed interfaces are forgotten.
Result<std::vector<std::string>> PastReader::interfaces() {
  const auto tree = read_tree(source_);
  if (!tree) return tree.error();
  go_to(tree.value());
  realtime_offset_us_ = tree.value().realtime_us - tree.value().time_us;
  std::vector<std::string> moved;
  std::map<std::string, std::uint64_t> serials;
  for (const auto& each : tree.value().interfaces) {
    serials[each.name] = each.serial;
    const auto known = serials_.find(each.name);
    if (known == serials_.end() || known->second != each.serial) moved.push_back(each.name);
  }
  std::erase_if(newest_, [&](const auto& each) { return !serials.contains(each.first); });
  std::erase_if(series_, [&](const auto& each) { return !serials.contains(each.first.first); });
  serials_ = std::move(serials);
  return moved;
}

Result<void> PastReader::read_interface(const std::string& name) {
  auto interface = tallyfs::read_interface(source_, name);
  if (!interface && interface.error().code == ErrorCode::kNotFound) return {};
  if (!interface) return interface.error();
  take(interface.value());
  newest_.insert_or_assign(name, std::move(interface).value());
  return {};
}

void PastReader::take(const view::Interface& now) {
  const auto before = newest_.find(now.name);
  for (const view::Statistic& each : now.statistics) {
    take({now.name, each.name}, before == newest_.end() ? nullptr : before->second.find(each.name),
         each);
  }
  for (auto each = series_.lower_bound({now.name, ""});
       each != series_.end() && each->first.first == now.name;) {
    each = now.find(each->first.second) ? std::next(each) : series_.erase(each);
  }
}

void PastReader::take(const Name& name, const view::Statistic* before, const view::Statistic& now) {
  const auto found = series_.find(name);
  if (!view::has_past(now)) {
    if (found != series_.end()) series_.erase(found);
    return;
  }
  const auto portion = before ? view::portion_between(*before, now) : std::nullopt;
  if (found != series_.end() && portion) return found->second.paced.add(*portion);
  const bool is_new = found == series_.end() ? until_ > 0 : found->second.is_new;
  series_.insert_or_assign(name,
                           Series{.paced = view::PacedPast(view::bucket_octaves_of(now), until_),
                                  .units = now.units,
                                  .decimals = now.decimals(),
                                  .is_new = is_new});
}

void PastReader::go_to(const view::Tree& tree) {
  if (tree.epoch != epoch_ || first_us_ == 0) {
    series_.clear();
    epoch_ = tree.epoch;
    first_us_ = tree.time_us;
    units_ = 0;
    forget();
  }
  now_us_ = std::max(first_us_, tree.time_us);
  // To the nearest: a moment is read some milliseconds early or late.
  until_ = (now_us_ - first_us_ + unit_us_ / 2) / unit_us_;
  if (until_ > units_ + view::PacedPast::kLateUnits) {
    units_ = until_;
    forget();
  }
}

void PastReader::forget() {
  newest_.clear();
  serials_.clear();
  for (auto& [name, series] : series_) {
    series.paced = view::PacedPast(series.paced.past().bucket_octaves(), until_);
  }
}

void PastReader::close_units() {
  for (auto& [name, series] : series_) series.paced.go_to(until_);
  units_ = until_;
}

}  // namespace tallyfs
