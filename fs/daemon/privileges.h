// Drops the privileges that the daemon does not need once it is mounted: root is needed for the
// mount, the socket and its queue, not for serving them. Confined to the daemon's start.
//
// Credentials belong to threads: it must happen before the second one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/base/result.h"
#include "fs/group_access.h"

namespace tallyfs {

// The identity with which the daemon goes on.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
};

// The identity of USER[:GROUP], names or numbers; without a group it is the user's own. kNotFound
// names the missing user or group; a uid without an account needs a group.
Result<Identity> find_identity(const std::string& text);

// Of the option --run-as, as find_identity(); nothing: it is empty, and the daemon keeps its
// identity. kNotPermitted: only root can change it.
Result<std::optional<Identity>> identity_for(const std::string& run_as);

// The groups of --group and --write-group, names or numbers; empty: none. kNotFound.
Result<Groups> find_groups(const std::string& readers, const std::string& writers);

// Permanent: no program that is executed gets privileges back, nor does the bounding set hold any.
//   to an identity: that uid, that group and no other, no capability.
//   to none, as root: root with CAP_SYS_ADMIN, to unmount at the end, and CAP_DAC_OVERRIDE, to
//     answer feeders on their sockets and to remove its own socket from any directory; and
//     CAP_CHOWN, if it gives what it keeps to another uid.
//   to none, as another user with CAP_SYS_ADMIN: no capability; the watchdog unmounts then.
//   to none, as another user: nothing happens; fusermount3 unmounts then.
// A keeper executes this program anew (SIGUSR2): that has then what the keeper has left, as root.
// kNotPermitted: the kernel refused.
enum class Executes { kNothing, kOwnProgram };
enum class GivesFiles { kNo, kYes };
Result<void> drop_privileges(const std::optional<Identity>& to, Executes executes,
                             GivesFiles gives);

// Whether this process is not root, and mounts by CAP_SYS_ADMIN all the same, as a service does
// with User= and AmbientCapabilities=.
bool mounts_by_capability();

// For the server of a keeper, which executes no program: none that is executed gets them.
void keep_to_oneself();

// As drop_privileges() to none, for a process that was root and stays root.
Result<void> keep_only_what_unmounts(Executes executes = Executes::kNothing,
                                     GivesFiles gives = GivesFiles::kNo);

// The same for the process that starts the feeder of the kernel's events, and for that: root with
// CAP_DAC_OVERRIDE, to send to any socket and to open any program, CAP_SYSLOG, to read the kernel's
// symbols, and CAP_SYS_PTRACE, to follow /proc/PID/root to programs of containers. It has opened
// tracefs before.
Result<void> keep_only_what_traces();

}  // namespace tallyfs
