#include "feeders/clock/history.h"

#include <algorithm>
#include <cmath>

#include "core/base/int128.h"

namespace tallyfs {
namespace {

// The most by which NTP slews a clock.
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

std::optional<History::Time> History::time_of(std::uint64_t cycles, std::uint64_t epoch) const {
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
  if (after.cycles == cycles) return time_at(low);
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

// At the cycles of an anchor; a slow counter, or one that stands still, shows these for a while.
History::Time History::time_at(std::size_t first) const {
  std::size_t last = first;
  while (last + 1 < size_ && at(last + 1).epoch == at(first).epoch &&
         at(last + 1).cycles == at(first).cycles) {
    ++last;
  }
  const std::int64_t half = (at(last).ns - at(first).ns + 1) / 2;
  return {at(first).ns + half, half + std::max(at(first).error_ns, at(last).error_ns)};
}

std::int64_t History::reach_ns() const {
  if (size_ == 0) return 0;
  std::size_t oldest = size_ - 1;
  while (oldest != 0 && at(oldest - 1).epoch == at(size_ - 1).epoch) --oldest;
  return at(size_ - 1).ns - at(oldest).ns;
}

// From the anchor before `after` to that one?
bool History::is_interval(std::size_t after) const {
  return after != 0 && after < size_ && at(after - 1).epoch == at(after).epoch &&
         at(after - 1).cycles != at(after).cycles;
}

// How much the rates of these intervals, each named by its end, differ at most, in ns per cycle.
std::optional<double> History::change_from(std::size_t after, std::size_t neighbour) const {
  if (!is_interval(neighbour)) return std::nullopt;
  const Anchor& from = at(neighbour - 1);
  const Anchor& to = at(neighbour);
  const double change = std::abs(ns_per_cycle(at(after - 1), at(after)) - ns_per_cycle(from, to));
  const std::uint64_t cycles = to.cycles - from.cycles;
  // The rate of a short one is the error of its anchors.
  const bool is_short = cycles < (at(after).cycles - at(after - 1).cycles) / 4;
  const auto error = static_cast<double>(from.error_ns + to.error_ns);
  return change + (is_short ? error / static_cast<double>(cycles) : 0);
}

// The error bound from changes of rate within the interval that ends with `after`.
std::int64_t History::drift(std::size_t after, std::uint64_t cycles) const {
  const auto since = static_cast<double>(cycles - at(after - 1).cycles);
  const auto until = static_cast<double>(at(after).cycles - cycles);
  const auto before = change_from(after, after - 1);
  const auto behind = change_from(after, after + 1);
  const double slewed = std::min(since, until) * ns_per_cycle(at(after - 1), at(after)) * kSlewMax;
  const double by_before = before ? since * *before : slewed + since * behind.value_or(0);
  const double by_behind = behind ? until * *behind : slewed + until * before.value_or(0);
  return round_up(std::max(by_before, by_behind));
}

}  // namespace tallyfs
