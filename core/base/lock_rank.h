// The order in which locks are taken. A thread that holds a lock takes only locks that stand below
// it here, so that no two threads can wait for each other. Builds with TALLYFS_LOCK_RANKS (debug,
// asan, tsan) check each lock(): a wrong order aborts with both names. try_lock() cannot wait, so
// its order is free; what is locked after it is checked. docs/locks.md has this table with what
// each lock guards, and tests/rooms/locks.py holds the two and the sources together.
//
// Any thread, signal handlers included: the check allocates nothing and takes no lock. Other builds
// store no rank and check nothing.
#pragma once

#include <cstdint>

namespace tallyfs {

enum class LockRank : std::uint8_t {
  kFileKeeping,         // fs/handles.h
  kFileWriting,         // fs/handles.h
  kFileReading,         // fs/handles.h
  kIntakeTurn,          // feeders/intake/intake.h
  kIntakeQueue,         // feeders/intake/socket_queue.h
  kKeptSaving,          // fs/daemon/kept_state.h
  kKeptState,           // fs/daemon/kept_state.h
  kKeptContents,        // fs/daemon/kept_state.h
  kKeptParts,           // fs/daemon/kept_state.h
  kUserEventsDefining,  // core/tracing/branch/user_events.h
  kUserEventsOrdering,  // core/tracing/branch/user_events.h
  kTracing,             // core/tracing/branch/tracing_state.h
  kUserEvents,          // core/tracing/branch/user_events.h
  kKernelFeed,          // core/tracing/branch/kernel_feed.h
  kKernelLatencies,     // core/latency_hist/branch/latency_branch.h
  kFedLatencies,        // core/latency_hist/branch/latency_branch.h
  kFedLatencySet,       // core/latency_hist/branch/latency_branch.cpp
  kLanes,               // feeders/intake/lanes.h
  kStatistics,          // core/statistics/branch/statistics_branch.h
  kSubsystems,          // core/stats3/branch/stats_branch.h
  kStatsObject,         // core/stats3/branch/stats_object.h
  kSubsystemRates,      // core/stats3/branch/subsystem_rates.h
  kFeederTemplates,     // core/stats3/branch/feeder_templates.h
  kOrderedFeeder,       // fs/daemon/kernel_feeder/ordered_feeder.h
  kFeederDialogue,      // fs/daemon/kernel_feeder/feeder_dialogue.h
  kInterface,           // core/statistics/interface/interface.h
  kProcessEnds,         // feeders/intake/process_ends.h
  kAnswerChannels,      // feeders/intake/answer_channels.h
  kDescriptorCloser,    // feeders/intake/descriptor_closer.h
  kErrorLog,            // core/tree/error_log.h
  kErrorHistory,        // core/tree/error_history.h
  kHandles,             // fs/handles.h
  kWaitingReaders,      // fs/waiting_readers.h
  kTextCache,           // fs/text_cache.h
  kUidTurns,            // fs/uid_turns.h
  kLeaderFollowers,     // fs/leader_followers.h
  kLedger,              // core/base/ledger.h
  kTree,                // core/tree/tree.h
  kNotifier,            // fs/notifier.h
  kLaneIndexes,         // feeders/intake/lane_file.h
  kTransferredFds,      // core/branch/transferred_part.h
  kObjectStore,         // fs/store/object_store.h
  // The ranks below are those of libtally, of programs that feed or export, and of tests.
  kMountSite,       // exporters/web/mount_site.h
  kChanges,         // exporters/web/changes.h
  kScrapeReading,   // exporters/web/shared_reading.h
  kScrapeNumbers,   // exporters/web/scrape.h
  kLineQueue,       // feeders/send/line_queue.h
  kTcpRates,        // feeders/tcp/tcp_rates.cpp
  kClientSettings,  // feeders/client/statistic.cpp
  kClient,          // feeders/client/client.h
  kThreadBuffer,    // feeders/client/thread_buffer.h
  kTemplates,       // core/stats3/blob/templates.h
  kWakeups,         // feeders/timer/wakeups.h
  kClockUpkeep,     // feeders/clock/clock.cpp
  kClockDrivers,    // feeders/clock/clock.cpp
  kClock,           // feeders/clock/cycle_clock.h
  kTest,            // tests/unit
};

// A thread holds one lock at a time of any other rank. fork() holds all thread buffers of a client
// at once, in the order of their table.
constexpr bool may_hold_several(LockRank rank) { return rank == LockRank::kThreadBuffer; }

const char* name_of(LockRank rank);

#ifdef TALLYFS_LOCK_RANKS
// Aborts if this thread holds a lock of a rank that stands below this one. The same holds for this
// very rank, unless may_hold_several().
void check_lock_order(LockRank rank);
void note_locked(LockRank rank);
void note_unlocked(LockRank rank);
#endif

}  // namespace tallyfs
