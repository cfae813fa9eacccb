// A block of the store: up to kBlockPoints points of up to kBlockSeries statistics in one tier, as
// bytes that refer to no others (FORMAT.md). Confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tools/past/column.h"
#include "tools/past/compression.h"
#include "tools/past/packed_column.h"

namespace tallyfs::past {

// A reader of one statistic unpacks its neighbours, too: more of them compress better.
inline constexpr std::size_t kBlockSeries = 256;
// In tiers of many days, of which a reader seldom wants all.
inline constexpr std::size_t kBlockSeriesMax = 512;
// A block is closed from here on, so that with the largest column it is below kUnpackedMax.
inline constexpr std::size_t kBlockBytes = 1 << 20;
// More is not unpacked, whatever a block says.
inline constexpr std::size_t kUnpackedMax = 4 << 20;

class BlockBuilder {
 public:
  // `pieces`: how many finest pieces a whole point knows. series_max: in a block.
  BlockBuilder(std::uint64_t pieces, std::size_t series_max)
      : pieces_(pieces), series_max_(series_max) {}

  // `series` ascends. `more` follows `column`: what is not complete yet, or nullptr. precision: of
  // quantiles; else 0.
  void add(std::uint64_t series, unsigned precision, const Column& column, const Column* more,
           const DerivedViews& views = {});

  bool empty() const { return size_ == 0; }
  bool is_full() const { return size_ >= series_max_ || columns_.bytes() >= kBlockBytes; }
  std::uint64_t first_series() const { return first_; }
  std::uint64_t last_series() const { return last_; }
  // The bytes; the builder is empty then.
  std::string take(Effort effort);

 private:
  std::uint64_t pieces_;
  std::size_t series_max_;
  std::size_t size_ = 0;  // statistics
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  ColumnPacker columns_;
};

// The time that it takes is in proportion to the unpacked bytes, at most kUnpackedMax.
// Calls take() for each point of the series that are wanted; those of one series ascend. False: the
// block is damaged; some points may have been taken.
struct WantedSeries {
  // What comes after it is not read: the highest of those that are wanted, and of those from which
  // these are derived.
  std::uint64_t last = 0;
  std::function<bool(std::uint64_t series)> has;
};
using TakeStored = std::function<void(std::uint64_t series, unsigned number, Point&& point)>;
bool read_block(std::string_view block, std::uint64_t pieces, const WantedSeries& wanted,
                const TakeStored& take);
// read_block() for parts that are unpacked.
bool read_parts(const Parts& parts, std::uint64_t pieces, const WantedSeries& wanted,
                const TakeStored& take);

}  // namespace tallyfs::past
