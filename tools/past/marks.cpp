#include "tools/past/marks.h"

namespace tallyfs::past {

std::uint64_t counted(const std::vector<Cell>& cells) {
  std::uint64_t sum = 0;
  for (const Cell& each : cells) {
    if (__builtin_add_overflow(sum, each.count, &sum)) return 0;
  }
  return sum;
}

std::uint64_t marks_of(const Point& point, std::uint64_t pieces) {
  std::uint64_t marks = 0;
  const auto mark = [&](bool is_so, Mark which) {
    if (is_so) marks |= which;
  };
  mark(!point.cells.empty(), kHasCells);
  mark(point.samples != counted(point.cells), kHasSamples);
  mark(point.number != point.samples, kHasNumber);
  const bool is_total_samples = point.total == static_cast<Int128>(point.samples);
  mark(is_total_samples, kTotalIsSamples);
  mark(!is_total_samples && point.total != 0, kHasTotal);
  mark(point.last.has_value(), kHasLast);
  mark(point.min.has_value(), kHasMin);
  mark(point.max.has_value(), kHasMax);
  mark(point.out_of_range != 0 || point.missed != 0, kHasLeftOut);
  mark(point.known != pieces, kIsPartial);
  return marks;
}

}  // namespace tallyfs::past
