// The anchors of the past: pairs of a counter's cycles and CLOCK_MONOTONIC. Between two anchors
// time is interpolated.
//
// The error bound of that. Let the rate change twice between anchors A and B, in any way, a jump of
// the counter included. Up to the first change, time is on the extension of the line that ends in
// A; from the second change on, it is on the extension of the line that starts in B; between the
// two it is on a straight line from the one to the other. So time is nowhere farther from the line
// A-B than the larger of two products: the difference in rates between A-B and the interval before
// it, times the distance from A; and the difference in rates between A-B and the interval after it,
// times the distance from B. The errors of the anchors are added. Where a neighbour is missing, as
// after the newest anchor, its rate is assumed to differ by 500 ppm, which is the most that NTP
// slews; so a stamp's bound is widest while its interval is the newest. The bound does not hold for
// more than two changes in an interval, its ends included: anchors have to be close enough for
// that.
//
// The next anchor replaces the newest, unless that would leave a gap of `spacing` or keep_newest()
// was called. Bounded by the given room: the oldest anchors are dropped. Locked by its clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "feeders/clock/instant.h"

namespace tallyfs {

class History {
 public:
  constexpr explicit History(std::span<Anchor> room) : room_(room) {}

  void set_spacing(std::int64_t ns) { spacing_ns_ = ns; }
  // The next add() does not replace the newest anchor. Call at a change of rate or of epoch.
  void keep_newest() { newest_is_kept_ = true; }
  void clear() { size_ = 0; }
  // The cycles are not less than those of the last anchor of the same epoch.
  void add(const Anchor& anchor);

  std::size_t size() const { return size_; }
  std::size_t size_max() const { return room_.size(); }
  // i < size(); 0 is the oldest.
  const Anchor& at(std::size_t i) const { return room_[(begin_ + i) % room_.size()]; }
  // Null while there is none.
  const Anchor* newest() const { return size_ == 0 ? nullptr : &at(size_ - 1); }

  struct Time {
    std::int64_t ns = 0;  // CLOCK_MONOTONIC
    std::int64_t error_ns = 0;
  };
  // The time between the oldest and the newest anchor of the newest anchor's epoch.
  std::int64_t reach_ns() const;
  // Nullopt: not between two anchors of the epoch.
  std::optional<Time> time_of(std::uint64_t cycles, std::uint64_t epoch) const;

 private:
  Time time_at(std::size_t first) const;
  bool is_interval(std::size_t after) const;
  std::optional<double> change_from(std::size_t after, std::size_t neighbour) const;
  std::int64_t drift(std::size_t after, std::uint64_t cycles) const;

  const std::span<Anchor> room_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::int64_t spacing_ns_ = 900'000'000;
  bool newest_is_kept_ = false;
};

}  // namespace tallyfs
