// The last minutes of one statistic with bins: what was counted in each interval, in which bin.
// Only bins that were hit are kept. Confined to its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/view/change.h"
#include "core/view/statistic.h"

namespace tallyfs::web {

// A bin that was hit: of an array by its place, of percentiles by the index of its bucket.
struct Hit {
  enum class Side : std::uint8_t { kNegative, kZero, kPositive };
  std::int32_t index = 0;
  Side side = Side::kPositive;
  std::uint64_t count = 0;
};

struct PastColumn {
  // kMissed: nothing was read. kUnknown: a reset, or a new definition, came in between.
  enum class State : std::uint8_t { kCounted, kUnknown, kMissed };
  std::uint64_t realtime_us = 0;  // its end
  State state = State::kCounted;
  std::vector<Hit> hits{};
};

class Past {
 public:
  // What was counted since the column before. Other bins than before forget all columns.
  void add(const view::Statistic& now, const view::Change& change, std::uint64_t realtime_us);
  void add_missed(std::uint64_t realtime_us) {
    columns_.push_back({realtime_us, PastColumn::State::kMissed});
  }
  // Nothing was counted.
  void add_quiet(std::uint64_t realtime_us) { columns_.push_back({realtime_us}); }
  void keep(std::size_t columns);

  const std::deque<PastColumn>& columns() const { return columns_; }
  std::size_t bytes() const;

 private:
  std::deque<PastColumn> columns_;
  std::string bins_;  // which bins the columns are of
};

// `like` with these hits alone as its values.
view::Statistic with_hits(const view::Statistic& like, const std::vector<Hit>& hits);
std::vector<Hit> hits_of(const view::Values& values);
void add_hits(std::vector<Hit>& to, const std::vector<Hit>& more);

}  // namespace tallyfs::web
