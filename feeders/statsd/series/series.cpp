#include "feeders/statsd/series/series.h"

#include <limits>

namespace tallyfs::statsd {

Series::Series(Outlet::Id id, Kind kind, unsigned scale, bool is_overflow)
    : id_(id),
      kind_(kind),
      scale_(static_cast<std::uint8_t>(scale)),
      is_overflow_(is_overflow),
      members_(kind == Kind::kSet ? std::make_unique<DistinctValues>() : nullptr) {}

void Series::give_up() {
  is_given_up_ = true;
  members_.reset();
}

std::uint64_t Series::weigh(const Weight& weight) {
  rest_of_weight_ += weight.rest;
  const bool is_whole = rest_of_weight_ >= kRestUnits;
  if (is_whole) rest_of_weight_ -= kRestUnits;
  return weight.whole + (is_whole ? 1 : 0);
}

// Y is at most 10^18 + 1, so that no product is above 10^37.
std::int64_t Series::carry(Int128 units, std::uint64_t y) {
  constexpr auto kUnits = static_cast<Int128>(kRestUnits);
  const auto whole = static_cast<std::int64_t>(units / kUnits);
  const Int128 of_sample = static_cast<Int128>(y) * kUnits;
  const Int128 rest = units % kUnits * static_cast<Int128>(y) + rest_;
  const auto extra = static_cast<std::int64_t>(rest / of_sample);
  rest_ = rest % of_sample;
  std::int64_t x = 0;
  // Beyond 64 bits there is no X: the sample has the value nearest to it.
  if (__builtin_add_overflow(whole, extra, &x)) {
    return extra > 0 ? std::numeric_limits<std::int64_t>::max()
                     : std::numeric_limits<std::int64_t>::min();
  }
  return x;
}

std::optional<std::int64_t> Series::end_window() {
  if (members_->empty()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(members_->count());
  members_->clear();
  return count;
}

}  // namespace tallyfs::statsd
