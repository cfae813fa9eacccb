// Does at the end what a daemon that is no longer root may not: takes the mount away, and the
// socket's files. A process of its own, forked before the first thread and before privileges are
// dropped. It knows the daemon's end by the end of a pipe, so a daemon that was killed leaves
// nothing either; until then it sleeps, with the two capabilities that it needs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"

namespace tallyfs {

class Caretaker {
 public:
  // Forks; returns in the daemon. The socket's files are the caretaker's from then on.
  static Result<Caretaker> employ(FeedSocket& socket, const std::string& mount_point);
  Caretaker(Caretaker&& other) noexcept = default;
  Caretaker& operator=(Caretaker&&) = delete;
  ~Caretaker() { put_away(); }

  // What is mounted there now is what it shall take away: that mount and no other.
  void mounted();
  // Has it do its work, and returns when that is done.
  void put_away();

 private:
  Caretaker(Fd pipe, pid_t process, std::string mount_point)
      : pipe_(std::move(pipe)), process_(process), mount_point_(std::move(mount_point)) {}

  Fd pipe_;
  pid_t process_;
  std::string mount_point_;
};

}  // namespace tallyfs
