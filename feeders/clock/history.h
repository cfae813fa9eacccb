// The anchors of the past: which CLOCK_MONOTONIC was at which cycles. Between two anchors time is
// taken to go evenly.
//
// How far off that may be. Let the rate change twice between anchors A and B, in any way, a jump of
// the counter included. Up to the first change time is on the line before A, lengthened; from the
// second one on it is on the line after B, lengthened backwards; and between the two it is on a
// straight line from the one to the other. So it is nowhere farther from A-B than the larger of
// these: the difference in rates between A-B and the interval before it, times the distance from A;
// and the same with the interval behind it and B. The errors of the anchors come on top. Where a
// neighbour is missing, as behind the newest anchor, its rate is taken to differ by what NTP may
// slew, 500 ppm, from that of the other one; so a stamp's bound is widest while its interval is the
// newest. More than two changes in an interval, those at its very ends included, are
// beyond this: anchors are to be as close as that.
//
// The newest anchor gives way to the next one, unless that would leave a gap of `spacing` or it is
// kept for a reason. Bounded: the room given; then the oldest go. Locked by its clock.
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
  // What a change of rate, or of epoch, makes necessary.
  void keep_newest() { newest_is_kept_ = true; }
  void clear() { size_ = 0; }
  // Cycles of one epoch do not go back.
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
  // How far it reaches back in the newest anchor's epoch.
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
