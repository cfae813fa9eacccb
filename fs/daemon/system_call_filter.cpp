#include "fs/daemon/system_call_filter.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace tallyfs {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kHasLeakSanitizer = true;
#elif defined(__has_feature)
constexpr bool kHasLeakSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kHasLeakSanitizer = false;
#endif

constexpr const char* kForbidden[] = {
    // Mounts, and namespaces.
    "mount", "umount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick",
    "move_mount", "open_tree", "mount_setattr", "setns", "unshare",
    // Programs, and other processes.
    "execve", "execveat", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
    "pidfd_getfd",
    // Identities, and rights.
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid",
    "setgroups", "capset", "personality",
    // The kernel, and the machine.
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "quotactl", "acct", "syslog", "add_key",
    "request_key", "keyctl", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
    "sethostname", "setdomainname", "iopl", "ioperm", "mknod", "mknodat",
    "open_by_handle_at", "fanotify_init"};

struct Release {
  void operator()(scmp_filter_ctx filter) const { ::seccomp_release(filter); }
};
using Filter = std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release>;

// 0, or a negative errno.
int forbid(const Filter& filter, const char* name) {
  const int call = ::seccomp_syscall_resolve_name(name);
  // This architecture, or this libseccomp, may not know it.
  if (call == __NR_SCMP_ERROR) return 0;
  return ::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0);
}

// If its first argument compares so.
int forbid(const Filter& filter, int call, scmp_compare operation, std::uint64_t a,
           std::uint64_t b = 0) {
  const scmp_arg_cmp condition{.arg = 0, .op = operation, .datum_a = a, .datum_b = b};
  return ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 1, &condition);
}

int forbid_sockets(const Filter& filter) {
  constexpr std::uint64_t kFamilies = AF_MAX;
  const int call = SCMP_SYS(socket);
  int error = forbid(filter, call, SCMP_CMP_GE, kFamilies);
  for (std::uint64_t family = 0; family < kFamilies && error == 0; ++family) {
    if (family == AF_UNIX || family == AF_NETLINK) continue;
    error = forbid(filter, call, SCMP_CMP_EQ, family);
  }
  return error;
}

// Those that make namespaces. The flags of clone3(2) are out of a filter's reach: without it, the C
// library takes clone(2).
int forbid_namespaces(const Filter& filter) {
  constexpr std::uint64_t kMade[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                     CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
  int error = ::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  for (const std::uint64_t made : kMade) {
    if (error != 0) break;
    error = forbid(filter, SCMP_SYS(clone), SCMP_CMP_MASKED_EQ, made, made);
  }
  return error;
}

int install() {
  const Filter filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (!filter) return -ENOMEM;
  int error = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  for (const char* name : kForbidden) {
    if (error == 0) error = forbid(filter, name);
  }
  // LeakSanitizer looks into threads by it.
  if (error == 0 && !kHasLeakSanitizer) error = forbid(filter, "ptrace");
  if (error == 0) error = forbid_sockets(filter);
  if (error == 0) error = forbid_namespaces(filter);
  return error == 0 ? ::seccomp_load(filter.get()) : error;
}

}  // namespace

Result<void> forbid_unneeded_calls() {
  const int error = install();
  if (error == 0) return {};
  return Error{ErrorCode::kNoDevice,
               std::string("no filter for system calls: ").append(std::strerror(-error))};
}

}  // namespace tallyfs
