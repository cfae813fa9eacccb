// The points of one statistic in one block, as bytes (FORMAT.md). At most kBlockPoints, by the
// number of their piece of time within the block. Bytes of points follow one another, and no point
// refers to another. Confined to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tools/past/point.h"

namespace tallyfs::past {

inline constexpr unsigned kBlockPoints = 60;

// Bytes of one kind lie together, since they compress better so: what a point has, keys of cells,
// and counts of cells.
enum class Stream : std::uint8_t { kMarks, kKeys, kCounts };
inline constexpr std::size_t kStreams = 3;

class Column {
 public:
  // `number` is above those that were added. `pieces`: how many finest pieces a whole point knows.
  void add(unsigned number, const Point& point, std::uint64_t pieces);

  bool empty() const { return known_ == 0; }
  std::size_t bytes() const;
  std::uint64_t known() const { return known_; }
  std::uint64_t sampled() const { return sampled_; }
  const std::string& bytes_of(Stream stream) const {
    return streams_[static_cast<std::size_t>(stream)];
  }

 private:
  std::string& at(Stream stream) { return streams_[static_cast<std::size_t>(stream)]; }
  void put_cells(const Point& point);

  std::uint64_t known_ = 0;    // bit i: point i was observed
  std::uint64_t sampled_ = 0;  // bit i: it has bytes; else nothing was counted
  std::array<std::string, kStreams> streams_;
};

// A column that was read. Bytes may be anything.
struct ColumnBytes {
  std::uint64_t known = 0;
  std::uint64_t sampled = 0;
  std::array<std::string_view, kStreams> streams;
};

using TakePoint = std::function<void(unsigned number, Point&& point)>;
// Calls take() for each point that was observed, in order. False: the bytes are no column; some
// points may have been taken.
bool read_column(const ColumnBytes& column, std::uint64_t pieces, const TakePoint& take);

}  // namespace tallyfs::past
