// Longer than most: packing and unpacking of one format are side by side.
#include "tools/past/packed_column.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>

#include "tools/past/marks.h"

namespace tallyfs::past {
namespace {

constexpr std::uint64_t kPrecisionMax = 8;
// A precision stands in the lowest bits of its number.
constexpr std::uint64_t kPrecisions = 16;

// A row is large from so many counts a point on.
constexpr std::uint64_t kLarge = 64;
constexpr std::uint64_t kLargeRow = 0;
constexpr unsigned kClassMax = 128;

// Which of the parts for rows of each size: two an octave.
std::size_t half_octave(std::uint64_t size) {
  if (size < 4) return static_cast<std::size_t>(size);
  const auto width = static_cast<unsigned>(std::bit_width(size));
  return 2 * width - 2 + (size >> (width - 2) & 1);
}

Int128 less(Int128 a, Int128 b) {
  return static_cast<Int128>(static_cast<UInt128>(a) - static_cast<UInt128>(b));
}
Int128 plus(Int128 a, Int128 b) {
  return static_cast<Int128>(static_cast<UInt128>(a) + static_cast<UInt128>(b));
}
UInt128 zigzag(Int128 value) {
  return (static_cast<UInt128>(value) << 1) ^ static_cast<UInt128>(value >> 127);
}
Int128 unzigzag(UInt128 value) { return static_cast<Int128>((value >> 1) ^ (~(value & 1) + 1)); }
unsigned width_of(UInt128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high)
                                         : std::bit_width(static_cast<std::uint64_t>(value)));
}

// X in the middle of a bucket, on the line between the ends of its octave.
Int128 middle_of(std::int64_t key, unsigned precision) {
  constexpr std::int64_t kOctaves = 62;
  const std::int64_t index = key >> 2;
  if ((key & 3) == 3 || index < 0 || index >> precision >= kOctaves) return 0;
  const auto octave = static_cast<unsigned>(index >> precision);
  const std::int64_t part = index & ((std::int64_t{1} << precision) - 1);
  const Int128 middle =
      (Int128{1} << octave) + ((Int128{2 * part + 1} << octave) >> (precision + 1));
  return (key & 3) == 1 ? middle : -middle;
}

// Expects numbers as large as their mean so far.
class Mean {
 public:
  Int128 expected() const { return size_ == 0 ? 0 : static_cast<Int128>(sum_ / size_); }
  void add(std::uint64_t value) {
    sum_ += value;
    ++size_;
  }

 private:
  UInt128 sum_ = 0;
  unsigned size_ = 0;
};

// Expects totals in proportion to the weights of their points.
class Proportion {
 public:
  explicit Proportion(unsigned precision) : precision_(precision) {}

  Int128 expected(const Point& point) {
    weight_ = weight_of(point);
    if (weights_ == 0 || !is_small(weight_) || !is_small(weights_) || !is_small(total_)) return 0;
    return total_ * weight_ / weights_;
  }
  void add(Int128 total) {
    total_ = plus(total_, total);
    weights_ = plus(weights_, weight_);
  }

 private:
  // So that products have 127 bits.
  static bool is_small(Int128 value) {
    constexpr Int128 kMax = Int128{1} << 62;
    return value > -kMax && value < kMax;
  }
  Int128 weight_of(const Point& point) const {
    if (precision_ == 0) return static_cast<Int128>(point.samples);
    UInt128 sum = 0;
    for (const Cell& each : point.cells) {
      sum += static_cast<UInt128>(middle_of(each.key, precision_)) * each.count;
    }
    return static_cast<Int128>(sum);
  }

  const unsigned precision_;
  Int128 weight_ = 0;  // of the point at hand
  Int128 total_ = 0;
  Int128 weights_ = 0;
};

}  // namespace

void ColumnPacker::put_marks(const Point& point, std::uint64_t pieces) {
  std::string& marks = parts_[kMarks];
  const std::uint64_t has = marks_of(point, pieces);
  put_number(marks, has & ~std::uint64_t{kHasCells});
  if (has & kHasNumber) put_number(marks, point.number);
  if (has & kHasMin) put_signed(marks, *point.min);
  if (has & kHasMax) put_signed(marks, *point.max);
  if (has & kHasLeftOut) {
    put_number(marks, point.out_of_range);
    put_number(marks, point.missed);
  }
  if (has & kIsPartial) put_number(marks, point.known);
}

void ColumnPacker::put_sequence(const Values& differences) {
  if (differences.empty()) return;
  unsigned most = 0;
  for (const Int128 each : differences) most = std::max(most, width_of(zigzag(each)));
  put_number(parts_[kHeads], most);
  for (const Int128 each : differences) {
    const UInt128 value = zigzag(each);
    const unsigned width = width_of(value);
    if (most > 0) put_number(parts_[kClasses], most - width);
    if (width > 1) bits_.put(parts_[kBits], value, width - 1);
  }
}

// Packs the row of one key: the number of each point that has it, and its count.
void ColumnPacker::put_row(const std::vector<std::pair<std::size_t, std::uint64_t>>& row,
                           std::size_t points) {
  std::string& kinds = parts_[kKinds];
  if (row.size() * 2 < points) {
    put_number(kinds, row.size() * 2);
    const std::size_t size = half_octave(row.size());
    std::size_t next = 0;
    for (const auto& [at, count] : row) {
      put_number(parts_[kGaps + size], at - next);
      put_number(parts_[kSingles + size], count - 1);
      next = at + 1;
    }
    return;
  }
  std::vector<std::uint64_t> counts(points);
  UInt128 sum = 0;
  for (const auto& [at, count] : row) sum += counts[at] = count;
  if (sum >= kLarge * points) {
    put_number(kinds, kLargeRow);
    Mean mean;
    Values differences;
    for (const std::uint64_t each : counts) {
      differences.push_back(less(static_cast<Int128>(each), mean.expected()));
      mean.add(each);
    }
    return put_sequence(differences);
  }
  const std::size_t size = half_octave(static_cast<std::uint64_t>(sum));
  put_number(kinds, size * 2 + 1);
  for (const std::uint64_t each : counts) put_number(parts_[kCounts + size], each);
}

void ColumnPacker::put_rows(const std::vector<Point>& points) {
  std::map<std::int64_t, std::vector<std::pair<std::size_t, std::uint64_t>>> rows;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const Cell& each : points[i].cells) rows[each.key].emplace_back(i, each.count);
  }
  put_number(parts_[kHeads], rows.size());
  const std::int64_t* before = nullptr;
  for (const auto& [key, row] : rows) {
    if (before)
      put_number(parts_[kKeys], static_cast<UInt128>(Int128{key} - *before - 1));
    else
      put_signed(parts_[kKeys], key);
    before = &key;
    put_row(row, points.size());
  }
}

void ColumnPacker::put_numbers(const std::vector<Point>& points, unsigned precision) {
  Values samples;
  Values totals;
  Values lasts;
  Mean mean;
  Proportion proportion(precision);
  std::int64_t last = 0;
  for (const Point& each : points) {
    const std::uint64_t has = marks_of(each, each.known);
    if (has & kHasSamples) {
      samples.push_back(less(static_cast<Int128>(each.samples), mean.expected()));
      mean.add(each.samples);
    }
    if (has & kHasTotal) {
      totals.push_back(less(each.total, proportion.expected(each)));
      proportion.add(each.total);
    }
    if (has & kHasLast) lasts.push_back(Int128{*each.last} - std::exchange(last, *each.last));
  }
  for (const Values* each : {&samples, &totals, &lasts}) put_sequence(*each);
}

void ColumnPacker::pack(const Column& column, const Column* more, std::uint64_t pieces,
                        unsigned precision, const DerivedViews& views) {
  const Column none;
  if (!more) more = &none;
  put_number(heads(), column.known() | more->known());
  put_number(heads(), column.sampled() | more->sampled());
  put_number(heads(), precision + kPrecisions * views.size());
  for (const DerivedView& each : views) {
    put_signed(heads(), each.distance);
    put_number(heads(), each.points);
    put_number(heads(), each.precision + kPrecisions * static_cast<std::uint64_t>(each.how));
  }
  std::vector<Point> points;
  for (const Column* each : {&column, more}) {
    each->read(pieces, [&](unsigned, Point&& point) { points.push_back(std::move(point)); });
  }
  for (const Point& each : points) put_marks(each, pieces);
  put_rows(points);
  put_numbers(points, precision);
}

std::size_t ColumnPacker::bytes() const {
  std::size_t sum = 0;
  for (const std::string& each : parts_) sum += each.size();
  return sum;
}

Parts ColumnPacker::take() {
  bits_ = {};
  return std::exchange(parts_, {});
}

// A column of which the marks are read.
struct ColumnUnpacker::Marked {
  std::vector<std::uint64_t> has{};  // of each point with bytes
  std::vector<Point> points{};       // the same; none if the column is passed over
};

ColumnUnpacker::ColumnUnpacker(const Parts& parts) : bits_(parts[kBits]) {
  for (std::size_t i = 0; i < kParts; ++i) readers_[i] = NumberReader(parts[i]);
}

bool ColumnUnpacker::has_failed() const {
  return bits_.has_failed() || std::ranges::any_of(readers_, &NumberReader::has_failed);
}

bool ColumnUnpacker::read_marks(Marked& column, std::uint64_t pieces) {
  NumberReader& marks = readers_[kMarks];
  Point passed;
  for (std::size_t i = 0; i < column.has.size(); ++i) {
    Point& point = column.points.empty() ? passed : column.points[i];
    const std::uint64_t has = column.has[i] = marks.number();
    if (has & kHasNumber) point.number = marks.number();
    if (has & kHasMin) point.min = marks.signed_number();
    if (has & kHasMax) point.max = marks.signed_number();
    if (has & kHasLeftOut) {
      point.out_of_range = marks.number();
      point.missed = marks.number();
    }
    point.known = has & kIsPartial ? marks.number() : pieces;
    if (marks.has_failed() || point.known > pieces) return false;
  }
  return true;
}

// Calls use(number, difference).
template <typename Use>
bool ColumnUnpacker::read_sequence(std::size_t size, const Use& use, std::uint64_t class_min) {
  if (size == 0) return true;
  const std::uint64_t most = heads().number();
  if (most < class_min || most > kClassMax) return false;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t below = most > 0 ? readers_[kClasses].number() : 0;
    if (below > most) return false;
    const auto width = static_cast<unsigned>(most - below);
    UInt128 value = width;  // of 0 and 1 bit
    if (width > 1) value = bits_.take(width - 1) | UInt128{1} << (width - 1);
    if (!use(i, unzigzag(value))) return false;
  }
  return !bits_.has_failed() && !readers_[kClasses].has_failed();
}

// Most columns of a block are passed over: their numbers are not made.
bool ColumnUnpacker::skip_sequence(std::size_t size, std::uint64_t class_min) {
  if (size == 0) return true;
  const std::uint64_t most = heads().number();
  if (most < class_min || most > kClassMax) return false;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t below = most > 0 ? readers_[kClasses].number() : 0;
    if (below > most) return false;
    if (most - below > 1) bits += most - below - 1;
  }
  return bits_.skip(bits) && !readers_[kClasses].has_failed();
}

bool ColumnUnpacker::read_row(Marked& column, std::int64_t key, std::uint64_t kind) {
  const std::size_t points = column.has.size();
  const auto put = [&](std::size_t at, UInt128 count) {
    if (count > std::numeric_limits<std::uint64_t>::max()) return false;
    if (count > 0 && !column.points.empty()) {
      column.points[at].cells.push_back({key, static_cast<std::uint64_t>(count)});
    }
    return true;
  };
  if (kind == kLargeRow) {
    // A large row has a count above 0, so that each count has a byte of its own.
    if (column.points.empty()) return skip_sequence(points, 1);
    Mean mean;
    const auto use = [&](std::size_t at, Int128 difference) {
      const Int128 count = plus(mean.expected(), difference);
      mean.add(static_cast<std::uint64_t>(count));
      return put(at, static_cast<UInt128>(count));
    };
    return read_sequence(points, use, 1);
  }
  const auto size = static_cast<std::size_t>(kind / 2);
  if (kind % 2 == 1) {
    if (size >= kCountSizes) return false;
    NumberReader& counts = readers_[kCounts + size];
    if (column.points.empty()) {
      counts.skip_numbers(points);
    } else {
      for (std::size_t i = 0; i < points; ++i) put(i, counts.number());
    }
    return !counts.has_failed();
  }
  if (size * 2 >= points) return false;
  NumberReader& gaps = readers_[kGaps + half_octave(size)];
  NumberReader& singles = readers_[kSingles + half_octave(size)];
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < size; ++i, ++at) {
    const std::uint64_t gap = gaps.number();
    if (gap >= points || (at += gap) >= points) return false;
    if (!put(static_cast<std::size_t>(at), UInt128{singles.number()} + 1)) return false;
  }
  return !gaps.has_failed() && !singles.has_failed();
}

bool ColumnUnpacker::read_rows(Marked& column) {
  Int128 key = 0;
  const std::uint64_t rows = heads().number();
  for (std::uint64_t i = 0; i < rows; ++i) {
    NumberReader& keys = readers_[kKeys];
    key = i == 0 ? keys.signed_number() : key + 1 + keys.number();
    const std::uint64_t kind = readers_[kKinds].number();
    const bool is_key = key <= std::numeric_limits<std::int64_t>::max();
    if (!is_key || keys.has_failed() || readers_[kKinds].has_failed()) return false;
    if (!read_row(column, static_cast<std::int64_t>(key), kind)) return false;
  }
  return true;
}

bool ColumnUnpacker::read_numbers(Marked& column, unsigned precision) {
  constexpr std::array kIn = {kHasSamples, kHasTotal, kHasLast};
  if (column.points.empty()) {
    return std::ranges::all_of(kIn, [&](std::uint64_t in) {
      const auto is_in = [in](std::uint64_t has) { return (has & in) != 0; };
      return skip_sequence(static_cast<std::size_t>(std::ranges::count_if(column.has, is_in)));
    });
  }
  std::array<std::vector<std::size_t>, 3> having;
  for (std::size_t i = 0; i < column.has.size(); ++i) {
    for (std::size_t k = 0; k < kIn.size(); ++k) {
      if (column.has[i] & kIn[k]) having[k].push_back(i);
    }
  }
  Mean mean;
  const auto is_read = read_sequence(having[0].size(), [&](std::size_t i, Int128 difference) {
    const auto samples = static_cast<std::uint64_t>(plus(mean.expected(), difference));
    mean.add(samples);
    column.points[having[0][i]].samples = samples;
    return true;
  });
  if (!is_read) return false;
  for (std::size_t i = 0; i < column.points.size(); ++i) {
    Point& point = column.points[i];
    if (!(column.has[i] & kHasSamples)) point.samples = counted(point.cells);
    if (!(column.has[i] & kHasNumber)) point.number = point.samples;
    if (column.has[i] & kTotalIsSamples) point.total = static_cast<Int128>(point.samples);
  }
  Proportion proportion(precision);
  if (!read_sequence(having[1].size(), [&](std::size_t i, Int128 difference) {
        Point& point = column.points[having[1][i]];
        point.total = plus(proportion.expected(point), difference);
        proportion.add(point.total);
        return true;
      })) {
    return false;
  }
  std::int64_t last = 0;
  return read_sequence(having[2].size(), [&](std::size_t i, Int128 difference) {
    last = static_cast<std::int64_t>(plus(last, difference));
    column.points[having[2][i]].last = last;
    return true;
  });
}

std::optional<ColumnUnpacker::Head> ColumnUnpacker::read_head() {
  constexpr std::uint64_t kAll = (std::uint64_t{1} << kBlockPoints) - 1;
  Head made;
  made.known = heads().number();
  made.sampled = heads().number();
  const std::uint64_t precision = heads().number();
  made.precision = static_cast<unsigned>(precision % kPrecisions);
  const std::uint64_t views = precision / kPrecisions;
  if (made.known > kAll || (made.sampled & ~made.known) != 0) return std::nullopt;
  if (made.precision > kPrecisionMax || views > kDerivedViewsMax) return std::nullopt;
  for (std::uint64_t i = 0; i < views; ++i) {
    DerivedView each{.distance = heads().signed_number(), .points = heads().number()};
    const std::uint64_t how = heads().number();
    each.precision = static_cast<unsigned>(how % kPrecisions);
    if (each.distance == 0 || (each.points & ~made.known) != 0) return std::nullopt;
    if (how / kPrecisions == 0 || how / kPrecisions > kDerivationMax) return std::nullopt;
    if (each.precision > kPrecisionMax) return std::nullopt;
    each.how = static_cast<Derivation>(how / kPrecisions);
    made.views.push_back(each);
  }
  if (heads().has_failed()) return std::nullopt;
  return made;
}

bool ColumnUnpacker::unpack(const Head& head, std::uint64_t pieces, const TakePoint* take) {
  const auto size = static_cast<std::size_t>(std::popcount(head.sampled));
  Marked column{.has = std::vector<std::uint64_t>(size)};
  if (take) column.points.resize(size);
  if (!read_marks(column, pieces) || !read_rows(column) ||
      !read_numbers(column, head.precision) || has_failed()) {
    return false;
  }
  if (!take) return true;
  auto next = column.points.begin();
  for (unsigned i = 0; i < kBlockPoints; ++i) {
    if (!(head.known >> i & 1)) continue;
    const bool has_bytes = head.sampled >> i & 1;
    (*take)(i, has_bytes ? std::move(*next++) : Point{.known = pieces});
  }
  return true;
}

}  // namespace tallyfs::past
