// A past whose portions come at any pace: what was counted since the newest unit is in the next
// one, or, where it is read late, spread evenly over all since: only its place in time is unknown.
// The caller counts units from where it likes. Confined to one thread.
#pragma once

#include <cstdint>

#include "tools/display/past.h"

namespace tallyfs::view {

class PacedPast {
 public:
  // A snapshot that comes more than so many units late ends the past: the caller begins another
  // one.
  static constexpr std::uint64_t kLateUnits = 4 * Past::kBlockUnits;

  // The past begins with that unit.
  explicit PacedPast(double bucket_octaves = 0.25, std::uint64_t unit = 0)
      : past_(bucket_octaves), begin_(unit), end_(unit) {}

  const Past& past() const { return past_; }
  std::uint64_t begin() const { return begin_; }
  // The end of its newest complete block, in units.
  std::uint64_t end_of_blocks() const {
    return end_ - (end_ - begin_) % Past::kBlockUnits;
  }

  void add(Portion more);
  // Units before that one have ended.
  void go_to(std::uint64_t unit);

 private:
  Past past_;
  Portion open_{};  // since end_
  std::uint64_t begin_;
  std::uint64_t end_;
};

}  // namespace tallyfs::view
