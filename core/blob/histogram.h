// Histograms: the buckets that a specification asks for, and the bucket of a sample. Layouts are
// those of tally/stats.h (voistatdata_crhist32 and so on).
//
// Pure functions: any thread. Errors are errno values, as they leave the C calls.
#pragma once

#include <cstdint>
#include <vector>

#include "core/blob/layout.h"
#include "core/blob/number.h"

namespace tally::blob {

// The initial data of a histogram of a VOI of `voi_dtype`. 0; EINVAL, EFBIG: see
// vss_hist_hlpr_info.
int build_histogram(unsigned voi_dtype, const vss_hist_hlpr_info& info,
                    std::vector<std::uint8_t>& data);

// How many buckets `bytes` of such a histogram are; 0 if it cannot have that size.
inline std::size_t bucket_count(unsigned dtype, std::size_t bytes) {
  if (bytes <= kHistHeadBytes || (bytes - kHistHeadBytes) % bucket_bytes(dtype) != 0) return 0;
  return (bytes - kHistHeadBytes) / bucket_bytes(dtype);
}

// The lower bounds of a CRHIST, which ascend.
template <typename T>
class Bounds {
 public:
  Bounds(const std::uint8_t* first_bucket, std::size_t count) : at_(first_bucket), count_(count) {}

  T operator[](std::size_t i) const { return load<T>(at_ + 16 * i); }
  std::size_t size() const { return count_; }

  // The last bucket whose bound is <= x, or size() if x lies below all.
  //
  // The blob does not say how its bounds came about. Bounds that are equally far apart are known by
  // their first step and their last bound; the bucket is computed then, and checked. Others are
  // searched in eighths, whose comparisons the processor makes side by side: a binary search waits
  // for each of its loads.
  std::size_t find(T x) const {
    if (x < (*this)[0]) return count_;
    if constexpr (!kIsQ<T>) {
      if (count_ >= kStepsMin) {
        const std::size_t computed = find_by_step(x);
        if (computed != count_) return computed;
      }
    }
    return find_in(x);
  }

 private:
  static constexpr std::size_t kStepsMin = 4;

  // By the step after the second bound (the first may be the type's end); size() if the bounds do
  // not follow it.
  std::size_t find_by_step(T x) const {
    using U = std::make_unsigned_t<T>;
    const T from = (*this)[1], last = (*this)[count_ - 1];
    const U step = static_cast<U>((*this)[2]) - static_cast<U>(from);
    if (static_cast<U>(last) - static_cast<U>(from) != step * static_cast<U>(count_ - 2))
      return count_;
    if (x >= last) return count_ - 1;
    if (x < from) return 0;
    if (step == 0) return count_;
    const std::size_t i = 1 + (static_cast<U>(x) - static_cast<U>(from)) / step;
    return i + 1 < count_ && (*this)[i] <= x && x < (*this)[i + 1] ? i : count_;
  }

  std::size_t find_in(T x) const {
    std::size_t low = 0, left = count_;
    while (left > 8) {
      const std::size_t eighth = left / 8;
      const std::uint8_t* at = at_ + 16 * low;
      std::size_t below = 0;
      for (std::size_t i = 1; i < 8; ++i) below += load<T>(at + 16 * eighth * i) <= x;
      low += below * eighth;
      left = below == 7 ? left - 7 * eighth : eighth;
    }
    std::size_t below = 0;
    for (std::size_t i = 1; i < left; ++i) below += (*this)[low + i] <= x;
    return low + below;
  }

  const std::uint8_t* at_;
  std::size_t count_;
};

// Counts x in a histogram of `dtype` with `bytes` bytes.
template <typename T>
void count_in_histogram(std::uint8_t* data, unsigned dtype, std::size_t bytes, T x) {
  std::uint8_t* const first = data + kHistHeadBytes;
  const std::size_t size = bucket_bytes(dtype), count = (bytes - kHistHeadBytes) / size;
  std::size_t bucket = count;
  if (dtype == VSD_DTYPE_CRHIST32 || dtype == VSD_DTYPE_CRHIST64) {
    bucket = Bounds<T>(first, count).find(x);
  } else {
    // These may overlap; the highest index wins.
    const bool range = has_two_bounds(dtype);
    for (std::size_t i = count; i-- > 0;) {
      const T bound = load<T>(first + size * i);
      if (range ? bound <= x && x < load<T>(first + size * i + 8) : bound == x) {
        bucket = i;
        break;
      }
    }
  }
  std::uint8_t* const counter = bucket == count ? data : first + size * bucket + size - 8;
  if (has_wide_counters(dtype)) {
    const auto cnt = load<std::uint64_t>(counter);
    store(counter, cnt + (cnt != std::numeric_limits<std::uint64_t>::max()));
  } else {
    const auto cnt = load<std::uint32_t>(counter);
    store(counter, cnt + (cnt != std::numeric_limits<std::uint32_t>::max()));
  }
}

}  // namespace tally::blob
