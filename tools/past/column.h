// The points of one statistic in a block that is open, as bytes in memory, since most of them are
// small. At most kBlockPoints, by the number of their piece of time within the block. The file has
// other bytes: packed_column.h. Confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tools/past/point.h"

namespace tallyfs::past {

inline constexpr unsigned kBlockPoints = 60;

using TakePoint = std::function<void(unsigned number, Point&& point)>;

class Column {
 public:
  // `number` is above those that were added. `pieces`: how many finest pieces a whole point knows.
  void add(unsigned number, const Point& point, std::uint64_t pieces);

  bool empty() const { return known_ == 0; }
  std::size_t bytes() const { return bytes_.size(); }
  std::uint64_t known() const { return known_; }
  std::uint64_t sampled() const { return sampled_; }
  // Calls take() for each point that has bytes, in order, with the `pieces` of add().
  void read(std::uint64_t pieces, const TakePoint& take) const;

 private:
  std::uint64_t known_ = 0;    // bit i: point i was observed
  std::uint64_t sampled_ = 0;  // bit i: it has bytes; else nothing was counted
  std::string bytes_;
};

}  // namespace tallyfs::past
