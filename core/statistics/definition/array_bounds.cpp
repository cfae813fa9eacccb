#include "core/statistics/definition/array_bounds.h"

#include "core/base/doublings.h"

namespace tallyfs::statistics {
namespace {

// Bounds beyond the first, which is range_min: as many as it takes to reach range_max.
UInt128 steps(const ArraySettings& settings, std::uint64_t distance) {
  if (distance == 0) return 0;
  switch (settings.scale) {
    case Scale::kLin:
      return UInt128{(distance - 1) / settings.base_interval} + 1;
    case Scale::kLog2:
      return UInt128{doublings(distance, settings.base_interval)} + 1;
  }
  return 0;
}

}  // namespace

ArrayBounds::ArrayBounds(const ArraySettings& settings, std::int64_t range_min,
                         std::int64_t range_max)
    : base_interval_(settings.base_interval),
      scale_(settings.scale),
      range_min_(range_min),
      size_(1 + steps(settings, static_cast<std::uint64_t>(range_max) -
                                    static_cast<std::uint64_t>(range_min))) {}

Int128 ArrayBounds::operator[](std::uint64_t i) const {
  if (i == 0) return range_min_;
  const Int128 base = base_interval_;
  switch (scale_) {
    case Scale::kLin:
      return range_min_ + base * static_cast<Int128>(i);
    case Scale::kLog2:
      // i - 1 <= 64: there are no more doublings than an X has bits.
      return range_min_ + (base << (i - 1));
  }
  return 0;
}

}  // namespace tallyfs::statistics
