#include "tools/past/column.h"

#include <limits>
#include <utility>

#include "tools/past/bytes.h"

namespace tallyfs::past {
namespace {

// A point is marked with what it has beyond the usual: samples as many as its cells count, and a
// number as large.
enum Mark : std::uint64_t {
  kHasCells = 1,
  kHasSamples = 2,
  kHasNumber = 4,
  kHasTotal = 8,
  kTotalIsSamples = 16,
  kHasLast = 32,
  kHasMin = 64,
  kHasMax = 128,
  kHasLeftOut = 256,
  kIsPartial = 512,
};

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

bool read_cells(NumberReader& keys, NumberReader& counts, Point& point) {
  const std::uint64_t size = keys.number();
  // Each has a byte at least: what is promised beyond that is not reserved.
  if (size > keys.left() || size > counts.left()) return false;
  point.cells.reserve(static_cast<std::size_t>(size));
  Int128 key = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    key = i == 0 ? keys.signed_number() : key + 1 + keys.number();
    const std::uint64_t count = counts.number() + 1;
    if (key > std::numeric_limits<std::int64_t>::max() || count == 0) return false;
    point.cells.push_back({static_cast<std::int64_t>(key), count});
  }
  return !keys.has_failed() && !counts.has_failed();
}

bool read_point(std::array<NumberReader, kStreams>& readers, std::uint64_t pieces, Point& point) {
  auto& [marks, keys, counts] = readers;
  const std::uint64_t has = marks.number();
  if (has & kHasCells && !read_cells(keys, counts, point)) return false;
  point.samples = has & kHasSamples ? marks.number() : counted(point.cells);
  point.number = has & kHasNumber ? marks.number() : point.samples;
  point.total = has & kTotalIsSamples ? static_cast<Int128>(point.samples) : 0;
  if (has & kHasTotal) point.total = marks.wide_signed();
  if (has & kHasLast) point.last = marks.signed_number();
  if (has & kHasMin) point.min = marks.signed_number();
  if (has & kHasMax) point.max = marks.signed_number();
  if (has & kHasLeftOut) {
    point.out_of_range = marks.number();
    point.missed = marks.number();
  }
  point.known = has & kIsPartial ? marks.number() : pieces;
  return !marks.has_failed() && point.known <= pieces;
}

}  // namespace

void Column::put_cells(const Point& point) {
  put_number(at(Stream::kKeys), point.cells.size());
  const Cell* before = nullptr;
  for (const Cell& each : point.cells) {
    if (before)
      put_number(at(Stream::kKeys), static_cast<UInt128>(Int128{each.key} - before->key - 1));
    else
      put_signed(at(Stream::kKeys), each.key);
    put_number(at(Stream::kCounts), each.count - 1);
    before = &each;
  }
}

void Column::add(unsigned number, const Point& point, std::uint64_t pieces) {
  const std::uint64_t bit = std::uint64_t{1} << number;
  known_ |= bit;
  if (!point.has_samples() && point.known == pieces) return;
  sampled_ |= bit;
  const std::uint64_t has = marks_of(point, pieces);
  std::string& marks = at(Stream::kMarks);
  put_number(marks, has);
  if (has & kHasCells) put_cells(point);
  if (has & kHasSamples) put_number(marks, point.samples);
  if (has & kHasNumber) put_number(marks, point.number);
  if (has & kHasTotal) put_signed(marks, point.total);
  if (has & kHasLast) put_signed(marks, *point.last);
  if (has & kHasMin) put_signed(marks, *point.min);
  if (has & kHasMax) put_signed(marks, *point.max);
  if (has & kHasLeftOut) {
    put_number(marks, point.out_of_range);
    put_number(marks, point.missed);
  }
  if (has & kIsPartial) put_number(marks, point.known);
}

std::size_t Column::bytes() const {
  std::size_t sum = 0;
  for (const std::string& each : streams_) sum += each.size();
  return sum;
}

bool read_column(const ColumnBytes& column, std::uint64_t pieces, const TakePoint& take) {
  std::array<NumberReader, kStreams> readers;
  for (std::size_t i = 0; i < kStreams; ++i) readers[i] = NumberReader(column.streams[i]);
  for (unsigned i = 0; i < kBlockPoints; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (!(column.known & bit)) continue;
    Point point{.known = pieces};
    if (column.sampled & bit && !read_point(readers, pieces, point)) return false;
    take(i, std::move(point));
  }
  return true;
}

}  // namespace tallyfs::past
