#include "fs/daemon/watchdog.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "fs/daemon/kernel_feeder/side_process.h"
#include "fs/daemon/mount_point.h"
#include "fs/daemon/privileges.h"

namespace tallyfs {
namespace {

// The mount that the daemon has made, as the daemon reports it; nothing: the pipe has ended.
std::optional<std::uint64_t> wait_for_mount(const Fd& pipe) {
  std::uint64_t mount = 0;
  ssize_t size = 0;
  do {
    size = ::read(pipe.get(), &mount, sizeof mount);
  } while (size < 0 && errno == EINTR);
  return size == sizeof mount ? std::optional(mount) : std::nullopt;
}

// Removes that mount, if no other lies on it.
void remove_mount(const std::string& mount_point, std::optional<std::uint64_t> mount) {
  if (!mount || topmost_mount(mount_point) != mount) return;
  ::umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

[[noreturn]] void watch(const Fd& pipe, FeedSocket& socket, const std::string& mount_point,
                        std::optional<std::uint64_t> below) {
  ignore_ending_signals();
  let_go();
  ::prctl(PR_SET_NAME, "tallyfs-unmount");
  socket.close();
  if (!keep_only_what_unmounts()) ::_exit(1);
  std::optional<std::uint64_t> mount;
  while (const auto made = wait_for_mount(pipe)) mount = made;
  remove_mount(mount_point, mount);
  remove_mount(mount_point, below);
  socket.remove_files();
  ::_exit(0);
}

}  // namespace

Result<Watchdog> Watchdog::start(FeedSocket& socket, const std::string& mount_point,
                                 std::optional<std::uint64_t> below) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorCode::kInvalid, std::string("cannot make a pipe: ") + std::strerror(errno)};
  }
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0)
    return Error{ErrorCode::kInvalid, std::string("cannot fork: ") + std::strerror(errno)};
  if (child == 0) {
    writing.reset();
    watch(reading, socket, mount_point, below);
  }
  socket.leave_files();
  return Watchdog(std::move(writing), child, mount_point);
}

// Looked up here: the watchdog may look later, when another mount is there. A killed watchdog does
// no harm.
void Watchdog::mounted() {
  const auto mount = topmost_mount(mount_point_);
  if (mount) (void)!::write(pipe_.get(), &*mount, sizeof *mount);
}

void Watchdog::clean_up() {
  if (!pipe_.valid()) return;
  pipe_.reset();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tallyfs
