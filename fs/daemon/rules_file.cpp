#include "fs/daemon/rules_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/fd.h"
#include "core/branch/statistics/rules.h"

namespace tallyfs {
namespace {

// Comments do not count among the bytes of rules.
constexpr std::size_t kFileBytesMax = 16 * Rules::kBytesBound;

Error unreadable(const std::string& path) {
  return {ErrorCode::kInvalid, path + " cannot be read: " + std::strerror(errno)};
}

}  // namespace

Result<std::string> read_rules(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return unreadable(path);
  std::string text(kFileBytesMax + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kFileBytesMax) {
    return Error{ErrorCode::kTooBig,
                 path + " is longer than " + std::to_string(kFileBytesMax) + " bytes"};
  }
  text.resize(size);
  return text;
}

}  // namespace tallyfs
