// The right to bind a socket's path: a lock on PATH.lock beside it, held as long as the daemon
// lives. So of two daemons that start at once one goes on, and none that ends takes away the
// socket of its successor. Only the daemon's own uid and root can open the file; one that another
// uid put there is refused. Confined to the thread that made it.
#pragma once

#include <string>
#include <utility>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

class SocketLock {
 public:
  // kBusy: another daemon has it. kInvalid: the file cannot be made, or belongs to another uid.
  static Result<SocketLock> take(const std::string& socket_path);
  // Adopts a lock that the last program of this process took before it executed this one.
  static SocketLock adopt(const std::string& socket_path, Fd fd) {
    return SocketLock(socket_path + ".lock", std::move(fd));
  }
  SocketLock() = default;
  SocketLock(SocketLock&&) = default;
  SocketLock& operator=(SocketLock&&) = default;  // to one that holds nothing
  ~SocketLock() { release(); }
  // Whether the path still leads to the file that is locked.
  bool is_ours() const;
  int fd() const { return fd_.get(); }
  // Removes the file if it is ours, then lets go.
  void release();
  // After a fork: the other process has it, and removes the file.
  void leave() { fd_.reset(); }

 private:
  SocketLock(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
};

}  // namespace tallyfs
