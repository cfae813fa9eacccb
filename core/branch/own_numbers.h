// The daemon's own numbers: an ordinary interface, statistics/tallyfs, fed like all others but
// from within. There is no second mechanism for them.
//
// Thread-safe through the Interface's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/branch/own_number.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs {

class OwnNumbers {
 public:
  // Creates the statistics in an interface that has none.
  OwnNumbers(std::shared_ptr<Interface> interface, Moment now);

  // Counts `count` (Y) of `what`, with X where the number is a measure and not a count.
  void record(Own what, std::int64_t x, std::uint64_t count, Moment now);
  void count(Own what, std::uint64_t count, Moment now) { record(what, 0, count, now); }
  // Goes on with the numbers of the server before, which are over herewith. kNoSpace: some of them
  // begin anew.
  Result<void> go_on(Interface& before, Moment now);

 private:
  std::shared_ptr<Interface> interface_;  // shared with its files in the tree
  std::vector<Statistic*> statistics_;    // by Own
};

// Counts that are gathered without a lock, until they are entered into the OwnNumbers.
// Confined to their owner's thread or lock.
class OwnCounts {
 public:
  void add(Own what, std::uint64_t count = 1) {
    counts_[static_cast<std::size_t>(what)] += count;
    has_any_ = has_any_ || count != 0;
  }
  // Enters all counts and starts from 0 again.
  void publish(OwnNumbers& own, Moment now);

 private:
  static constexpr std::size_t kNumbers = static_cast<std::size_t>(Own::kStateLeftOut) + 1;

  std::array<std::uint64_t, kNumbers> counts_{};
  bool has_any_ = false;
};

}  // namespace tallyfs
