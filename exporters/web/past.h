// The last minutes of one statistic: what was counted in each interval. Of bins only those that
// were hit are kept; of a list its values that grew; of other types their sums. Confined to its
// owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/base/int128.h"
#include "tools/display/change.h"
#include "tools/display/statistic.h"

namespace tallyfs::web {

// A bin that was hit: of an array by its place, of percentiles by the index of its bucket. Of a
// list a value that grew, by its X; of a range all samples that its sum is of.
struct Hit {
  enum class Side : std::uint8_t { kNegative, kZero, kPositive };
  std::int64_t index = 0;
  Side side = Side::kPositive;
  std::uint64_t count = 0;
};

// The time between two readings.
struct Interval {
  std::uint64_t end_us = 0;   // of the wall clock
  std::uint64_t seconds = 1;  // rounded, at least 1
  std::uint64_t micros = 0;   // as read; 0: it is as many as the seconds have
};

struct PastColumn {
  // kGap: readings were missed, so the counts are of several seconds, or of a part of them.
  // kUnknown: a reset, or a new definition, came in between. kMissing: there are no counts of that
  // time.
  enum class State : std::uint8_t { kCounted, kGap, kUnknown, kMissing };
  Interval interval{};
  State state = State::kCounted;
  std::uint64_t samples = 0;
  std::uint64_t out_of_range = 0;
  std::uint64_t missed = 0;
  Int128 sum = 0;                      // a value's growth, all of a list, the sum of a range's X
  std::optional<std::int64_t> last{};  // X of a type=last at the end
  std::vector<Hit> hits{};

  double length_s() const {
    return interval.micros > 0 ? static_cast<double>(interval.micros) / 1e6
                               : static_cast<double>(interval.seconds);
  }
  bool is_known() const { return state == State::kCounted || state == State::kGap; }
  std::uint64_t begin_us() const {
    return interval.end_us - std::min(interval.end_us, interval.seconds * 1'000'000);
  }
};

class Past {
 public:
  // Forgets all columns if they have other bins.
  void fit(const view::Statistic& now);
  // Adds the counts since the last column. Columns with other bins are forgotten.
  void add(const view::Statistic& now, const view::Change& change, const Interval& interval);
  // Adds a column without samples.
  void add_quiet(const Interval& interval);
  // Adds a time without counts (kMissing).
  void add_missing(const Interval& interval);
  // Forgets the oldest columns until the others are of at most so many seconds.
  void keep(std::uint64_t seconds);

  const std::deque<PastColumn>& columns() const { return columns_; }
  // The sum of several pasts with the same bins. A time is unknown if it is so in one of them, and
  // is left out if it is missing in all.
  friend Past sum_of(const std::vector<Past>& parts);
  // The columns whose middle is within the time, with missing ones at its ends. The first and the
  // last may reach beyond it by half their length.
  Past within(std::uint64_t begin_us, std::uint64_t end_us) const;
  std::uint64_t seconds() const { return seconds_; }
  std::size_t bytes() const;

 private:
  void push(PastColumn column);

  std::deque<PastColumn> columns_;
  std::uint64_t seconds_ = 0;  // of all columns
  std::string bins_;           // which bins the columns are of
};

Past sum_of(const std::vector<Past>& parts);

bool has_bins(const view::Statistic& statistic);
// A history and a raw statistic show past times themselves.
bool keeps_past(const view::Statistic& statistic);

// Joins columns, oldest first: the sum of those that are known. It has a gap if one of them has one
// or is unknown, and is unknown if all are.
PastColumn joined(const std::deque<PastColumn>& columns, std::size_t first, std::size_t last);
// Joins the columns that are not missing; its seconds are theirs.
PastColumn joined_known(const std::deque<PastColumn>& columns);
// `like` with the values and the samples of the column.
view::Statistic with_column(const view::Statistic& like, const PastColumn& column);
// has_bins(): `like` with these hits alone as its values.
view::Statistic with_hits(const view::Statistic& like, const std::vector<Hit>& hits);
// Ordered: below zero, zero, above zero; by index.
std::vector<Hit> hits_of(const view::Values& values);
// Ordered, each bin once.
std::vector<Hit> summed(std::vector<Hit> hits);

}  // namespace tallyfs::web
