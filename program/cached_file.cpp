#include "program/cached_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tallyfs {

Fd open_cached(const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_PATH | O_CLOEXEC);
  how.resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS;
  return Fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

}  // namespace tallyfs
