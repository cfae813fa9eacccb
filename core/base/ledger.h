// The ledger of quotas. Every interface, statistic and byte of data is entered here when it is
// defined, for the uid that made it and for the whole daemon. So a definition is refused in time
// (ENOSPC), and nothing fails later (docs/files.md, "Names and quotas"). The last tenth of what is
// there for the whole daemon is for root and the daemon's uid (quota_reserve.h).
//
// Thread-safe, by one lock of its own, held for a few additions. It calls no other room.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/base/result.h"

namespace tallyfs {

struct Holdings {
  std::uint64_t interfaces = 0;
  std::uint64_t statistics = 0;
  std::uint64_t bytes = 0;  // the bytes that the data may grow to, not its size right now
};

class Ledger {
 public:
  struct Limits {
    Holdings per_uid{.interfaces = 65'536, .statistics = 262'144, .bytes = 256ull << 20};
    Holdings total{.interfaces = 131'072, .statistics = 1'048'576, .bytes = 1024ull << 20};
  };

  // owner: the daemon's uid.
  explicit Ledger(const Limits& limits, uid_t owner = 0) : limits_(limits), reserve_(owner) {}

  // Enters more for uid, all of it or nothing. kNoSpace: the reason names the bound.
  Result<void> reserve(uid_t uid, const Holdings& more) EXCLUDES(mutex_);
  // Removes a part of what was reserved before.
  void release(uid_t uid, const Holdings& less) EXCLUDES(mutex_);

  const Limits& limits() const { return limits_; }
  Holdings total() const EXCLUDES(mutex_);
  // The holdings of each uid that has any, the least uid first.
  std::vector<std::pair<uid_t, Holdings>> by_uid() const EXCLUDES(mutex_);

 private:
  const Limits limits_;
  const QuotaReserve reserve_;
  mutable Mutex mutex_{LockRank::kLedger};
  Holdings total_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<uid_t, Holdings> by_uid_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
