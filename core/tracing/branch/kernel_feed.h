// The messages of the kernel's feeder, on their way into Tracing: offers of events, and records.
// All offers are taken together once the feeder has said that they are complete.
//
// Thread-safe. One lock guards the offers; it is not held while Tracing is called.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/branch/ownership.h"
#include "core/tracing/branch/event_source.h"
#include "core/tracing/branch/tracing.h"
#include "core/wire/binary.h"

namespace tallyfs::tracing {

class KernelFeed {
 public:
  // The bytes of all offers that are not taken yet.
  static constexpr std::size_t kOfferedBytesMax = 64u << 20;

  // Both outlive it. owner: the daemon's uid, which, like root, may feed.
  KernelFeed(Tracing& tracing, EventSource& source, uid_t owner)
      : tracing_(tracing), source_(source), ownership_(owner) {}

  // kNotPermitted: not from this uid; kNoSpace.
  Result<void> offer(const wire::OfferedEvent& offered, uid_t sender) EXCLUDES(mutex_);
  // kNotPermitted; kInvalid: bytes that are no record; the bytes behind them are not taken.
  Result<void> feed(wire::PackedEvents records, uid_t sender, Timestamp now);
  Result<void> lost(const wire::LostEvents& lost, uid_t sender, Timestamp now);

  // The offers so far are all: takes them. Returns how many events there are now.
  std::size_t take_offers(Timestamp now) EXCLUDES(mutex_);
  // The feeder has ended; offers that it has not completed are dropped. Returns whether records are
  // missing: whether any had been asked for.
  bool withdraw(Timestamp now) EXCLUDES(mutex_);

 private:
  struct Offer {
    std::uint32_t id = 0;
    std::string system, format;
  };

  Result<void> may_feed(uid_t sender) const;

  Tracing& tracing_;
  EventSource& source_;
  const Ownership ownership_;
  Mutex mutex_{LockRank::kKernelFeed};
  std::vector<Offer> offers_ GUARDED_BY(mutex_);
  std::size_t offered_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tallyfs::tracing
