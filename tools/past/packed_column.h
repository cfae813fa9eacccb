// The points of one statistic as the parts of a block have them (FORMAT.md): bytes of one kind lie
// together, and numbers are differences from what those before them let expect. Confined to one
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/past/bits.h"
#include "tools/past/bytes.h"
#include "tools/past/column.h"
#include "tools/past/derived_point.h"

namespace tallyfs::past {

// The first of each kind of parts. Those with several have one for each size of a row.
inline constexpr std::size_t kHeads = 0;
inline constexpr std::size_t kMarks = 1;
inline constexpr std::size_t kKeys = 2;
inline constexpr std::size_t kKinds = 3;
inline constexpr std::size_t kClasses = 4;
inline constexpr std::size_t kBits = 5;
inline constexpr std::size_t kGaps = 6;
inline constexpr std::size_t kGapSizes = 10;
inline constexpr std::size_t kSingles = kGaps + kGapSizes;
inline constexpr std::size_t kCounts = kSingles + kGapSizes;
inline constexpr std::size_t kCountSizes = 24;
inline constexpr std::size_t kParts = kCounts + kCountSizes;
using Parts = std::array<std::string, kParts>;

// A view of the statistic: those of its points that the statistic's own points say.
struct DerivedView {
  std::int64_t distance = 0;  // from the statistic's id to the view's
  std::uint64_t points = 0;   // bit i: point i
  Derivation how = Derivation::kNone;
  unsigned precision = 0;

  bool operator==(const DerivedView&) const = default;
};
using DerivedViews = std::vector<DerivedView>;
// A statistic has no more views at a time. Further ones have columns of their own.
inline constexpr std::size_t kDerivedViewsMax = 16;

class ColumnPacker {
 public:
  // `more` follows `column`, or is nullptr. precision: of quantiles; else 0.
  void pack(const Column& column, const Column* more, std::uint64_t pieces, unsigned precision,
            const DerivedViews& views = {});

  std::size_t bytes() const;
  // The packer is empty then.
  Parts take();
  std::string& heads() { return parts_[kHeads]; }

 private:
  using Values = std::vector<Int128>;

  void put_marks(const Point& point, std::uint64_t pieces);
  void put_rows(const std::vector<Point>& points);
  void put_row(const std::vector<std::pair<std::size_t, std::uint64_t>>& row, std::size_t points);
  void put_sequence(const Values& differences);
  void put_numbers(const std::vector<Point>& points, unsigned precision);

  Parts parts_;
  BitWriter bits_;
};

class ColumnUnpacker {
 public:
  // The parts live as long as this. They may have any bytes.
  explicit ColumnUnpacker(const Parts& parts);

  NumberReader& heads() { return readers_[kHeads]; }
  struct Head {
    std::uint64_t known = 0;
    std::uint64_t sampled = 0;
    unsigned precision = 0;
    DerivedViews views{};
  };
  // Reads the head of the next column. Nothing: the bytes are no column.
  std::optional<Head> read_head();
  // Reads the rest of that column, and calls take() for each point that was observed, in order;
  // without take() it passes over the column. False: the bytes are no column.
  bool unpack(const Head& head, std::uint64_t pieces, const TakePoint* take);

 private:
  struct Marked;
  bool read_marks(Marked& column, std::uint64_t pieces);
  bool read_rows(Marked& column);
  bool read_row(Marked& column, std::int64_t key, std::uint64_t kind);
  bool read_numbers(Marked& column, unsigned precision);
  bool skip_sequence(std::size_t size, std::uint64_t class_min = 0);
  template <typename Use>
  bool read_sequence(std::size_t size, const Use& use, std::uint64_t class_min = 0);
  bool has_failed() const;

  std::array<NumberReader, kParts> readers_;
  BitReader bits_;
};

}  // namespace tallyfs::past
