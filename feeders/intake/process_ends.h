// Hears of the end of processes by their pidfds (Linux 5.3), one for each process watched; at most
// kProcessesMax, and kProcessesOfUidMax for a uid that is not root's. A tenth is kept for root and
// the daemon's uid (core/base/quota_reserve.h).
//
// Thread-safe. on_end is called on the event loop's thread.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/branch/process_watch.h"
#include "feeders/intake/event_loop.h"

namespace tallyfs {

class ProcessEnds final : public ProcessWatch {
 public:
  static constexpr std::size_t kProcessesMax = 1024;
  static constexpr std::size_t kProcessesOfUidMax = 256;

  // The loop outlives this; on_end may be called until then, once the loop runs. owner: the
  // daemon's uid.
  ProcessEnds(EventLoop& loop, uid_t owner, std::function<void(pid_t)> on_end)
      : loop_(loop), reserve_(owner), on_end_(std::move(on_end)) {}

  Result<void> watch(pid_t process, uid_t uid) override EXCLUDES(mutex_);
  bool watches(pid_t process) const override EXCLUDES(mutex_);

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  struct Watched {
    uid_t uid = 0;
    // Shared with the wait that is going on, which dies last.
    std::shared_ptr<Descriptor> pidfd;
  };

  Result<void> check_room(uid_t uid) const REQUIRES(mutex_);
  void wait_for(pid_t process, const std::shared_ptr<Descriptor>& pidfd);

  EventLoop& loop_;
  const QuotaReserve reserve_;
  const std::function<void(pid_t)> on_end_;
  mutable Mutex mutex_{LockRank::kProcessEnds};
  boost::unordered_flat_map<pid_t, Watched> watched_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
