// Copies of histograms and traces from which files are rendered: how much memory they may take
// together, and which copy of histograms several readers share.
//
// Readings is thread-safe; hist() is called with the lock of the instance held. A HistReading is
// immutable.
// Limits: bytes_max bytes for all readers together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "core/base/ledger.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/tracing/set/event_set.h"

namespace tallyfs {

struct TracingInstance;

// A copy of histograms with its share of the memory of readers. Shared by readers of the same
// moment; the last of them frees it, without any lock.
struct HistReading {
  HistCopy copy;
  Reservation share;
  std::uint64_t serial = 0;  // grows with every change of the instance
};
using SharedHistReading = std::shared_ptr<const HistReading>;

// The last copy of histograms, as long as a reader has it.
struct LastHist {
  EventNumber event = 0;
  std::uint64_t changes = 0, hits = 0;  // of the instance and the event, at that moment
  std::weak_ptr<const HistReading> reading;
};

class Readings {
 public:
  Readings(uid_t owner, std::uint64_t bytes_max);

  // A share of the memory of readers. kNoSpace: other readers hold it.
  Result<Reservation> reserve(std::uint64_t bytes);
  // Readers of the same histograms at the same time share one copy.
  Result<SharedHistReading> hist(TracingInstance& instance, EventNumber event);

 private:
  const uid_t owner_;
  const std::uint64_t bytes_max_;
  Ledger ledger_;
};

}  // namespace tallyfs
