#include "fs/mount.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tallyfs {
namespace {

class Arguments {
 public:
  ~Arguments() { fuse_opt_free_args(&args_); }
  void add(const std::string& argument) {
    if (fuse_opt_add_arg(&args_, argument.c_str()) != 0) std::abort();
  }
  fuse_args* get() { return &args_; }

 private:
  fuse_args args_ = FUSE_ARGS_INIT(0, nullptr);
};

// Advice for a mount that the kernel, or fusermount3, which prints its own reason, has refused.
const char* advice_on(int error) {
  if (error == EACCES && ::access("/dev/fuse", R_OK | W_OK) != 0) {
    return "; /dev/fuse is not open to you: as root, chmod 0666 /dev/fuse";
  }
  if (error != EPERM) return "";
  return ::geteuid() == 0 ? "; it takes CAP_SYS_ADMIN, also in a container"
                          : "; name a directory that you own, on which fusermount3 can mount";
}

}  // namespace

Result<FuseSession> new_session(const std::vector<std::string>& mount_options,
                                const fuse_lowlevel_ops& table, void* operations) {
  Arguments arguments;
  arguments.add("tallyfs");
  for (const std::string& option : mount_options) {
    arguments.add("-o");
    arguments.add(option);
  }
  FuseSession session(fuse_session_new(arguments.get(), &table, sizeof table, operations));
  if (!session) return Error{ErrorCode::kInvalid, "the mount options were refused"};
  return session;
}

Result<Mount> Mount::make(const std::string& mount_point,
                          const std::vector<std::string>& mount_options) {
  static const fuse_lowlevel_ops kNone{};
  auto session = new_session(mount_options, kNone, nullptr);
  if (!session) return session.error();
  errno = 0;
  if (fuse_session_mount(session.value().get(), mount_point.c_str()) != 0) {
    std::string reason("cannot mount on ");
    reason.append(mount_point);
    if (errno != 0) reason.append(": ").append(std::strerror(errno)).append(advice_on(errno));
    return Error{ErrorCode::kInvalid, reason};
  }
  const int fd = fuse_session_fd(session.value().get());
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return Mount(std::move(session.value()), Fd(), mount_point);
}

bool Mount::is_gone() const {
  pollfd each{.fd = fd(), .events = 0, .revents = 0};
  return ::poll(&each, 1, 0) == 1 && (each.revents & POLLERR) != 0;
}

void Mount::remove() {
  if (fd_.valid()) return remove_by_path();
  if (!session_) return;
  fuse_session_unmount(session_.get());
  session_.reset();
}

// Does what libfuse does.
void Mount::remove_by_path() {
  const bool is_there = !is_gone();
  fd_.reset();
  if (!is_there || ::umount2(mount_point_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return;
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("fusermount3", "fusermount3", "-u", "-q", "-z", "--", mount_point_.c_str(), nullptr);
    ::_exit(127);
  }
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// For a removed mount libfuse only frees its memory. An existing mount it would remove by its path,
// where another mount may be by now.
void Mount::leave() {
  if (session_ && is_gone()) fuse_session_unmount(session_.get());
  session_.reset();
  fd_.reset();
}

}  // namespace tallyfs
