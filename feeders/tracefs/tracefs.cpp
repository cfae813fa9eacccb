#include "feeders/tracefs/tracefs.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "core/tracing/format/format.h"

namespace tallyfs {
namespace {

constexpr const char* kMountPoint = "/sys/kernel/tracing";
constexpr const char* kUsersReason =
    "not root: /sys/kernel/tracing is no tracefs that can be read here, and mounting one needs "
    "CAP_SYS_ADMIN";
constexpr const char* kRootsReason =
    "no tracefs can be reached: none is mounted on /sys/kernel/tracing, or another file system "
    "lies over it, and mounting one needs CAP_SYS_ADMIN: mount -t tracefs nodev "
    "/sys/kernel/tracing before tallyfs starts, and lay tracing/ over it by --over-tracefs";

// The second one serves where a file system, perhaps our own, lies over the first.
Fd open_mounted() {
  for (const char* const path : {kMountPoint, "/sys/kernel/debug/tracing"}) {
    struct statfs status {};
    Fd root(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.valid() && ::fstatfs(root.get(), &status) == 0 && status.f_type == TRACEFS_MAGIC) {
      return root;
    }
  }
  return {};
}

std::string read_lockdown() {
  std::ifstream file("/sys/kernel/security/lockdown");
  std::string modes;
  std::getline(file, modes);
  return modes;
}

Error cannot_mount() {
  if (errno == ENODEV) return {ErrorCode::kNotFound, "this kernel has no tracefs"};
  if (errno == EPERM) {
    return {ErrorCode::kNotPermitted, ::geteuid() == 0 ? kRootsReason : kUsersReason};
  }
  return system_error("cannot mount tracefs");
}

}  // namespace

Error system_error(const std::string& what) {
  const int error = errno;
  const bool forbidden = error == EPERM || error == EACCES;
  const ErrorCode code = forbidden         ? ErrorCode::kNotPermitted
                         : error == ENOENT ? ErrorCode::kNotFound
                                           : ErrorCode::kInvalid;
  std::string reason = what + ": " + std::strerror(error);
  if (forbidden)
    reason.append(" (").append(why_forbidden(::geteuid(), read_lockdown())).append(")");
  return {code, reason};
}

// The kernel refuses its tracing to root, too, once it is locked down for confidentiality.
std::string why_forbidden(uid_t user, std::string_view lockdown) {
  if (user != 0) return "not root?";
  if (lockdown.find("[confidentiality]") != lockdown.npos) return "this kernel is locked down";
  return "no right of root here: a container?";
}

Result<Fd> open_tracefs(int given) {
  if (given >= 0) {
    Fd same(::fcntl(given, F_DUPFD_CLOEXEC, 0));
    if (same.valid()) return same;
    return system_error("cannot use the tracefs that this process was given");
  }
  if (Fd mounted = open_mounted(); mounted.valid()) return mounted;
  const Fd context(::fsopen("tracefs", FSOPEN_CLOEXEC));
  if (!context.valid() ||
      ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return cannot_mount();
  }
  Fd root(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  if (!root.valid()) return cannot_mount();
  return root;
}

Result<Fd> open_tracefs_to_keep() {
  auto root = open_tracefs();
  if (!root) return root;
  constexpr unsigned kFlags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
  Fd clone(::open_tree(root.value().get(), "", kFlags));
  if (clone.valid()) return clone;
  return root;
}

Result<std::string> read_text(const Fd& directory, const std::string& path) {
  const Fd file(::openat(directory.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return system_error("cannot open " + path);
  std::string text(tracing::kFormatBytesMax, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const auto size = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (size < 0) return system_error("cannot read " + path);
    if (size == 0) break;
    filled += static_cast<std::size_t>(size);
  }
  text.resize(filled);
  return text;
}

Result<void> write_text(const Fd& directory, const std::string& path, const std::string& text) {
  const Fd file(::openat(directory.get(), path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return system_error("cannot open " + path);
  if (!text.empty() && ::write(file.get(), text.data(), text.size()) < 0) {
    return system_error("cannot write '" + text + "' to " + path);
  }
  return {};
}

// The number is the kernel's PROC_PID_INIT_INO (include/linux/proc_ns.h).
bool sees_kernels_pids() {
  constexpr ino_t kFirst = 0xEFFFFFFC;
  struct stat of {};
  return ::stat("/proc/self/ns/pid", &of) != 0 || of.st_ino == kFirst;
}

std::vector<std::string> list_names(const Fd& directory, const std::string& path) {
  std::vector<std::string> names;
  const int fd = ::openat(directory.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : ::fdopendir(fd),
                                                    &::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace tallyfs
