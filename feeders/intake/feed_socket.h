// The socket that feeders send to, as a file in the file system: made, taken over from a daemon
// that died, or handed in by systemd; removed with its owner. Confined to the thread that made it;
// the descriptor may be used from any.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/socket_file/socket_lock.h"

namespace tallyfs {

class FeedSocket {
 public:
  // The length of the queue of datagrams decides throughput more than anything else
  // (docs/performance.md); the kernel's default is 10.
  static constexpr unsigned kQueueLength = 512;
  // Responses to feeders that do not read them may have so much memory, all together.
  static constexpr int kResponsesBytes = 4 << 20;

  struct Options {
    std::string path;
    unsigned permissions = 0666;  // write permission is permission to feed
    unsigned queue_length = kQueueLength;
  };

  // Binds to the path, making its last directory if need be. A socket there that no process
  // holds is taken over; one that is held is left alone (kBusy). Everything else that goes wrong is
  // kInvalid with the reason and what to do.
  static Result<FeedSocket> bind(const Options& options);
  // Takes a bound AF_UNIX datagram socket that another process made and will remove.
  static Result<FeedSocket> adopt(int fd);

  // Another program in this process needs this to continue with it, see take_over().
  struct Transferred {
    int fd = -1;
    int lock = -1;
    std::string path;
    std::optional<std::pair<dev_t, ino_t>> bound;
    bool made_directory = false;
    std::optional<unsigned> queue_length;
  };
  Transferred save_for_successor() const;
  static FeedSocket take_over(const Transferred& from);

  FeedSocket(FeedSocket&& other) noexcept
      : lock_(std::move(other.lock_)),
        fd_(std::move(other.fd_)),
        path_(std::move(other.path_)),
        bound_(std::exchange(other.bound_, std::nullopt)),
        made_directory_(std::exchange(other.made_directory_, {})),
        queue_length_(other.queue_length_) {}
  FeedSocket& operator=(FeedSocket&&) = delete;
  // Removes the files.
  ~FeedSocket() { remove_files(); }

  // For two processes that have it after a fork, one to serve the socket, one to remove its files:
  // the first leaves them to the other, which closes what it does not need.
  void leave_files();
  void close() { fd_.reset(); }
  // From now on a send() to it fails (EPIPE), in all processes that have it, and for good. What is
  // queued can still be read. False: it was adopted, and waits for the next daemon.
  bool refuse_senders();
  // The socket's file and its lock if we made them, and the directory if we made that.
  void remove_files();

  int fd() const { return fd_.get(); }
  // Empty if it was adopted.
  const std::string& path() const { return path_; }
  // Where senders find it, also one that systemd passed. Empty: it has no path, or none is known.
  std::string place() const;
  // How many datagrams may wait in it; nothing if the socket was adopted, since the
  // kernel does not tell.
  std::optional<unsigned> queue_length() const { return queue_length_; }

 private:
  FeedSocket() = default;
  Result<void> make_directory();

  SocketLock lock_;
  Fd fd_;
  std::string path_;
  std::optional<std::pair<dev_t, ino_t>> bound_;  // the file that we made
  std::string made_directory_;
  std::optional<unsigned> queue_length_;
};

// /run/tallyfs/socket for root, else $XDG_RUNTIME_DIR/tallyfs/socket; nothing if that is not set.
std::string default_socket_path();

}  // namespace tallyfs
