// A block of the store: up to kBlockPoints points of up to kBlockSeries statistics in one tier, as
// bytes that refer to no others (FORMAT.md). Confined to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tools/past/column.h"

namespace tallyfs::past {

// A reader of one statistic unpacks its neighbours, too: more of them compress better.
inline constexpr std::size_t kBlockSeries = 128;
// A block is closed from here on, so that with the largest column it is below kUnpackedMax.
inline constexpr std::size_t kBlockBytes = 1 << 20;
// More is not unpacked, whatever a block says.
inline constexpr std::size_t kUnpackedMax = 4 << 20;

class BlockBuilder {
 public:
  // `series` ascends. `more` follows `column`: what is not complete yet, or nullptr.
  void add(std::uint64_t series, const Column& column, const Column* more);

  bool empty() const { return size_ == 0; }
  bool is_full() const;
  std::uint64_t first_series() const { return first_; }
  std::uint64_t last_series() const { return last_; }
  // The bytes; the builder is empty then.
  std::string take();

 private:
  std::size_t size_ = 0;  // statistics
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::string heads_;
  std::array<std::string, kStreams> streams_;
};

// Calls take() for each statistic of the block, in order. False: it is damaged; some may have been
// taken.
using TakeColumn = std::function<bool(std::uint64_t series, const ColumnBytes&)>;
bool read_block(std::string_view block, const TakeColumn& take);

}  // namespace tallyfs::past
