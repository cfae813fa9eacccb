// How often each latency occurred, in microseconds: 10,240 rows, and counts of the latencies
// outside them (docs/latency-histograms.md, "The format of a histogram").
//
// Confined to its owner; a copy is a snapshot. It takes 80 KiB once the first latency is in, and
// next to nothing before.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/int128.h"

namespace tallyfs::latency_hist {

class Histogram {
 public:
  static constexpr std::size_t kRows = 10'240;
  // The least that append_to() appends: the header, and 24 bytes for each row; more if a counter
  // has more than 16 digits.
  static constexpr std::size_t kTextBytesMin = 24 * kRows;
  static constexpr std::size_t kTextBytesMax = 1'024 + 28 * kRows;

  // In microseconds, truncated. Those outside the rows count in everything but the rows.
  void add(std::chrono::nanoseconds latency);
  void add(const Histogram& other);

  std::uint64_t total() const { return total_; }
  // min, max: only if total() > 0.
  std::int64_t min_us() const { return min_us_; }
  std::int64_t max_us() const { return max_us_; }
  Int128 sum_us() const { return sum_us_; }
  std::uint64_t below() const { return below_; }
  std::uint64_t above() const { return above_; }
  std::uint64_t row(std::size_t us) const { return rows_.empty() ? 0 : rows_[us]; }

  // The least latency that `share` of 10,000 do not exceed, 0 < share <= 10,000. One beyond the
  // rows is the maximum, one below them the minimum. total() > 0.
  std::int64_t percentile_us(unsigned share) const;

  // Saves all samples. load() loads into an empty histogram, and fails the reader on bytes that
  // save() does not write; the histogram is undefined then.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  // The text of the file CPUn. note: a line between header and rows, or empty.
  void append_to(std::string& out, std::string_view note) const;

 private:
  std::vector<std::uint64_t> rows_;  // kRows, or none yet
  std::uint64_t total_ = 0;
  std::uint64_t below_ = 0;
  std::uint64_t above_ = 0;
  std::int64_t min_us_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_us_ = std::numeric_limits<std::int64_t>::min();
  Int128 sum_us_ = 0;
};

}  // namespace tallyfs::latency_hist
