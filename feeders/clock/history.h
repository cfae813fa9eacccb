// The anchors of the past: which CLOCK_MONOTONIC was at which cycles. Between two anchors time is
// taken to go evenly.
//
// How far off that may be: where the rate changed once between anchors A and B, the way there is
// the line before A, lengthened, and then the line after B, lengthened backwards. So the answer is
// off by no more than the difference in rates between this interval and its neighbour, times the
// distance from the anchor that they share; of the two bounds the smaller one holds, and the errors
// of the anchors come on top. Where there is no interval before, the rate is taken to change by
// what NTP may slew, 500 ppm.
//
// The newest anchor gives way to the next one, unless that would leave a gap of `spacing` or it is
// kept for a reason. Bounded: the room given; then the oldest go. Locked by its clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "feeders/clock/instant.h"

namespace tally {

class History {
 public:
  constexpr explicit History(std::span<Anchor> room) : room_(room) {}

  void set_spacing(std::int64_t ns) { spacing_ns_ = ns; }
  // What a change of rate, or of epoch, makes necessary.
  void keep_newest() { newest_is_kept_ = true; }
  // Cycles of one epoch do not go back.
  void add(const Anchor& anchor);

  std::size_t size() const { return size_; }
  std::size_t size_max() const { return room_.size(); }
  // i < size(); 0 is the oldest.
  const Anchor& at(std::size_t i) const { return room_[(begin_ + i) % room_.size()]; }
  // Nobody's, while there is none.
  const Anchor* newest() const { return size_ == 0 ? nullptr : &at(size_ - 1); }

  struct Time {
    std::int64_t ns = 0;  // CLOCK_MONOTONIC
    std::int64_t error_ns = 0;
  };
  // Nullopt: not between two anchors of the epoch.
  std::optional<Time> time_of(std::uint64_t cycles, std::uint32_t epoch) const;

 private:
  std::optional<double> slope_between(std::size_t from, std::size_t to) const;
  std::int64_t drift(std::size_t after, std::uint64_t cycles) const;

  const std::span<Anchor> room_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::int64_t spacing_ns_ = 900'000'000;
  bool newest_is_kept_ = false;
};

}  // namespace tally
