#include "tools/past/column.h"

#include <utility>

#include "tools/past/bytes.h"
#include "tools/past/marks.h"

namespace tallyfs::past {
namespace {

Point read_point(NumberReader& bytes, std::uint64_t pieces) {
  Point point;
  const std::uint64_t has = bytes.number();
  if (has & kHasCells) point.cells.resize(static_cast<std::size_t>(bytes.number()));
  Int128 key = 0;
  for (Cell& each : point.cells) {
    key += bytes.wide_signed();
    each = {static_cast<std::int64_t>(key), bytes.number()};
  }
  point.samples = has & kHasSamples ? bytes.number() : counted(point.cells);
  point.number = has & kHasNumber ? bytes.number() : point.samples;
  point.total = has & kTotalIsSamples ? static_cast<Int128>(point.samples) : 0;
  if (has & kHasTotal) point.total = bytes.wide_signed();
  if (has & kHasLast) point.last = bytes.signed_number();
  if (has & kHasMin) point.min = bytes.signed_number();
  if (has & kHasMax) point.max = bytes.signed_number();
  if (has & kHasLeftOut) {
    point.out_of_range = bytes.number();
    point.missed = bytes.number();
  }
  point.known = has & kIsPartial ? bytes.number() : pieces;
  return point;
}

}  // namespace

void Column::add(unsigned number, const Point& point, std::uint64_t pieces) {
  const std::uint64_t bit = std::uint64_t{1} << number;
  known_ |= bit;
  if (!point.has_samples() && point.known == pieces) return;
  sampled_ |= bit;
  const std::uint64_t has = marks_of(point, pieces);
  put_number(bytes_, has);
  if (has & kHasCells) put_number(bytes_, point.cells.size());
  Int128 key = 0;
  for (const Cell& each : point.cells) {
    put_signed(bytes_, each.key - std::exchange(key, each.key));
    put_number(bytes_, each.count);
  }
  if (has & kHasSamples) put_number(bytes_, point.samples);
  if (has & kHasNumber) put_number(bytes_, point.number);
  if (has & kHasTotal) put_signed(bytes_, point.total);
  if (has & kHasLast) put_signed(bytes_, *point.last);
  if (has & kHasMin) put_signed(bytes_, *point.min);
  if (has & kHasMax) put_signed(bytes_, *point.max);
  if (has & kHasLeftOut) {
    put_number(bytes_, point.out_of_range);
    put_number(bytes_, point.missed);
  }
  if (has & kIsPartial) put_number(bytes_, point.known);
}

void Column::read(std::uint64_t pieces, const TakePoint& take) const {
  NumberReader bytes(bytes_);
  for (unsigned i = 0; i < kBlockPoints; ++i) {
    if (sampled_ >> i & 1) take(i, read_point(bytes, pieces));
  }
}

}  // namespace tallyfs::past
