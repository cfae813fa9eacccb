// Which of the daemon's own numbers (own_numbers.h) a count belongs to.
#pragma once

namespace tallyfs {

// One statistic of statistics/tallyfs each. own_numbers.cpp has their names and meanings.
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
};

}  // namespace tallyfs
