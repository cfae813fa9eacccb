#include "core/base/lock_rank.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace tallyfs {
namespace {

// In the order of LockRank.
constexpr std::array kNames{
    "kFileKeeping",
    "kFileWriting",
    "kFileReading",
    "kIntakeTurn",
    "kIntakeQueue",
    "kKeptSaving",
    "kKeptState",
    "kKeptContents",
    "kKeptParts",
    "kUserEventsDefining",
    "kUserEventsOrdering",
    "kTracing",
    "kUserEvents",
    "kKernelFeed",
    "kKernelLatencies",
    "kFedLatencies",
    "kFedLatencySet",
    "kLanes",
    "kStatistics",
    "kSubsystems",
    "kStatsObject",
    "kSubsystemRates",
    "kFeederTemplates",
    "kOrderedFeeder",
    "kFeederDialogue",
    "kInterface",
    "kProcessEnds",
    "kAnswerChannels",
    "kDescriptorCloser",
    "kErrorLog",
    "kErrorHistory",
    "kHandles",
    "kWaitingReaders",
    "kTextCache",
    "kUidTurns",
    "kLeaderFollowers",
    "kLedger",
    "kTree",
    "kNotifier",
    "kLaneIndexes",
    "kTransferredFds",
    "kObjectStore",
    "kMountSite",
    "kChanges",
    "kScrapeReading",
    "kScrapeNumbers",
    "kLineQueue",
    "kTcpRates",
    "kClientSettings",
    "kClient",
    "kThreadBuffer",
    "kTemplates",
    "kWakeups",
    "kClockUpkeep",
    "kClockDrivers",
    "kClock",
    "kTest",
};
static_assert(kNames.size() == static_cast<std::size_t>(LockRank::kTest) + 1);

}  // namespace

const char* name_of(LockRank rank) { return kNames[static_cast<std::size_t>(rank)]; }

#ifdef TALLYFS_LOCK_RANKS
namespace {

// A bit for each rank that this thread holds, and how many of each.
struct Held {
  std::uint64_t ranks = 0;
  std::array<std::uint16_t, kNames.size()> locks{};
};
static_assert(kNames.size() <= 64);

// In the initial TLS block: its first use, which may be in a signal handler, allocates nothing. A
// handler gives back each lock that it takes, so an interrupted change of a counter stays right.
[[gnu::tls_model("initial-exec")]] constinit thread_local Held t_held;

constexpr std::uint64_t bit_of(LockRank rank) {
  return std::uint64_t{1} << static_cast<unsigned>(rank);
}

}  // namespace

void check_lock_order(LockRank rank) {
  const std::uint64_t before = bit_of(rank) - 1;
  const std::uint64_t same = may_hold_several(rank) ? bit_of(rank) : 0;
  const std::uint64_t wrong = t_held.ranks & ~(before | same);
  if (wrong == 0) return;
  const auto held = static_cast<LockRank>(std::countr_zero(wrong));
  std::fprintf(stderr, "tallyfs: lock order: %s is taken while %s is held\n", name_of(rank),
               name_of(held));
  std::abort();
}

void note_locked(LockRank rank) {
  t_held.locks[static_cast<std::size_t>(rank)] += 1;
  t_held.ranks |= bit_of(rank);
}

void note_unlocked(LockRank rank) {
  if (--t_held.locks[static_cast<std::size_t>(rank)] == 0) t_held.ranks &= ~bit_of(rank);
}
#endif

}  // namespace tallyfs
