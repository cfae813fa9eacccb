// The watchdog of a daemon that is no longer root: at the daemon's end it takes away the mount and
// the socket's files. A process of its own, forked before the first thread and before privileges
// are dropped. The end of a pipe tells it of the daemon's end, so that a killed daemon leaves
// nothing either. Until then it sleeps, with the two capabilities that it needs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"

namespace tallyfs {

class Watchdog {
 public:
  // Forks; returns in the daemon. The socket's files are the watchdog's from then on.
  static Result<Watchdog> start(FeedSocket& socket, const std::string& mount_point);
  Watchdog(Watchdog&& other) noexcept = default;
  Watchdog& operator=(Watchdog&&) = delete;
  ~Watchdog() { clean_up(); }

  // Names the mount that it takes away: the one that is there now, and no other.
  void mounted();
  // Ends the watchdog: it cleans up first. Returns when that is done.
  void clean_up();

 private:
  Watchdog(Fd pipe, pid_t process, std::string mount_point)
      : pipe_(std::move(pipe)), process_(process), mount_point_(std::move(mount_point)) {}

  Fd pipe_;
  pid_t process_;
  std::string mount_point_;
};

}  // namespace tallyfs
