// How a feeder counts the samples of one statistic in cells of its own: an entry of the page of
// shapes (core/wire/FORMAT.md). The daemon writes it, and other processes read it meanwhile.
#pragma once

#include <atomic>
#include <cstdint>

namespace tallyfs {

// The contents of a cell.
enum class CellKind : std::uint32_t {
  kNone = 0,        // samples of this statistic go by the socket
  kIncrements = 1,  // sum of Y
  kProducts = 2,    // sum of X * Y
  kRange = 3,       // number, smallest and greatest X, sum of X * Y
  kArrayLin = 4,    // sum of Y for each interval, sum of X * Y
  kArrayLog2 = 5,
};

// How samples are counted in cells. A value.
struct CellForm {
  CellKind kind = CellKind::kNone;
  std::uint32_t intervals = 0;  // of an array: one for each bound, and one for what lies above
  std::int64_t range_min = 0;
  std::int64_t range_max = 0;
  std::uint64_t base_interval = 0;

  bool operator==(const CellForm&) const = default;
};

// An array of more intervals goes by the socket.
inline constexpr std::uint32_t kCellIntervalsMax = 1024;

struct Shape {
  std::atomic<std::uint32_t> era;      // counts up whenever cells begin anew; never 0; written last
  std::atomic<std::uint32_t> version;  // odd while the rest is written
  std::atomic<std::int64_t> range_min;
  std::atomic<std::int64_t> range_max;
  std::atomic<std::uint64_t> base_interval;
  std::atomic<std::uint32_t> intervals;
  std::atomic<std::uint32_t> kind;
  std::atomic<std::uint32_t> decimals;  // of X, whether samples go into cells or not
  std::uint32_t padding;
  std::uint64_t spare[2];
};
static_assert(sizeof(Shape) == 64);

}  // namespace tallyfs
