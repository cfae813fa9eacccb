#include "tools/ctl/machine_checks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/base/fd.h"
#include "tools/display/quantity.h"
#include "tools/tree/mount_table.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Without a look at it: a dead mount answers none.
std::string absolute_path(const std::string& path) {
  std::error_code error;
  std::string made = std::filesystem::absolute(path, error).lexically_normal().string();
  while (made.size() > 1 && made.ends_with('/')) made.pop_back();
  return made;
}

}  // namespace

Finding check_fuse_device(const std::string& device) {
  const Fd file(::open(device.c_str(), O_RDWR | O_CLOEXEC));
  if (file.valid()) return {Level::kOk, "fuse", device + " can be opened", ""};
  if (errno == ENOENT || errno == ENODEV || errno == ENXIO) {
    return {Level::kFailure, "fuse", device + " is not there", "as root: modprobe fuse"};
  }
  return {Level::kWarning, "fuse", device + ": " + std::strerror(errno),
          "chmod 0666 " + device + " as root, or mount as root"};
}

Finding check_fusermount() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::string program = folder + "/fusermount3";
    if (::access(program.c_str(), X_OK) == 0) return {Level::kOk, "fusermount3", program, ""};
  }
  if (::geteuid() == 0) return {Level::kOk, "fusermount3", "not found; root needs none", ""};
  return {Level::kFailure, "fusermount3", "not found: users other than root cannot mount",
          "apt install fuse3"};
}

Findings check_mounts(const std::string& named) {
  Findings found;
  for (const TallyMount& mount : tally_mounts()) {
    if (!named.empty() && mount.path != absolute_path(named)) continue;
    const auto names = list_in_time(mount.path);
    if (names) continue;
    const std::string& path = mount.path;
    if (names.error().code == ErrorCode::kNoDevice) {
      found.push_back({Level::kWarning, "dead mount", path + ": its daemon is gone",
                       "fusermount3 -u -z " + path});
    } else if (names.error().code == ErrorCode::kTimedOut) {
      found.push_back({Level::kFailure, "mount", path + ": its daemon does not answer",
                       "is it stopped (kill -CONT), or in a debugger? kill -KILL ends it"});
    } else if (names.error().code == ErrorCode::kNoAccess) {
      found.push_back({Level::kWarning, "rights",
                       path + ": closed to this user, as it has no allow_other",
                       "look as uid " + std::to_string(mount.owner) +
                           ", or mount with -o allow_other and --group"});
    }
  }
  return found;
}

Finding check_clock(const std::string& source) {
  const std::string name = first_line(source);
  if (name.empty()) return {Level::kOk, "clock", "its source is not known here", ""};
  const bool is_fast = name == "tsc" || name == "arch_sys_counter" || name == "kvm-clock" ||
                       name == "hyperv_clocksource_tsc_page";
  if (is_fast) return {Level::kOk, "clock", "read from " + name, ""};
  return {Level::kWarning, "clock", "read from " + name + ", which takes a system call each time",
          "tally-clock says what that costs; the kernel's log says why it is not tsc"};
}

std::optional<std::string> installed_libtally() {
  const std::unique_ptr<void, CloseLibrary> library(::dlopen("libtally.so.0", RTLD_LAZY));
  if (!library) return std::nullopt;
  void* const found = ::dlsym(library.get(), "tally_version");
  return found ? reinterpret_cast<const char* (*)()>(found)() : "unknown";
}

Finding check_jump(std::int64_t moved_us) {
  constexpr std::int64_t kSlewMax = 20'000;
  const std::int64_t size = moved_us < 0 ? -moved_us : moved_us;
  if (size <= kSlewMax) return {Level::kOk, "time of day", "goes on evenly", ""};
  return {Level::kWarning, "time of day",
          "jumped by " + view::duration_text(static_cast<std::uint64_t>(size)) + " just now",
          "intervals are not hurt; times of day in tables of before are; see what sets the clock"};
}

}  // namespace tallyfs
