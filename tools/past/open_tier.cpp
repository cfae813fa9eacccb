#include "tools/past/open_tier.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tallyfs::past {

void OpenTier::add(std::uint64_t series, Point point, const Adding& adding) {
  Series& found = series_[series];
  found.adding = adding;
  lower_precision(point, adding.precision, precision_);
  past::add(found.open, point);
  found.open.known = std::min(found.open.known, pieces_);
  if (adding.is_list) keep_largest(found.open);
}

void OpenTier::end_piece(OpenTier* above) {
  for (auto& [number, series] : series_) {
    const Point point = std::exchange(series.open, {});
    if (point.known == 0) continue;
    series.column.add(number_of_piece(), point, pieces_);
    is_large_ |= series.column.bytes() > kBlockBytes;
    if (above) above->add(number, point, series.adding);
  }
}

void OpenTier::end_block(std::vector<PackedBlock>& closed) {
  std::ranges::move(pack(Effort::kSmall), std::back_inserter(closed));
  series_.clear();
  is_large_ = false;
}

bool OpenTier::is_over(std::uint64_t piece_us) const {
  const std::uint64_t block_us = step_us_ * kBlockPoints;
  return is_large_ || piece_us < piece_us_ || piece_us / block_us != begin_us_ / block_us;
}

void OpenTier::go_to(std::uint64_t moment_us, OpenTier* above, std::vector<PackedBlock>& closed) {
  const std::uint64_t piece_us = moment_us - moment_us % step_us_;
  if (is_open_ && piece_us == piece_us_) return;
  if (is_open_) end_piece(above);
  if (is_open_ && is_over(piece_us)) {
    end_block(closed);
    is_open_ = false;
  }
  if (!is_open_) begin_us_ = piece_us;
  is_open_ = true;
  piece_us_ = piece_us;
}

void OpenTier::end(OpenTier* above, std::vector<PackedBlock>& closed) {
  if (!is_open_) return;
  end_piece(above);
  end_block(closed);
  is_open_ = false;
}

std::vector<PackedBlock> OpenTier::pack(Effort effort) const {
  std::vector<PackedBlock> made;
  BlockBuilder builder(pieces_, block_series_);
  const auto take = [&] {
    if (builder.empty()) return;
    PackedBlock block{.tier = number_, .span = {begin_us_, piece_us_ + step_us_}};
    block.first_series = builder.first_series();
    block.last_series = builder.last_series();
    block.bytes = builder.take(effort);
    made.push_back(std::move(block));
  };
  for (const auto& [number, series] : series_) {
    Column open;
    if (series.open.known > 0) open.add(number_of_piece(), series.open, pieces_);
    if (series.column.empty() && open.empty()) continue;
    const unsigned precision = std::min(series.adding.precision, precision_);
    builder.add(number, precision, series.column, &open);
    if (builder.is_full()) take();
  }
  take();
  return made;
}

}  // namespace tallyfs::past
