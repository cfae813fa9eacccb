#include "fs/daemon/watchdog.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "fs/daemon/kernel_feeder/side_process.h"
#include "fs/daemon/mount_point.h"
#include "fs/daemon/privileges.h"

namespace tallyfs {
namespace {

// The mount that the daemon has made, as the daemon reports it; nothing: the pipe has ended, or it
// is time to clean up.
std::optional<std::uint64_t> wait_for_mount(const Fd& pipe) {
  std::uint64_t mount = 0;
  ssize_t size = 0;
  do {
    size = ::read(pipe.get(), &mount, sizeof mount);
  } while (size < 0 && errno == EINTR);
  return size == sizeof mount ? std::optional(mount) : std::nullopt;
}

struct Watch {
  const char* name;
  const Fd& pipe;
  const Fd& done;  // of the first: where it says that it has cleaned up; of the second: where from
  const std::string& mount_point;
  std::optional<std::uint64_t> below;
};

// False: it ended without having done it.
bool has_cleaned_up(const Fd& done) {
  char byte = 0;
  ssize_t size = 0;
  do {
    size = ::read(done.get(), &byte, 1);
  } while (size < 0 && errno == EINTR);
  return size == 1;
}

// Removes that mount, if no other lies on it.
void remove_mount(const std::string& mount_point, std::optional<std::uint64_t> mount) {
  if (!mount || topmost_mount(mount_point) != mount) return;
  ::umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

[[noreturn]] void watch(const Watch& watch, Watchdog::Place place, FeedSocket& socket) {
  ignore_ending_signals();
  let_go();
  ::prctl(PR_SET_NAME, watch.name);
  socket.close();
  if (!keep_only_what_unmounts()) ::_exit(1);
  std::optional<std::uint64_t> mount;
  while (const auto made = wait_for_mount(watch.pipe)) mount = made;
  if (place == Watchdog::Place::kSpare && has_cleaned_up(watch.done)) ::_exit(0);
  remove_mount(watch.mount_point, mount);
  remove_mount(watch.mount_point, watch.below);
  socket.remove_files();
  if (place == Watchdog::Place::kFirst) (void)!::write(watch.done.get(), "", 1);
  ::_exit(0);
}

Error failed(const char* what) {
  return {ErrorCode::kInvalid, std::string("cannot ") + what + ": " + std::strerror(errno)};
}

}  // namespace

Result<Watchdog> Watchdog::start(FeedSocket& socket, const std::string& mount_point,
                                 std::optional<std::uint64_t> below) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make a pipe");
  Fd told(ends[0]);
  Fd tells(ends[1]);
  Watchdog watchdog(mount_point, below);
  auto first = watchdog.start_next(socket, Place::kFirst, tells);
  if (!first) return first.error();
  tells.reset();
  auto spare = watchdog.start_next(socket, Place::kSpare, told);
  if (!spare) return spare.error();
  socket.leave_files();
  return watchdog;
}

Result<void> Watchdog::start_next(FeedSocket& socket, Place place, const Fd& done) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make a pipe");
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failed("fork");
  if (child == 0) {
    writing.reset();
    for (Process& other : processes_) other.pipe.reset();
    const char* const name = place == Place::kFirst ? "tallyfs-unmount" : "tallyfs-spare";
    watch({name, reading, done, mount_point_, below_}, place, socket);
  }
  processes_.push_back({std::move(writing), child});
  return {};
}

std::vector<Watchdog::Transferred> Watchdog::save_for_successor() const {
  std::vector<Transferred> all;
  for (const Process& each : processes_) all.push_back({each.pipe.get(), each.id});
  return all;
}

Watchdog Watchdog::take_over(std::string mount_point, const std::vector<Transferred>& from) {
  Watchdog watchdog(std::move(mount_point), std::nullopt);
  for (const Transferred& each : from) watchdog.processes_.push_back({Fd(each.pipe), each.id});
  return watchdog;
}

// Looked up here: the watchdogs may look later, when another mount is there. A killed one does no
// harm.
void Watchdog::mounted() {
  const auto mount = topmost_mount(mount_point_);
  if (!mount) return;
  for (const Process& each : processes_) {
    (void)!::write(each.pipe.get(), &*mount, sizeof *mount);
  }
}

// Each is told, too: systemd may have copies of the pipes (DescriptorStore).
void Watchdog::clean_up() {
  for (Process& each : processes_) {
    (void)!::write(each.pipe.get(), "", 1);
    each.pipe.reset();
  }
  for (const Process& each : processes_) {
    while (::waitpid(each.id, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  processes_.clear();
}

}  // namespace tallyfs
