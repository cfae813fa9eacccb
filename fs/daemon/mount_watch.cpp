#include "fs/daemon/mount_watch.h"

#include <fcntl.h>

#include <utility>

#include "core/base/fd.h"
#include "fs/daemon/mount_point.h"
#include "program/log.h"

namespace tallyfs {

// The kernel tells of each change of the table by an exceptional condition (poll(2) of
// /proc/self/mountinfo).
MountWatch::MountWatch(EventLoop& loop, std::string mount_point)
    : loop_(loop), mount_point_(std::move(mount_point)), mount_(topmost_mount(mount_point_)) {
  Fd table(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (table.valid() && mount_) loop_.on_exception(std::move(table), [this] { look(); });
}

void MountWatch::look() {
  if (is_gone_ || has_mount(mount_point_, *mount_)) return;
  is_gone_ = true;
  loop_.after(kEndMax, [this] {
    log_warning(mount_point_ +
                " is unmounted here, but a mount namespace has a copy of it, or a process uses it: "
                "the daemon goes on until the last is gone. findmnt -N PID shows the mounts of a "
                "process; kill ends the daemon");
  });
}

}  // namespace tallyfs
