// The buckets of exponential histograms (OpenTelemetry's term; native histograms of Prometheus):
// bucket i holds base^(i-1) < X * f <= base^i with base = 2^(2^-precision), where f is the factor
// that takes X to its base unit. Schema and indices are those of Prometheus, precision is its
// schema.
//
// The edge of a bucket is the largest integer X in it or below it, so that only integers are
// compared. Edges are exact: powers of two by integers, the others, which are irrational, by enough
// digits that no rounding is in doubt, which is checked.
//
// A place is the index of a bucket, counted from the bucket of X = 1. Immutable; made at the first
// use, which takes a millisecond, and kept until the process ends: at most 130 KiB each, 30 MiB
// all.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/unit_factor.h"

namespace tallyfs {

// Finds the place of an X. An octave has cells twice as many as buckets, of equal width, so that at
// most one edge lies in a cell: the bucket of its lower end is right, or the next is.
class PlaceFinder {
 public:
  // X below this are found fastest.
  static constexpr std::uint64_t kExactEnd = std::uint64_t{1} << 53;

  PlaceFinder(const std::uint64_t* edges, const std::uint32_t* cells, unsigned precision)
      : edges_(edges), cells_(cells), mask_((2u << precision) - 1), shift_(51 - precision) {}

  // The octave and the cell within it, side by side, as a double's bits begin with them. X that a
  // double cannot hold is cut off: rounded up it might be in the next cell.
  static std::uint64_t octave_and_cell(std::uint64_t x, unsigned precision) {
    return bits_of_double(x) >> (51 - precision);
  }
  std::uint32_t place(std::uint64_t x) const {
    const std::uint64_t cell = bits_of_double(x) >> shift_;
    const std::uint32_t place =
        static_cast<std::uint32_t>(cell >> 1) + cells_[static_cast<std::uint32_t>(cell) & mask_];
    return place + (edges_[place] < x ? 1 : 0);
  }

 private:
  static std::uint64_t bits_of_double(std::uint64_t x) {
    constexpr unsigned kCut = 11;
    const bool is_exact = x < kExactEnd;
    const auto bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(static_cast<std::int64_t>(is_exact ? x : x >> kCut)));
    return is_exact ? bits : bits + (std::uint64_t{kCut} << 52);
  }

  const std::uint64_t* edges_;
  const std::uint32_t* cells_;
  std::uint32_t mask_;
  unsigned shift_;
};

class ExponentialBuckets {
 public:
  static constexpr unsigned kPrecisionMax = 8;
  static constexpr std::uint64_t kXMax = std::uint64_t{1} << 63;

  // The one instance for a precision, at most kPrecisionMax, and a factor of unit_of_x(), perhaps
  // with_decimals().
  static const ExponentialBuckets& get(unsigned precision, const UnitFactor& factor);

  unsigned precision() const { return precision_; }
  // Places are below this.
  std::uint32_t places() const { return static_cast<std::uint32_t>(edges_.size()); }
  // The index of place 0.
  std::int32_t first_index() const { return first_index_; }

  // Requires 1 <= x <= kXMax.
  std::uint32_t place(std::uint64_t x) const { return finder().place(x); }
  // For loops: it has all that a look-up reads. Good as long as this.
  PlaceFinder finder() const { return {edges_.data(), cells_.data(), precision_}; }
  // The greatest X of a place, and the least. The places around small X may hold no integer.
  std::uint64_t upper(std::uint32_t place) const { return edges_[place]; }
  std::uint64_t lower(std::uint32_t place) const { return place == 0 ? 1 : edges_[place - 1] + 1; }

 private:
  ExponentialBuckets(unsigned precision, const UnitFactor& factor);
  void make_edges(const UnitFactor& factor);
  void make_cells();
  unsigned precision_;
  std::int32_t first_index_ = 0;
  std::vector<std::uint64_t> edges_;  // by place; the last is kXMax or more
  // For each cell of an octave: the place of its lower end, less half of octave_and_cell().
  std::vector<std::uint32_t> cells_;
};

}  // namespace tallyfs
