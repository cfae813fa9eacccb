// Watches whether the mount is still there in the daemon's own mount namespace. A copy in another
// one (a container, a service with PrivateTmp=), or an open file of a lazy unmount, keeps the
// daemon alive after an unmount here; then the log says so.
//
// Confined to the event loop's thread. Bound: one look at the table of mounts for each change of
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "feeders/intake/event_loop.h"

namespace tallyfs {

class MountWatch {
 public:
  // How long after an unmount the daemon that has no other mount ends by itself.
  static constexpr std::chrono::seconds kEndMax{1};

  // mount_point has the mount. Watches nothing if the table of mounts cannot be read. The loop runs
  // no longer than this lives.
  MountWatch(EventLoop& loop, std::string mount_point);

 private:
  void look();

  EventLoop& loop_;
  const std::string mount_point_;
  const std::optional<std::uint64_t> mount_;
  bool is_gone_ = false;
};

}  // namespace tallyfs
