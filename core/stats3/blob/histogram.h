// Histograms: the buckets that a specification asks for, and the bucket of a sample. Layouts are
// those of tally/stats.h (voistatdata_crhist32 and so on).
//
// Pure functions: any thread. Errors are errno values, as they leave the C calls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/stats3/blob/layout.h"
#include "core/stats3/blob/number.h"

namespace tallyfs::stats3::blob {

// The initial data of a histogram of a VOI of `voi_dtype`. 0; EINVAL, EFBIG: see
// vss_hist_hlpr_info.
int build_histogram(unsigned voi_dtype, const vss_hist_hlpr_info& info,
                    std::vector<std::uint8_t>& data);

// How many buckets `bytes` of such a histogram are; 0 if it cannot have that size.
inline std::size_t bucket_count(unsigned dtype, std::size_t bytes) {
  if (bytes <= kHistHeadBytes || (bytes - kHistHeadBytes) % bucket_bytes(dtype) != 0) return 0;
  return (bytes - kHistHeadBytes) / bucket_bytes(dtype);
}

// The lower bounds of a CRHIST, as they stand there.
template <typename T>
class Bounds {
 public:
  using Number = T;
  Bounds(const std::uint8_t* first_bucket, std::size_t count) : at_(first_bucket), count_(count) {}

  T operator[](std::size_t i) const { return load<T>(at_ + 16 * i); }
  std::size_t size() const { return count_; }

 private:
  const std::uint8_t* at_;
  std::size_t count_;
};

// Bounds that are Q numbers, as the integers that they are times 2^fraction bits; as long as those
// that were looked at have the last one's fraction, they compare as the numbers do.
template <typename Q>
class ScaledBounds {
 public:
  using Number = decltype(Q::raw);
  ScaledBounds(const std::uint8_t* first_bucket, std::size_t count)
      : bounds_(first_bucket, count), control_(bounds_[count - 1].raw & 7) {}

  Number operator[](std::size_t i) const {
    const Number raw = bounds_[i].raw;
    others_ = static_cast<Number>(others_ | ((raw & 7) ^ control_));
    return integer_of(raw);
  }
  std::size_t size() const { return bounds_.size(); }
  bool have_one_fraction() const { return others_ == 0; }

  // The greatest such integer that is not above x.
  Number at_or_below(Q x) const {
    if ((x.raw & 7) == control_) return integer_of(x.raw);
    const unsigned has = x.fraction_bits(), wanted = Q{control_}.fraction_bits();
    const Int128 scaled =
        has > wanted ? x.scaled() >> (has - wanted) : x.scaled() * (Int128{1} << (wanted - has));
    constexpr Int128 kLeast = std::numeric_limits<Number>::lowest(),
                     kMost = std::numeric_limits<Number>::max();
    return static_cast<Number>(std::clamp(scaled, kLeast, kMost));
  }

 private:
  static Number integer_of(Number raw) {
    if constexpr (std::is_unsigned_v<Number>) {
      return raw >> 3;
    } else {
      using U = std::make_unsigned_t<Number>;
      const U negative = static_cast<U>(raw < 0 ? ~U{0} : U{0});
      const U magnitude = static_cast<U>(static_cast<U>(raw) << 1) >> 4;
      return static_cast<Number>((magnitude ^ negative) - negative);
    }
  }

  const Bounds<Q> bounds_;
  const Number control_;
  mutable Number others_ = 0;
};

// Looks for numbers among Bounds or ScaledBounds, which ascend.
template <typename Numbers>
class Search {
 public:
  using T = typename Numbers::Number;
  explicit Search(const Numbers& numbers) : numbers_(numbers), count_(numbers.size()) {}

  // The last bucket whose bound is <= x, or size() if x lies below all.
  //
  // The blob does not say how its bounds came about. Bounds that are equally far apart are known by
  // their first step and their last bound; the bucket is computed then, and checked. Others are
  // searched in eighths, whose comparisons the processor makes side by side: a binary search waits
  // for each of its loads.
  std::size_t find(T x) const {
    if constexpr (!kIsQ<T>) {
      if (count_ >= kStepsMin) {
        const std::size_t computed = compute(x);
        if (computed != count_) return computed;
      }
    }
    return search(x);
  }

 private:
  static constexpr std::size_t kStepsMin = 4;

  // Computes the bucket of x from the first step after the second bound (the first bound may be the
  // type's end). Returns size() if the bounds are neither linear nor powers of two.
  std::size_t compute(T x) const {
    using U = std::make_unsigned_t<T>;
    const T from = numbers_[1], last = numbers_[count_ - 1];
    const auto offset = [from](T to) {
      return static_cast<U>(static_cast<U>(to) - static_cast<U>(from));
    };
    const U step = offset(numbers_[2]);
    U steps = 0;
    if (step == 0) return count_;
    if (offset(last) == step * static_cast<U>(count_ - 2)) {
      steps = static_cast<U>(offset(x) / step + 1);
    } else if (static_cast<U>(offset(numbers_[3]) - step) == static_cast<U>(step * 2) &&
               std::has_single_bit(step)) {
      steps =
          static_cast<U>(std::bit_width(static_cast<U>((offset(x) >> std::countr_zero(step)) + 1)));
    } else {
      return count_;
    }
    // Without branches: where x lies is not to be guessed.
    std::size_t i = std::min<std::size_t>(steps, count_ - 1);
    i = x < from ? 0 : i;
    const std::size_t next = std::min(i + 1, count_ - 1);
    const int right = int{numbers_[i] <= x} & (int{x < numbers_[next]} | int{i == next});
    return right != 0 ? i : count_;
  }

  // The search keeps a window that begins at a bound <= x. Its size at each step depends on the
  // number of bounds only, so that nothing depends on x that the processor would have to guess.
  [[gnu::noinline]] std::size_t search(T x) const {
    if (x < numbers_[0]) return count_;
    if (count_ < 8) {
      std::size_t below = 0;
      for (std::size_t i = 1; i < count_; ++i) below += numbers_[i] <= x;
      return below;
    }
    std::size_t low = 0, left = count_;
    for (; left > 64; left -= 7 * (left / 8)) low += count_below(low, left / 8, x) * (left / 8);
    std::size_t eights = 0;
    for (std::size_t i = low + 8; i < low + left; i += 8) eights += numbers_[i] <= x;
    low = std::min(low + 8 * eights, count_ - 8);
    return low + count_below(low, 1, x);
  }

  // How many of the bounds that stand 1 to 7 steps behind `low` are <= x.
  [[gnu::always_inline]] std::size_t count_below(std::size_t low, std::size_t step, T x) const {
    const auto below = [&](std::size_t i) {
      return static_cast<std::size_t>(numbers_[low + step * i] <= x);
    };
    return ((below(1) + below(2)) + (below(3) + below(4))) + ((below(5) + below(6)) + below(7));
  }

  const Numbers& numbers_;
  const std::size_t count_;
};

template <typename T>
std::size_t find_bucket(const std::uint8_t* first_bucket, std::size_t count, T x) {
  const Bounds<T> bounds(first_bucket, count);
  if constexpr (kIsQ<T>) {
    // Not those that a program has given with different fractions.
    const ScaledBounds<T> scaled(first_bucket, count);
    const std::size_t found = Search(scaled).find(scaled.at_or_below(x));
    if (scaled.have_one_fraction()) return found;
  }
  return Search(bounds).find(x);
}

template <typename Count>
void count_one(std::uint8_t* counter) {
  const auto count = load<Count>(counter);
  store(counter, static_cast<Count>(count + (count != std::numeric_limits<Count>::max())));
}

// The counter of x in a DRHIST or DVHIST. Their buckets may overlap; the highest index wins.
template <std::size_t kBucket, typename T>
std::uint8_t* counter_of(std::uint8_t* data, std::size_t bytes, T x) {
  for (std::size_t at = bytes - kBucket; at >= kHistHeadBytes; at -= kBucket) {
    const T bound = load<T>(data + at);
    const bool in = kBucket == 24 ? bound <= x && x < load<T>(data + at + 8) : bound == x;
    if (in) return data + at + kBucket - 8;
    if (at < kHistHeadBytes + kBucket) break;
  }
  return data;
}

// Counts x in a histogram of `dtype` with `bytes` bytes.
template <typename T>
void count_in_histogram(std::uint8_t* data, unsigned dtype, std::size_t bytes, T x) {
  switch (dtype) {
    case VSD_DTYPE_CRHIST32:
    case VSD_DTYPE_CRHIST64: {
      const std::size_t count = (bytes - kHistHeadBytes) / 16;
      const std::size_t bucket = find_bucket(data + kHistHeadBytes, count, x);
      std::uint8_t* const counter = bucket == count ? data : data + 16 * (bucket + 1);
      dtype == VSD_DTYPE_CRHIST32 ? count_one<std::uint32_t>(counter)
                                  : count_one<std::uint64_t>(counter);
      return;
    }
    case VSD_DTYPE_DRHIST32:
      return count_one<std::uint32_t>(counter_of<24>(data, bytes, x));
    case VSD_DTYPE_DRHIST64:
      return count_one<std::uint64_t>(counter_of<24>(data, bytes, x));
    case VSD_DTYPE_DVHIST32:
      return count_one<std::uint32_t>(counter_of<16>(data, bytes, x));
    case VSD_DTYPE_DVHIST64:
      return count_one<std::uint64_t>(counter_of<16>(data, bytes, x));
  }
}

}  // namespace tallyfs::stats3::blob
