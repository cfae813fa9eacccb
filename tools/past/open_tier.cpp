#include "tools/past/open_tier.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tallyfs::past {

void OpenTier::add(std::uint64_t series, Point point, const Adding& adding) {
  Series& found = series_[series];
  // A view whose source was redefined has a column of its own until the next block.
  if (found.adding.source != adding.source) found.derived = 0;
  found.adding = adding;
  lower_precision(point, adding.precision, precision_);
  past::add(found.open, point);
  found.open.known = std::min(found.open.known, pieces_);
  if (adding.is_list) keep_largest(found.open);
}

// Whether the source's open point says the open point of a view.
bool OpenTier::is_open_derived(const Series& series) const {
  if (series.adding.how == Derivation::kNone || series.open.known == 0) return false;
  const auto source = series_.find(series.adding.source);
  if (source == series_.end()) return false;
  const Precisions precisions{std::min(source->second.adding.precision, precision_),
                              std::min(series.adding.precision, precision_)};
  return is_derived(series.open, source->second.open, series.adding.how, precisions);
}

void OpenTier::end_piece(OpenTier* above) {
  for (auto& [number, series] : series_) {
    if (is_open_derived(series)) series.derived |= std::uint64_t{1} << number_of_piece();
  }
  for (auto& [number, series] : series_) {
    const Point point = std::exchange(series.open, {});
    if (point.known == 0) continue;
    series.column.add(number_of_piece(), point, pieces_);
    is_large_ |= series.column.bytes() > kBlockBytes;
    if (!above) continue;
    // The tier above must not merge again what was merged here.
    Adding adding = series.adding;
    adding.precision = std::min(adding.precision, precision_);
    above->add(number, point, adding);
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

// A view is left out if each of its points in the block is derived: so its points are in one block,
// in order, whatever else the reader adds up.
std::map<std::uint64_t, DerivedViews> OpenTier::find_derived(
    std::set<std::uint64_t>& left_out) const {
  std::map<std::uint64_t, DerivedViews> made;
  for (const auto& [number, series] : series_) {
    if (series.adding.how == Derivation::kNone) continue;
    const std::uint64_t bit = std::uint64_t{1} << number_of_piece();
    std::uint64_t points = series.column.known();
    if (points != series.derived) continue;
    if (series.open.known > 0) {
      if (!is_open_derived(series)) continue;
      points |= bit;
    }
    if (points == 0) continue;
    DerivedViews& views = made[series.adding.source];
    if (views.size() == kDerivedViewsMax) continue;
    views.push_back({.distance = static_cast<std::int64_t>(number - series.adding.source),
                     .points = points,
                     .how = series.adding.how,
                     .precision = std::min(series.adding.precision, precision_)});
    left_out.insert(number);
  }
  return made;
}

std::vector<PackedBlock> OpenTier::pack(Effort effort) const {
  std::vector<PackedBlock> made;
  std::set<std::uint64_t> left_out;
  const auto derived = find_derived(left_out);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> views;
  BlockBuilder builder(pieces_, block_series_);
  const auto take = [&] {
    if (builder.empty()) return;
    PackedBlock block{.tier = number_, .span = {begin_us_, piece_us_ + step_us_}};
    block.first_series = builder.first_series();
    block.last_series = builder.last_series();
    block.bytes = builder.take(effort);
    block.views = std::exchange(views, {});
    made.push_back(std::move(block));
  };
  for (const auto& [number, series] : series_) {
    if (left_out.contains(number)) continue;
    Column open;
    if (series.open.known > 0) open.add(number_of_piece(), series.open, pieces_);
    if (series.column.empty() && open.empty()) continue;
    const unsigned precision = std::min(series.adding.precision, precision_);
    const auto found = derived.find(number);
    builder.add(number, precision, series.column, &open,
                found == derived.end() ? DerivedViews() : found->second);
    if (found != derived.end()) {
      for (const DerivedView& each : found->second) {
        views.emplace_back(number + static_cast<std::uint64_t>(each.distance), number);
      }
    }
    if (builder.is_full()) take();
  }
  take();
  return made;
}

}  // namespace tallyfs::past
