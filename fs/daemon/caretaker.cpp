#include "fs/daemon/caretaker.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "fs/daemon/mount_point.h"
#include "fs/daemon/privileges.h"

namespace tally {
namespace {

// Signals that end the daemon reach its process group, or its control group, as a whole.
void ignore_signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
}

// Whoever waits for the end of the daemon's output waits for the daemon only.
void let_go() {
  (void)::chdir("/");
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int standard = 0; standard <= 2; ++standard) ::dup2(null.get(), standard);
}

// False at the pipe's end.
bool wait_for_word(const Fd& pipe) {
  char byte = 0;
  ssize_t size = 0;
  do {
    size = ::read(pipe.get(), &byte, 1);
  } while (size < 0 && errno == EINTR);
  return size == 1;
}

[[noreturn]] void take_care(const Fd& pipe, FeedSocket& socket, const std::string& mount_point) {
  ignore_signals();
  let_go();
  ::prctl(PR_SET_NAME, "tallyfs-unmount");
  socket.close();
  if (!keep_only_what_unmounts()) ::_exit(1);
  std::optional<std::uint64_t> mount;
  while (wait_for_word(pipe)) mount = topmost_mount(mount_point);
  if (mount && topmost_mount(mount_point) == mount) {
    ::umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
  socket.remove_files();
  ::_exit(0);
}

}  // namespace

Result<Caretaker> Caretaker::employ(FeedSocket& socket, const std::string& mount_point) {
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
    take_care(reading, socket, mount_point);
  }
  socket.leave_files();
  return Caretaker(std::move(writing), child);
}

void Caretaker::mounted() {
  const char byte = 1;
  (void)!::write(pipe_.get(), &byte, 1);  // a caretaker that was killed does no harm here
}

void Caretaker::put_away() {
  if (!pipe_.valid()) return;
  pipe_.reset();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tally
