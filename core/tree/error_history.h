// errors.json at the mount's root: the newest refusals and warnings of all doors, for tools. It
// keeps more of them than tracing/error_log, which has as many as the kernel's (docs/json.md).
//
// Thread-safe, one lock. Holds kEntries: beyond them the uid that has the most entries loses its
// oldest one, so that a sender that floods pushes out only its own. Root and the daemon's owner
// lose none of their newest kKept to others. A reload clears it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "core/base/mutex.h"
#include "core/tree/file.h"
#include "core/tree/refusal.h"

namespace tallyfs {

class ErrorHistory final : public File {
 public:
  static constexpr std::size_t kEntries = 256;
  static constexpr std::size_t kKept = 64;

  // epoch: of the daemon, as in statistics.json.
  ErrorHistory(std::string epoch, uid_t owner, Timestamp now)
      : epoch_(std::move(epoch)), owner_(owner), begun_(now), last_change_(now) {}

  void add(const Refusal& refusal) EXCLUDES(mutex_);

  // 400 KiB at most.
  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override
      EXCLUDES(mutex_);
  Timestamp last_change(Timestamp now) const override EXCLUDES(mutex_);

 private:
  struct Entry {
    std::uint64_t number = 0;  // in the order of arrival
    Refusal refusal{};
  };

  // How many of a uid's entries may make room for others'.
  std::size_t exposed(uid_t uid, std::size_t count) const;
  // The oldest entry of the uid that has the most of those; of several, of the greatest uid.
  void drop_one() REQUIRES(mutex_);

  const std::string epoch_;
  const uid_t owner_;
  const Timestamp begun_;
  mutable Mutex mutex_{LockRank::kErrorHistory};
  std::map<uid_t, std::list<Entry>> entries_ GUARDED_BY(mutex_);  // by uid, oldest first
  std::size_t size_ GUARDED_BY(mutex_) = 0;                       // of all uids
  std::list<Entry> spare_ GUARDED_BY(mutex_);  // one at most, whose memory the next one uses
  std::uint64_t added_ GUARDED_BY(mutex_) = 0;
  Timestamp last_change_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
