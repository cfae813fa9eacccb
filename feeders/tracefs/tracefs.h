// The kernel's tracefs by a directory descriptor, and its small files. System-call wrappers:
// errno ends here, in the reason of an Error.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

// An existing mount of tracefs, or else a detached mount of our own, which no other process sees
// and which ends with its last descriptor. kNotPermitted: that takes root. kNotFound: this kernel
// has no tracefs.
// given: a descriptor of tracefs that this process was started with, which is duplicated instead;
// -1: none.
Result<Fd> open_tracefs(int given = -1);
// open_tracefs() for a process that keeps the descriptor. With CAP_SYS_ADMIN it is a detached
// clone, so that the mount can be unmounted, or covered, meanwhile.
Result<Fd> open_tracefs_to_keep();

// A file below the directory; at most 64 KiB of it.
Result<std::string> read_text(const Fd& directory, const std::string& path);
Result<void> write_text(const Fd& directory, const std::string& path, const std::string& text);
// The names in a directory below it, `.` and `..` not among them; none if there is no such one.
std::vector<std::string> list_names(const Fd& directory, const std::string& path);

// Whether the process ids of the kernel's events are those that this process sees, which is in the
// kernel's first PID namespace. True if that is unknown.
bool sees_kernels_pids();

// "what: why", with the errno of the call before.
Error system_error(const std::string& what);
// A text with the likely cause of EPERM and EACCES. lockdown: the file
// /sys/kernel/security/lockdown; empty: it is not there.
std::string why_forbidden(uid_t user, std::string_view lockdown);

}  // namespace tallyfs
