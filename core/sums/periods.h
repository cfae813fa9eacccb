// One sum for each period of a history: the completed ones, oldest first and at most entries_max
// of them, and after them the open one, which samples are added to.
//
// Periods are counted from the origin, the time of the last reset: the one with index k ends at
// origin + (k + 1) * period. While the statistic is off, the open period stays open. If the
// statistic is switched on again in a later period, the open one is completed with the sum that it
// has, and the periods between are absent rather than zero, since nothing was measured. So indices
// may have gaps: a stretch is a run of consecutive indices, and stores the first of them.
//
// Confined to its owner: HistoryStatistic, QuantilePeriods or latency_hist::Set. A block of the
// ring in which no period has samples costs one step and no memory (ring.h), until it is shown.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/base/json_column.h"
#include "core/base/text.h"
#include "core/model/sample.h"
#include "core/sums/ring.h"
#include "core/sums/saved.h"
#include "core/sums/sums.h"
#include "core/sums/text_length.h"

namespace tallyfs {

struct PeriodSettings {
  std::uint32_t entries_max = 1;        // completed periods
  std::chrono::microseconds period{1};  // at least 1
};

template <typename Sum>
class Periods {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // There is no open period until start().
  Periods(const PeriodSettings& settings, Nanoseconds origin)
      : entries_max_(settings.entries_max),
        period_(settings.period),
        sums_(entries_max_ + 1),
        stretches_(entries_max_ + 1),
        origin_(origin) {}

  static std::uint64_t worst_case_bytes(const PeriodSettings& settings) {
    const std::uint64_t bound = std::uint64_t{settings.entries_max} + 1;
    return Ring<Sum>::worst_case_bytes(bound) + Ring<Stretch>::worst_case_bytes(bound);
  }

  bool has_open() const { return !sums_.empty(); }
  std::size_t completed() const { return has_open() ? sums_.size() - 1 : 0; }

  // Opens the period around now, unless that is the one interrupted.
  void start(Nanoseconds now) {
    const std::int64_t index = index_at(now);
    if (!has_open() || open_ < index) open(index);
  }

  // Completes what has ended by now and opens the period around now; true when one ended.
  // Requires has_open().
  bool advance(Nanoseconds now) {
    if (now < open_since_ + period_) return false;
    const std::int64_t around_now = index_at(now);
    const auto ended = static_cast<std::uint64_t>(around_now - open_);
    sums_.push_blanks(std::min<std::uint64_t>(ended, std::uint64_t{entries_max_} + 1));
    serial_ += ended;
    open_ = around_now;
    open_since_ = start_of(around_now);
    return true;
  }

  // A sample later than the open period counts as now. An older one goes into its own period if
  // that is present, and else into the first after it. has_open().
  bool add(std::span<const Sample> samples) {
    bool saturated = false;
    split(samples, [&](std::size_t age, std::span<const Sample> some) {
      saturated |= at_age(age).add(some);
    });
    return saturated;
  }
  bool add(std::span<const Sample> samples, const RunSums& sums) {
    return is_in_open(sums) ? at_age(0).add(sums) : add(samples);
  }
  // Whether all samples go into the open period.
  bool is_in_open(const RunSums& sums) const { return sums.oldest >= open_since_; }
  // Calls take(age, samples) for runs of samples of one period each; the open one has age 0.
  template <typename Take>
  void split(std::span<const Sample> samples, Take take) const {
    while (!samples.empty()) {
      const auto late = std::find_if(samples.begin(), samples.end(), [this](const Sample& sample) {
        return sample.time < open_since_;
      });
      const auto in_time = static_cast<std::size_t>(late - samples.begin());
      take(std::size_t{0}, samples.first(in_time));
      samples = samples.subspan(in_time);
      if (samples.empty()) break;
      const std::int64_t index = index_at(samples.front().time);
      const auto other = std::find_if_not(
          samples.begin(), samples.end(),
          [this, index](const Sample& sample) { return is_of(index, sample.time); });
      const auto of_it = static_cast<std::size_t>(other - samples.begin());
      take(age_of(index), samples.first(of_it));
      samples = samples.subspan(of_it);
    }
  }

  // How many periods ever were present, and how many are; both with the open one.
  std::uint64_t serial() const { return serial_; }
  std::size_t size() const { return sums_.size(); }
  // age < size()
  Sum& at_age(std::size_t age) { return sums_.change(sums_.size() - 1 - age); }

  // Shares its memory.
  const Periods& snapshot() const { return *this; }
  std::uint64_t text_length(std::string_view name, unsigned decimals = 0) const {
    return text_length(name, appending_sum(decimals));
  }
  void render(std::string_view name, std::string& out, unsigned decimals = 0) const {
    render(name, out, appending_sum(decimals));
  }
  // These two append the text after the time by append(age, sum, out).
  template <std::invocable<std::size_t, const Sum&, std::string&> Append>
  std::uint64_t text_length(std::string_view name, Append append) const {
    std::uint64_t length = 0;
    std::string columns;
    each([&](std::size_t i, std::int64_t index) {
      if (i == completed()) return false;
      columns.clear();
      append(sums_.size() - 1 - i, sums_[i], columns);
      length += name.size() + 2 + timestamp_length(start_of(index + 1)) + columns.size();
      return true;
    });
    return length;
  }
  template <std::invocable<std::size_t, const Sum&, std::string&> Append>
  void render(std::string_view name, std::string& out, Append append) const {
    each([&](std::size_t i, std::int64_t index) {
      if (i == completed()) return false;
      out.append(name).push_back(' ');
      append_timestamp(out, start_of(index + 1));
      append(sums_.size() - 1 - i, sums_[i], out);
      out.push_back('\n');
      return true;
    });
  }

  void write_columns(JsonWriter& json, unsigned decimals) const {
    write_ends(json);
    const auto at = [this](std::size_t i) -> const Sum& { return sums_[i]; };
    Sum::write_columns(json, completed(), at, decimals);
  }
  // The column of the times at which the completed periods ended.
  void write_ends(JsonWriter& json) const {
    json.key("end_us").begin_array();
    each([&](std::size_t i, std::int64_t index) {
      if (i == completed() || json.is_too_long()) return false;
      json.microseconds(start_of(index + 1));
      return true;
    });
    json.end_array();
  }
  // When the newest completed period ended. completed() > 0.
  Nanoseconds newest_end() const {
    const std::uint64_t serial = serial_ - 1;
    std::size_t at = stretches_.size() - 1;
    if (stretches_[at].serial > serial) --at;
    const Stretch& in = stretches_[at];
    return start_of(in.index + static_cast<std::int64_t>(serial - in.serial) + 1);
  }
  // The oldest is 0.
  const Sum& operator[](std::size_t i) const { return sums_[i]; }

  // Visits the newest completed period: visit(end, sum, no percentiles). Requires
  // completed() > 0.
  template <typename Visit>
  void visit_newest(Visit visit) const {
    visit(newest_end(), sums_[completed() - 1], std::span<const std::int64_t>());
  }

  void save(ByteWriter& out) const {
    save_time(out, origin_);
    out.put(static_cast<std::uint32_t>(sums_.size()));
    each([&](std::size_t i, std::int64_t index) {
      out.put(index);
      sums_[i].save(out);
      return true;
    });
  }

  void load(ByteReader& in) {
    origin_ = load_time(in);
    const auto size = in.get<std::uint32_t>();
    if (size > entries_max_ + 1) return in.fail();
    for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
      const auto index = in.get<std::int64_t>();
      Sum sum;
      sum.load(in);
      const std::int64_t at_least = has_open() ? open_ + 1 : 0;
      if (index < at_least || index > kUptimeMax / period_) return in.fail();
      note_open(index);
      sums_.push(sum);
    }
  }

 private:
  static auto appending_sum(unsigned decimals) {
    return
        [decimals](std::size_t, const Sum& sum, std::string& out) { sum.append_to(out, decimals); };
  }

  // Serial numbers count all periods that ever were present.
  struct Stretch {
    std::uint64_t serial = 0;
    std::int64_t index = 0;
  };

  // A time before the origin counts as the first period.
  std::int64_t index_at(Nanoseconds time) const {
    return time <= origin_ ? 0 : (time - origin_) / period_;
  }
  Nanoseconds start_of(std::int64_t index) const { return origin_ + index * period_; }
  // Tells without a division whether index_at(time) == index.
  bool is_of(std::int64_t index, Nanoseconds time) const {
    if (time < start_of(index)) return index == 0;
    return time - start_of(index) < period_;
  }

  void open(std::int64_t index) {
    note_open(index);
    sums_.push_blanks(1);
  }
  void note_open(std::int64_t index) {
    if (!has_open() || index != open_ + 1) stretches_.push({serial_ + 1, index});
    serial_ += 1;
    open_ = index;
    open_since_ = start_of(index);
  }

  std::uint64_t oldest_serial() const { return serial_ + 1 - sums_.size(); }

  // Visits each period's place and index, the oldest first, until a visit returns false.
  template <typename Visit>
  void each(Visit visit) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::uint64_t serial = oldest_serial() + i;
      while (at + 1 < stretches_.size() && stretches_[at + 1].serial <= serial) ++at;
      const Stretch& in = stretches_[at];
      if (!visit(i, in.index + static_cast<std::int64_t>(serial - in.serial))) return;
    }
  }

  // The first stretch that begins behind this index, by its place.
  std::size_t stretch_behind(std::int64_t index) const {
    std::size_t low = 0;
    std::size_t high = stretches_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (stretches_[middle].index <= index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // The age of the first period present whose index is not below this one. Requires index < open_.
  std::size_t age_of(std::int64_t index) const {
    const std::size_t behind = stretch_behind(index);
    const std::uint64_t end = behind == stretches_.size() ? serial_ : stretches_[behind].serial;
    std::uint64_t serial = oldest_serial();
    if (behind != 0) {
      const Stretch& in = stretches_[behind - 1];
      serial = std::max(serial, in.serial + static_cast<std::uint64_t>(index - in.index));
    }
    return serial_ - std::min(serial, std::max(end, oldest_serial()));
  }

  std::uint32_t entries_max_;
  Nanoseconds period_;
  Ring<Sum> sums_;           // the newest is the open one's
  Ring<Stretch> stretches_;  // those of the sums, and perhaps older ones
  Nanoseconds origin_;
  // These three describe the open period, if there is one.
  std::uint64_t serial_ = 0;
  std::int64_t open_ = 0;
  Nanoseconds open_since_{0};
};

}  // namespace tallyfs
