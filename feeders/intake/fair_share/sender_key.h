// A sender, as shares of the intake's time are counted. A process of root's or of the daemon's uid
// is one. Of any other uid all processes together are one, since they may be as many as they like.
// Senders that have no account (accounts.h) share one: processes one, and uids another.
//
// A value.
#pragma once

#include <sys/types.h>

#include <boost/container_hash/hash.hpp>
#include <cstddef>
#include <cstdint>

#include "core/branch/command.h"
#include "core/branch/ownership.h"

namespace tallyfs {

class SenderKey {
 public:
  SenderKey() = default;
  SenderKey(const Ownership& ownership, uid_t uid, pid_t pid)
      : value_(ownership.is_trusted(uid) ? kOneProcess | static_cast<std::uint32_t>(shown_pid(pid))
                                         : uid) {}

  bool is_uid() const { return (value_ & kOneProcess) == 0; }
  // Only where is_uid() is true.
  uid_t uid() const { return static_cast<uid_t>(value_); }
  // The key of the account that such senders share.
  SenderKey shared() const { return SenderKey((value_ & kOneProcess) | kShared); }

  friend bool operator==(SenderKey, SenderKey) = default;
  friend std::size_t hash_value(SenderKey key) { return boost::hash<std::uint64_t>()(key.value_); }

 private:
  static constexpr std::uint64_t kOneProcess = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kShared = std::uint64_t{1} << 33;
  explicit SenderKey(std::uint64_t value) : value_(value) {}

  std::uint64_t value_ = 0;
};

}  // namespace tallyfs
