// The watchdog of a daemon that is no longer root, or whose mount hides another mount. At the
// daemon's end it removes the mount and the socket's files, and the mount below if that was made
// for the daemon. It is a process of its own, forked before the first thread and before privileges
// are dropped. It learns of the daemon's end by the end of a pipe, so that a killed daemon leaves
// nothing either. Until then it sleeps, with the two capabilities that it needs. A second one
// waits for the first one, and cleans up if that was killed before it had.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"

namespace tallyfs {

class Watchdog {
 public:
  enum class Place { kFirst, kSpare };

  // Forks; returns in the daemon. From then on the watchdogs own the socket's files. below: the
  // number of a mount on the same path, which the watchdogs remove after ours.
  static Result<Watchdog> start(FeedSocket& socket, const std::string& mount_point,
                                std::optional<std::uint64_t> below);
  // What another program needs to go on with them in this process, see take_over().
  struct Transferred {
    int pipe = -1;
    pid_t id = 0;
  };
  std::vector<Transferred> save_for_successor() const;
  static Watchdog take_over(std::string mount_point, const std::vector<Transferred>& from);
  Watchdog(Watchdog&& other) noexcept = default;
  Watchdog& operator=(Watchdog&&) = delete;
  ~Watchdog() { clean_up(); }

  // Tells the watchdogs which mount to remove: the one that is there now, and no other.
  void mounted();
  // In a child of this process, which the watchdogs do not watch.
  void leave() { processes_.clear(); }
  // Ends the watchdogs, after they have cleaned up. Returns when that is done.
  void clean_up();

 private:
  struct Process {
    Fd pipe;
    pid_t id = 0;
  };

  Watchdog(std::string mount_point, std::optional<std::uint64_t> below)
      : mount_point_(std::move(mount_point)), below_(below) {}
  // done: the end of a pipe by which the first tells the spare that it has cleaned up.
  Result<void> start_next(FeedSocket& socket, Place place, const Fd& done);

  std::vector<Process> processes_;
  std::string mount_point_;
  std::optional<std::uint64_t> below_;
};

}  // namespace tallyfs
