// What the daemon counts of itself (daemon_counters.h).
#pragma once

#include <cstddef>

namespace tallyfs {

// Each is one statistic of statistics/tallyfs; core/statistics/branch/counter_interface.cpp has
// their names and meanings, and fails to compile where one is missing.
enum class DaemonCounter {
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
  kDroppedByUid,
  kStateBytes,
  kStateUs,
  kStateFailures,
  kTakeovers,
  kTakeoverUs,
  kLanes,
  kCellsMerged,
  kLaneBad,
  kBesideLanes,
  kReloadsRefused,
  kRings,
  kRingSamples,
  kLaneDropped,
  kStateSavedS,
  kStateFailedS,
  kStateLeftOut,
  kPutOffDropped,
  kRounded,
  kUnsaved,
  kChannels,
};

inline constexpr std::size_t kDaemonCounters =
    static_cast<std::size_t>(DaemonCounter::kChannels) + 1;

}  // namespace tallyfs
