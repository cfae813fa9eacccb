// The watchdog of a daemon that is no longer root: at the daemon's end it removes the mount and the
// socket's files. It is a process of its own, forked before the first thread and before privileges
// are dropped. It learns of the daemon's end by the end of a pipe, so that a killed daemon leaves
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
  // Forks; returns in the daemon. From then on the watchdog owns the socket's files.
  static Result<Watchdog> start(FeedSocket& socket, const std::string& mount_point);
  Watchdog(Watchdog&& other) noexcept = default;
  Watchdog& operator=(Watchdog&&) = delete;
  ~Watchdog() { clean_up(); }

  // Tells the watchdog which mount to remove: the one that is there now, and no other.
  void mounted();
  // Ends the watchdog, after it has cleaned up. Returns when that is done.
  void clean_up();

 private:
  Watchdog(Fd pipe, pid_t process, std::string mount_point)
      : pipe_(std::move(pipe)), process_(process), mount_point_(std::move(mount_point)) {}

  Fd pipe_;
  pid_t process_;
  std::string mount_point_;
};

}  // namespace tallyfs
