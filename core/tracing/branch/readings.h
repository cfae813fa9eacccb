// Files of histograms and traces are rendered from copies. Readings bounds the memory of all copies
// together to bytes_max bytes, and lets readers of one event's `hist` share a copy.
//
// Readings is thread-safe; hist() is called with the lock of the instance held. A HistReading is
// immutable.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "core/base/ledger.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/tracing/set/event_set.h"

namespace tallyfs::tracing {

struct TracingInstance;

// A copy of one event's histograms, with its share of the memory of readers. Readers of the same
// state share it; the last of them frees it, without any lock.
struct HistReading {
  HistCopy copy;
  Reservation share;
  std::uint64_t serial = 0;  // the instance's number of changes, when the copy was made
};
using SharedHistReading = std::shared_ptr<const HistReading>;

// The last copy that an instance's readers made, as long as one of them has it.
struct LastHist {
  EventNumber event = 0;
  std::uint64_t changes = 0, hits = 0;  // of the instance and of the event, when it was made
  std::weak_ptr<const HistReading> reading;
};

class Readings {
 public:
  // owner: the daemon's uid, to which all copies are charged.
  Readings(uid_t owner, std::uint64_t bytes_max);

  // A share of the memory of readers. kNoSpace: other readers have taken all of it.
  Result<Reservation> reserve(std::uint64_t bytes);
  // The event's histograms now: the instance's last copy, unless the event or the instance changed
  // since. kNoSpace: as reserve().
  Result<SharedHistReading> hist(TracingInstance& instance, EventNumber event);

 private:
  const uid_t owner_;
  const std::uint64_t bytes_max_;
  Ledger ledger_;
};

}  // namespace tallyfs::tracing
