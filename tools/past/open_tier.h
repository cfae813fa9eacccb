// One tier of the store in memory: the piece of time that is open, and the block whose points are
// complete. What a piece counted goes into the tier above when the piece ends. Confined to one
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/past/block.h"
#include "tools/past/store.h"

namespace tallyfs::past {

// A block as it is written.
struct PackedBlock {
  std::size_t tier = 0;
  Span span;
  std::uint64_t first_series = 0;
  std::uint64_t last_series = 0;
  std::string bytes{};
  // Views without bytes, each with its source, which the block has.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> views{};
};

class OpenTier {
 public:
  // `pieces`: of the finest tier, in one of this.
  OpenTier(std::size_t number, const Tier& tier, std::uint64_t pieces)
      : number_(number),
        step_us_(tier.step_us),
        precision_(precision_of(tier)),
        block_series_(is_coarse(tier) ? kBlockSeriesMax : kBlockSeries),
        pieces_(pieces) {}

  // Adds to the open piece.
  void add(std::uint64_t series, Point point, const Adding& adding);

  // Opens the piece with this moment. The one that was open ends: its points go to `above`, too, if
  // there is one. Appends the block that ends thereby to `closed`.
  void go_to(std::uint64_t moment_us, OpenTier* above, std::vector<PackedBlock>& closed);
  // Ends piece and block.
  void end(OpenTier* above, std::vector<PackedBlock>& closed);

  // The block so far, with the piece that is open.
  std::vector<PackedBlock> pack() const { return pack(Effort::kFast); }

 private:
  struct Series {
    Column column{};
    Point open{};
    Adding adding{};
    std::uint64_t derived = 0;  // bit i: its source's point i says that of the column
  };

  std::vector<PackedBlock> pack(Effort effort) const;
  bool is_open_derived(const Series& series) const;
  // The views of each series that has some, which have no column in the block.
  std::map<std::uint64_t, DerivedViews> find_derived(std::set<std::uint64_t>& left_out) const;
  void end_piece(OpenTier* above);
  void end_block(std::vector<PackedBlock>& closed);
  bool is_over(std::uint64_t piece_us) const;
  unsigned number_of_piece() const {
    return static_cast<unsigned>((piece_us_ - begin_us_) / step_us_);
  }

  std::size_t number_;
  std::uint64_t step_us_;
  unsigned precision_;
  std::size_t block_series_;
  std::uint64_t pieces_;
  bool is_open_ = false;
  bool is_large_ = false;  // a column is: the block ends with this piece
  std::uint64_t begin_us_ = 0;
  std::uint64_t piece_us_ = 0;
  std::map<std::uint64_t, Series> series_;
};

}  // namespace tallyfs::past
