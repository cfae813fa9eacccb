// The reserve of each quota of the whole daemon: its last tenth is for root and the daemon's uid,
// so that other uids together cannot keep them from working.
//
// An immutable value.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tallyfs {

class QuotaReserve {
 public:
  // owner: the daemon's uid.
  explicit constexpr QuotaReserve(uid_t owner) : owner_(owner) {}

  constexpr bool is_for(uid_t uid) const { return uid == 0 || uid == owner_; }
  // The limit for the holdings of all uids together after the uid takes more.
  constexpr std::uint64_t limit_for(uid_t uid, std::uint64_t total) const {
    return is_for(uid) ? total : total - total / kParts;
  }

 private:
  static constexpr std::uint64_t kParts = 10;

  uid_t owner_;
};

}  // namespace tallyfs
