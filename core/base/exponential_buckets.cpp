#include "core/base/exponential_buckets.h"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/base/made_once.h"

namespace tallyfs {
namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    1024, 1024, boost::multiprecision::unsigned_magnitude, boost::multiprecision::unchecked, void>>;

// Bits behind the point of a root of two, and those that its multiple has in addition.
constexpr unsigned kRootBits = 224;
constexpr unsigned kMoreBits = 160;
// A root is a product of at most 8 numbers, each cut off behind kRootBits.
constexpr unsigned kRootError = 64;

// The integer root. boost's own starts from a long double's, for which each program that links
// libtally statically would need libm.
Wide root_of(const Wide& square) {
  Wide root = 0;
  for (std::size_t bit = boost::multiprecision::msb(square) / 2 + 1; bit-- > 0;) {
    const Wide longer = root | (Wide(1) << bit);
    if (longer * longer <= square) root = longer;
  }
  return root;
}

// 2^(j / 2^precision) for each j of an octave, cut off behind kRootBits.
std::vector<Wide> make_roots(unsigned precision) {
  std::vector<Wide> halves;  // 2^(1/2), 2^(1/4), ...
  Wide root = Wide(2) << kRootBits;
  for (unsigned i = 0; i < precision; ++i) {
    root = root_of(root << kRootBits);
    halves.push_back(root);
  }
  std::vector<Wide> roots(std::size_t{1} << precision, Wide(1) << kRootBits);
  for (std::size_t j = 0; j < roots.size(); ++j) {
    for (unsigned i = 0; i < precision; ++i) {
      if ((j >> (precision - 1 - i) & 1) != 0) roots[j] = (roots[j] * halves[i]) >> kRootBits;
    }
  }
  return roots;
}

// An edge within one octave, divided by the factor, as a number with kRootBits + kMoreBits behind
// the point: not above the true one, and not below it.
struct Bounds {
  Wide low;
  Wide high;
};

std::vector<Bounds> make_bounds(unsigned precision, const UnitFactor& factor) {
  std::vector<Bounds> bounds;
  for (const Wide& root : make_roots(precision)) {
    const auto divided = [&](const Wide& number) -> Wide {
      return ((number * factor.denominator) << kMoreBits) / factor.numerator;
    };
    // A power of two is exact, and so is its integer part after the division.
    const bool is_exact = bounds.empty();
    bounds.push_back({divided(root), is_exact ? divided(root) : divided(root + kRootError) + 1});
  }
  return bounds;
}

// The integer part of a bound times 2^octave, as far as it matters.
std::uint64_t scaled(const Wide& bound, int octave) {
  const Wide whole =
      bound >> static_cast<unsigned>(static_cast<int>(kRootBits + kMoreBits) - octave);
  constexpr auto kEnd = ~std::uint64_t{0};
  return whole > kEnd ? kEnd : static_cast<std::uint64_t>(whole);
}

}  // namespace

const ExponentialBuckets& ExponentialBuckets::get(unsigned precision, const UnitFactor& factor) {
  using Slot = MadeOnce<const ExponentialBuckets>;
  static constinit std::array<std::array<Slot, kUnitFactors>, kPrecisionMax + 1> slots;
  return slots[precision][number_of(factor)].get_or([&] {
    return std::unique_ptr<const ExponentialBuckets>(new ExponentialBuckets(precision, factor));
  });
}

ExponentialBuckets::ExponentialBuckets(unsigned precision, const UnitFactor& factor)
    : precision_(precision) {
  make_edges(factor);
  make_cells();
}

void ExponentialBuckets::make_edges(const UnitFactor& factor) {
  const std::vector<Bounds> bounds = make_bounds(precision_, factor);
  const auto per_octave = static_cast<int>(bounds.size());
  // Below the octave of X = 1.
  int octave = static_cast<int>(std::bit_width(factor.numerator)) -
               static_cast<int>(std::bit_width(factor.denominator)) - 1;
  for (;; ++octave) {
    for (int j = 0; j < per_octave; ++j) {
      const std::uint64_t edge = scaled(bounds[static_cast<std::size_t>(j)].low, octave);
      if (edge != scaled(bounds[static_cast<std::size_t>(j)].high, octave)) {
        std::fprintf(stderr, "tallyfs: an edge of a bucket is not certain\n");
        std::abort();
      }
      if (edge == 0) continue;
      if (edges_.empty()) first_index_ = octave * per_octave + j;
      edges_.push_back(edge);
      if (edge >= kXMax) return;
    }
  }
}

void ExponentialBuckets::make_cells() {
  for (std::uint64_t cell = 0; cell < std::uint64_t{2} << precision_; ++cell) {
    const std::uint64_t x = (std::uint64_t{1} << 62) + (cell << (61 - precision_));
    const auto found = std::lower_bound(edges_.begin(), edges_.end(), x);
    const auto place = static_cast<std::uint32_t>(found - edges_.begin());
    cells_.push_back(place -
                     static_cast<std::uint32_t>(PlaceFinder::octave_and_cell(x, precision_) >> 1));
  }
}

}  // namespace tallyfs
