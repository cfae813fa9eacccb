// One sum for each period of a history: the completed ones, oldest first and at most entries_max
// of them, and behind them the open one, into which samples go.
//
// Periods count from the origin, the time of the last reset: the one with index k ends at
// origin + (k + 1) * period. Time stands still while the statistic is off: the open period stays
// open, and periods that pass entirely meanwhile are absent rather than zero, since nothing was
// measured. So indices may have gaps, and each sum keeps its own.
//
// Confined to its HistoryStatistic. A gap of any length costs at most entries_max steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/sample.h"
#include "core/base/text.h"
#include "core/definition/definition.h"
#include "core/statistic/ring.h"
#include "core/statistic/saved.h"

namespace tally {

template <typename Sum>
class Periods {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // Nothing is open until start().
  Periods(const HistorySettings& settings, Nanoseconds origin)
      : entries_max_(settings.entries_max),
        period_(settings.period),
        entries_(entries_max_ + 1),
        origin_(origin) {}

  static std::uint64_t worst_case_bytes(const HistorySettings& settings) {
    return Ring<Entry>::worst_case_bytes(std::uint64_t{settings.entries_max} + 1);
  }

  bool has_open() const { return !entries_.empty(); }
  std::size_t completed() const { return has_open() ? entries_.size() - 1 : 0; }

  // Opens the period around now, unless that is the one interrupted.
  void start(Nanoseconds now) {
    const std::int64_t index = index_at(now);
    if (!has_open() || entries_.newest().index < index) open(index);
  }

  // Completes what has ended by now and opens the period around now; true when one ended.
  // has_open().
  bool advance(Nanoseconds now) {
    if (now < open_since_ + period_) return false;
    const std::int64_t around_now = index_at(now);
    std::int64_t next = entries_.newest().index + 1;
    // What would be pushed out again need not be pushed in.
    next = std::max(next, around_now - std::int64_t{entries_max_});
    for (; next <= around_now; ++next) entries_.push({.index = next});
    open_since_ = start_of(around_now);
    return true;
  }

  // What is later than the open period counts as now. What is older goes into its own period if
  // that is present, and else into the first after it. has_open().
  bool add(std::span<const Sample> samples) {
    bool saturated = false;
    while (!samples.empty()) {
      const auto late = std::find_if(samples.begin(), samples.end(), [this](const Sample& sample) {
        return sample.time < open_since_;
      });
      const auto in_time = static_cast<std::size_t>(late - samples.begin());
      saturated |= entries_.change_newest().sum.add(samples.first(in_time));
      samples = samples.subspan(in_time);
      if (samples.empty()) break;
      saturated |= first_from(index_at(samples.front().time)).sum.add(samples.first(1));
      samples = samples.subspan(1);
    }
    return saturated;
  }

  void render(std::string_view name, std::size_t bytes_max, std::string& out) const {
    for (std::size_t i = 0; i < completed() && out.size() <= bytes_max; ++i) {
      out.append(name).push_back(' ');
      append_timestamp(out, start_of(entries_[i].index + 1));
      entries_[i].sum.append_to(out);
      out.push_back('\n');
    }
  }

  void save(ByteWriter& out) const {
    save_time(out, origin_);
    out.put(static_cast<std::uint32_t>(entries_.size()));
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      out.put(entries_[i].index);
      entries_[i].sum.save(out);
    }
  }

  void load(ByteReader& in) {
    origin_ = load_time(in);
    const auto size = in.get<std::uint32_t>();
    if (size > entries_max_ + 1) return in.fail();
    for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
      Entry entry{.index = in.get<std::int64_t>()};
      entry.sum.load(in);
      const std::int64_t at_least = has_open() ? entries_.newest().index + 1 : 0;
      if (entry.index < at_least || entry.index > kUptimeMax / period_) return in.fail();
      entries_.push(entry);
    }
    if (has_open()) open_since_ = start_of(entries_.newest().index);
  }

 private:
  struct Entry {
    std::int64_t index = 0;
    Sum sum{};
  };

  // What lies before the origin counts as the first period.
  std::int64_t index_at(Nanoseconds time) const {
    return time <= origin_ ? 0 : (time - origin_) / period_;
  }
  Nanoseconds start_of(std::int64_t index) const { return origin_ + index * period_; }

  void open(std::int64_t index) {
    entries_.push({.index = index});
    open_since_ = start_of(index);
  }

  // The first period present whose index is not below this one; the open one is beyond it.
  Entry& first_from(std::int64_t index) {
    std::size_t low = 0;
    std::size_t high = entries_.size() - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (entries_[middle].index < index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return entries_.change(low);
  }

  std::uint32_t entries_max_;
  Nanoseconds period_;
  Ring<Entry> entries_;
  Nanoseconds origin_;
  Nanoseconds open_since_{0};  // start of the open period, when there is one
};

}  // namespace tally
