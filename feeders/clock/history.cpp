#include "feeders/clock/history.h"

#include <algorithm>
#include <cmath>

#include "core/base/int128.h"

namespace tally {
namespace {

// What NTP may slew a clock by.
constexpr double kSlewMax = 500e-6;

double ns_per_cycle(const Anchor& from, const Anchor& to) {
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.cycles - from.cycles);
}

}  // namespace

void History::add(const Anchor& anchor) {
  const bool replaces = !newest_is_kept_ && size_ >= 2 && at(size_ - 2).epoch == anchor.epoch &&
                        anchor.ns - at(size_ - 2).ns < spacing_ns_;
  newest_is_kept_ = false;
  if (replaces) --size_;
  if (size_ == room_.size()) {
    begin_ = (begin_ + 1) % room_.size();
    --size_;
  }
  room_[(begin_ + size_) % room_.size()] = anchor;
  ++size_;
}

std::optional<History::Time> History::time_of(std::uint64_t cycles, std::uint32_t epoch) const {
  // The first anchor at or behind the cycles.
  std::size_t low = 0;
  std::size_t high = size_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const Anchor& anchor = at(middle);
    const bool is_before = anchor.epoch != epoch ? anchor.epoch < epoch : anchor.cycles < cycles;
    (is_before ? low : high) = is_before ? middle + 1 : middle;
  }
  if (low == size_ || at(low).epoch != epoch) return std::nullopt;
  const Anchor& after = at(low);
  if (after.cycles == cycles) return Time{after.ns, after.error_ns};
  if (low == 0 || at(low - 1).epoch != epoch) return std::nullopt;
  const Anchor& before = at(low - 1);
  const auto passed = static_cast<std::int64_t>(cycles - before.cycles);
  const auto length = static_cast<std::int64_t>(after.cycles - before.cycles);
  const std::int64_t ns = after.ns - before.ns;
  // A stamp may have been taken anywhere within its cycle.
  const std::int64_t cycle = round_up(ns_per_cycle(before, after));
  return Time{before.ns + static_cast<std::int64_t>((Int128{passed} * ns + length / 2) / length),
              std::max(before.error_ns, after.error_ns) + cycle + drift(low, cycles)};
}

// ns per cycle; nullopt where that is another epoch's, or there is none.
std::optional<double> History::slope_between(std::size_t from, std::size_t to) const {
  if (from >= to || to >= size_ || at(from).epoch != at(to).epoch ||
      at(from).cycles == at(to).cycles) {
    return std::nullopt;
  }
  return ns_per_cycle(at(from), at(to));
}

// By how much a change of rate within the interval that ends with `after` may have led astray.
std::int64_t History::drift(std::size_t after, std::uint64_t cycles) const {
  const double slope = *slope_between(after - 1, after);
  const double since = static_cast<double>(cycles - at(after - 1).cycles);
  const double until = static_cast<double>(at(after).cycles - cycles);
  const auto before_it = after >= 2 ? slope_between(after - 2, after - 1) : std::nullopt;
  auto behind_it = slope_between(after, after + 1);
  // A short interval's slope is the error of its anchors.
  const double length = since + until;
  if (behind_it && static_cast<double>(at(after + 1).cycles - at(after).cycles) < length / 4) {
    behind_it.reset();
  }
  double drift = std::min(since, until) * slope * kSlewMax;
  if (before_it) drift = since * std::abs(slope - *before_it);
  if (behind_it) {
    const double backwards = until * std::abs(slope - *behind_it);
    drift = before_it ? std::min(drift, backwards) : backwards;
  }
  return round_up(drift);
}

}  // namespace tally
