// The last minutes of one statistic with bins: what was counted in each interval, in which bin.
// Only bins that were hit are kept. Confined to its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tools/display/change.h"
#include "tools/display/statistic.h"

namespace tallyfs::web {

// A bin that was hit: of an array by its place, of percentiles by the index of its bucket.
struct Hit {
  enum class Side : std::uint8_t { kNegative, kZero, kPositive };
  std::int32_t index = 0;
  Side side = Side::kPositive;
  std::uint64_t count = 0;
};

// The time between two readings.
struct Interval {
  std::uint64_t end_us = 0;   // of the wall clock
  std::uint64_t seconds = 1;  // rounded, at least 1
};

struct PastColumn {
  // kGap: readings were missed, so the counts are of several seconds. kUnknown: a reset, or a new
  // definition, came in between.
  enum class State : std::uint8_t { kCounted, kGap, kUnknown };
  Interval interval{};
  State state = State::kCounted;
  std::vector<Hit> hits{};
};

class Past {
 public:
  // Forgets all columns if they are of other bins.
  void fit(const view::Statistic& now);
  // What was counted since the column before, which had the same bins, else it is forgotten.
  void add(const view::Statistic& now, const view::Change& change, const Interval& interval);
  // Nothing was counted.
  void add_quiet(const Interval& interval);
  // Forgets the oldest columns until the others are of at most so many seconds.
  void keep(std::uint64_t seconds);

  const std::deque<PastColumn>& columns() const { return columns_; }
  std::uint64_t seconds() const { return seconds_; }
  std::size_t bytes() const;

 private:
  void push(PastColumn column);

  std::deque<PastColumn> columns_;
  std::uint64_t seconds_ = 0;  // of all columns
  std::string bins_;           // which bins the columns are of
};

// `like` with these hits alone as its values.
view::Statistic with_hits(const view::Statistic& like, const std::vector<Hit>& hits);
// Ordered: below zero, zero, above zero; by index.
std::vector<Hit> hits_of(const view::Values& values);
// Ordered, each bin once.
std::vector<Hit> summed(std::vector<Hit> hits);

}  // namespace tallyfs::web
