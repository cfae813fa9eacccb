// What systemd keeps of a keeper for the case that it is killed: a service with
// FileDescriptorStoreMax= gives it descriptors to hold (sd_pid_notify_with_fds(3), FDSTORE=1), and
// the next start of the service gets them back. So the mount and what waits in the socket outlive
// the keeper, as they outlive a server. Requests wait until then.
//
// Confined to the daemon's main process. Without systemd, or without room there, nothing is kept.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fs/daemon/inheritance.h"
#include "fs/daemon/options.h"
#include "fs/keeper/handover.h"

namespace tallyfs {

class DescriptorStore {
 public:
  explicit DescriptorStore(const Inheritance& inheritance);

  // Gives them; those that are there stay as they are.
  void put() const;
  // Has systemd close them: they are of no use any more.
  static void clear();

 private:
  std::vector<std::pair<std::string, int>> messages_;
};

// A descriptor that systemd has passed, with the name that it has there.
struct StoredDescriptor {
  std::string name;
  Fd fd;
};
// Whether DescriptorStore gives names like this one; sockets of systemd's units have others.
bool is_stored_name(std::string_view name);

// The mount of a keeper that was killed, not yet served again.
struct StoredMount {
  Fd fd;  // of /dev/fuse
  Handover handover;
};
struct Stored {
  std::optional<StoredMount> mount;
  std::optional<FeedSocket::Transferred> socket;  // nothing: there was none but one of systemd's
};
// What is among them: the mount if it is whole and lies on the mount point, which is an absolute
// path; no file below that is looked at, which would wait for ever. The socket if it has the path
// of the options. Closes all others, and has systemd do so.
Stored take_stored(std::vector<StoredDescriptor> passed, const DaemonOptions& options);

}  // namespace tallyfs
