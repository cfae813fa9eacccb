// A mount that exists before it is served: libfuse mounts it, by its own rights or by fusermount3,
// and sessions take its descriptor (fs/session.h). No request is read here.
//
// Confined to the thread that made it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "fs/protocol.h"

namespace tallyfs {

// A libfuse session that is destroyed by its owner; destroying it closes its descriptor.
struct DestroySession {
  void operator()(fuse_session* session) const { fuse_session_destroy(session); }
};
using FuseSession = std::unique_ptr<fuse_session, DestroySession>;

// kInvalid: an option was refused. operations: what the requests are served with.
Result<FuseSession> new_session(const std::vector<std::string>& mount_options,
                                const fuse_lowlevel_ops& table, void* operations);

class Mount {
 public:
  // mount_options: for libfuse, "allow_other", "fsname=...". kInvalid with the system's reason;
  // libfuse itself has printed more on stderr.
  static Result<Mount> make(const std::string& mount_point,
                            const std::vector<std::string>& mount_options);
  // Adopts the mount of the program whose process this one took over.
  static Mount adopt(Fd fd, std::string mount_point) {
    return Mount(nullptr, std::move(fd), std::move(mount_point));
  }
  Mount(Mount&&) = default;
  Mount& operator=(Mount&&) = delete;
  ~Mount() { remove(); }

  // The descriptor of /dev/fuse; not blocking.
  int fd() const { return session_ ? fuse_session_fd(session_.get()) : fd_.get(); }
  // True if it was removed from outside, or aborted.
  bool is_gone() const;
  // Removes it, also while processes still use it; not where is_gone(). Closes the descriptor.
  void remove();
  // Used in place of remove() if another process removes the mount from its path.
  void leave();

 private:
  Mount(FuseSession session, Fd fd, std::string mount_point)
      : session_(std::move(session)), fd_(std::move(fd)), mount_point_(std::move(mount_point)) {}
  void remove_by_path();

  FuseSession session_;  // of a mount that this program has made
  Fd fd_;                // of another one
  std::string mount_point_;
};

}  // namespace tallyfs
