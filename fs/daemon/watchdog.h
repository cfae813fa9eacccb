// The watchdog of a daemon that is no longer root, or whose mount hides another mount. At the
// daemon's end it removes the mount and the socket's files, and the mount below if that was made
// for the daemon. It is a process of its own, forked before the first thread and before privileges
// are dropped. It learns of the daemon's end by the end of a pipe, so that a killed daemon leaves
// nothing either. Until then it sleeps, with the two capabilities that it needs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"

namespace tallyfs {

class Watchdog {
 public:
  // Forks; returns in the daemon. From then on the watchdog owns the socket's files. below: the
  // number of a mount on the same path, which the watchdog removes after ours.
  static Result<Watchdog> start(FeedSocket& socket, const std::string& mount_point,
                                std::optional<std::uint64_t> below);
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
