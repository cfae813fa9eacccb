#include "fs/daemon/kernel_feeder/tracefs_access.h"

#include <fcntl.h>
#include <unistd.h>

#include "feeders/tracefs/tracefs.h"

namespace tallyfs {
namespace {

Error unreadable(const std::string& reason) {
  return {ErrorCode::kNotPermitted, "the kernel's events cannot be read: " + reason +
                                        "; tracing/ has the events of programs alone"};
}

}  // namespace

Result<void> check_tracefs() {
  const auto root = open_tracefs();
  if (!root) return unreadable(root.error().reason);
  if (::faccessat(root.value().get(), "instances", W_OK | X_OK, AT_EACCESS) != 0) {
    return unreadable(system_error("no instance can be made in tracefs").reason);
  }
  return {};
}

tracing::ProbeTargets kernel_probes() {
  const auto has = [](const char* path) { return ::access(path, F_OK) == 0; };
  return {.programs = has("/sys/bus/event_source/devices/uprobe"),
          .kernel = has("/sys/bus/event_source/devices/kprobe")};
}

}  // namespace tallyfs
