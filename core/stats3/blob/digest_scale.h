// How much a centroid of a t-digest may count, by the rank of its middle. The share of all samples
// is bounded by
//     0.4 q                    from below: q is the share of samples below,
//     0.15 u (u / 10^-4)^1/8   from above: u is the share of samples above; 0.15 u below 10^-4,
//     0.04                     in the middle,
// times a level, which makes as many centroids as there is room for. Fewer than 40 are not enough
// for that, since the ends alone need more; of them one may count pi / centroids * sqrt(q u).
//
// At both ends this goes with log(q / (1 - q)), as k2 of the paper ("Computing extremely accurate
// quantiles using t-digests"), so that an error is small beside q and u, at whatever q. The upper
// end is finer, since that is where latencies are asked for. Where an end has m samples, those of a
// centroid of w are known but for their order, by which a rank in it is uncertain by some 0.25
// sqrt(w): with m = 100 (p99.99 of a million), 3 % of m is 3 samples, and w has to be 15.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

namespace tallyfs::stats3::blob {

template <typename Count>
Count saturating_add(Count a, Count b) {
  return a > std::numeric_limits<Count>::max() - b ? std::numeric_limits<Count>::max()
                                                   : static_cast<Count>(a + b);
}

// Two numbers that are computed with at once; elements of a vector of the processor.
using TwoNumbers [[gnu::vector_size(16)]] = double;

using TwoWords [[gnu::vector_size(16)]] = std::uint64_t;
template <typename Number>
using BitsOf = std::conditional_t<std::is_same_v<Number, double>, std::uint64_t, TwoWords>;

// Immutable.
class DigestScale {
 public:
  // For `samples`, in about `centroids`.
  DigestScale(double samples, int centroids)
      : samples_(samples),
        is_coarse_(centroids < kFew),
        finest_(kFinest * samples),
        per_finest_(1 / finest_) {
    if (is_coarse_) {
      level_ = std::numbers::pi / centroids;
      return;
    }
    // The integral of 1/w over all ranks, at level 1; from 64 samples on.
    constexpr double kAtOne = -22.1, kPerOctave = 6.36;
    const int octaves = std::max(6, octave_of(samples));
    level_ = (kAtOne + kPerOctave * (octaves + 0.5)) / centroids;
  }

  // How many samples a centroid may count of whose samples the middle one has this rank. Number:
  // double or TwoNumbers.
  template <typename Number>
  Number most(Number rank) const {
    if (is_coarse_) return level_ * root(rank * (samples_ - rank));
    constexpr double kLow = 0.4, kMiddle = 0.04, kHigh = 0.15;
    const Number above = samples_ - rank;
    const Number high = kHigh * above, finer = high * eighth_root(above * per_finest_);
    return level_ * lesser(lesser(kLow * rank, above > finest_ ? finer : high),
                           Number{} + kMiddle * samples_);
  }

 private:
  // The exponent of a normal number. std::ilogb() would need libm where libtally is linked
  // statically.
  static int octave_of(double x) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1023;
  }

  template <typename Number>
  static Number lesser(Number a, Number b) {
    return b < a ? b : a;
  }
  static double root(double x) { return std::sqrt(x); }
  static TwoNumbers root(TwoNumbers x) { return TwoNumbers{std::sqrt(x[0]), std::sqrt(x[1])}; }

  // To 1 %, in a tenth of the time of three sqrt(): the bits of a number are its logarithm, with a
  // straight line between the powers of two. x >= 1; of others it is any number.
  template <typename Number>
  static Number eighth_root(Number x) {
    constexpr std::uint64_t kOfOne = std::bit_cast<std::uint64_t>(1.0);
    return std::bit_cast<Number>(kOfOne + (std::bit_cast<BitsOf<Number>>(x) - kOfOne) / 8);
  }

  static constexpr int kFew = 40;
  static constexpr double kFinest = 1e-4;
  double samples_;
  bool is_coarse_;
  double finest_, per_finest_;
  double level_ = 0;
};

}  // namespace tallyfs::stats3::blob
