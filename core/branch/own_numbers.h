// The daemon's own numbers: an ordinary interface, statistics/tallyfs, fed like all others but
// from within. There is no second mechanism for them.
//
// Thread-safe through the Interface's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/statistic/interface.h"

namespace tallyfs {

// One statistic each; what they mean stands in own_numbers.cpp, what they are called too.
enum class Own {
  kDatagrams,
  kSamples,
  kBlobs,
  kCommands,
  kRejects,
  kTruncated,
  kFdsRefused,
  kAnswersDropped,
  kDropped,
  kDroppedBy,
  kDrainsCut,
  kSaturations,
  kBatchNs,
  kOpenFiles,
  kOpensRefused,
  kEvents,
  kEventsLost,
  kEventsHurried,
  kPutOff,
  kAnswersOverShare,
};

class OwnNumbers {
 public:
  // Creates the statistics in an interface that has none.
  OwnNumbers(std::shared_ptr<Interface> interface, Moment now);

  // Counts `count` (Y) of `what`, with X where the number is a measure and not a count.
  void record(Own what, std::int64_t x, std::uint64_t count, Moment now);
  void count(Own what, std::uint64_t count, Moment now) { record(what, 0, count, now); }

 private:
  std::shared_ptr<Interface> interface_;  // shared with its files in the tree
  std::vector<Statistic*> statistics_;    // by Own
};

}  // namespace tallyfs
