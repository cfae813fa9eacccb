#include "program/untrusted/renounced_rights.h"

#include <linux/capability.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace tallyfs {
namespace {

bool limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  const rlimit both{.rlim_cur = soft, .rlim_max = hard};
  return ::setrlimit(resource, &both) == 0;
}

bool bound(const RenouncedBounds& bounds) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int word = 0; word < 6; ++word) file >> pages;  // the sixth: data and stack
  const rlim_t memory =
      pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bounds.memory_bytes;
  const auto seconds = static_cast<rlim_t>(bounds.cpu_time.count());
  // At the first bound SIGXCPU ends it, which says why.
  return limit(RLIMIT_DATA, memory, memory) && limit(RLIMIT_CPU, seconds, seconds + 1) &&
         limit(RLIMIT_CORE, 0, 0);
}

bool drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_capset, &header, none.data()) == 0;
}

struct Release {
  void operator()(scmp_filter_ctx filter) const { ::seccomp_release(filter); }
};

bool forbid_other_calls() {
  using Filter = std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release>;
  const Filter filter(::seccomp_init(SCMP_ACT_ERRNO(EPERM)));
  if (!filter) return false;
  for (const int call :
       {SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap),
        SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise), SCMP_SYS(futex),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(exit), SCMP_SYS(exit_group)}) {
    if (::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0) != 0) return false;
  }
  return ::seccomp_load(filter.get()) == 0;
}

}  // namespace

bool close_other_files(std::vector<int> kept_files) {
  std::ranges::sort(kept_files);
  unsigned from = 0;
  for (const int each : kept_files) {
    const auto fd = static_cast<unsigned>(each);
    if (from < fd && ::close_range(from, fd - 1, 0) != 0) return false;
    from = fd + 1;
  }
  return ::close_range(from, ~0U, 0) == 0;
}

Result<void> renounce_rights(std::vector<int> kept_files, const RenouncedBounds& bounds) {
  const auto failed = [](const char* what) {
    return Error{ErrorCode::kNoDevice, std::string("the search cannot ") + what};
  };
  if (!bound(bounds)) return failed("bound its memory and time");
  if (!close_other_files(std::move(kept_files))) return failed("close other files");
  if (!drop_capabilities()) return failed("give up its rights");
  if (!forbid_other_calls()) return failed("give up its system calls");
  return {};
}

}  // namespace tallyfs
