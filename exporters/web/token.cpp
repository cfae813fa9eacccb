#include "exporters/web/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/fd.h"

namespace tallyfs::web {
namespace {

constexpr std::size_t kBytes = 32;
constexpr std::size_t kDigits = 2 * kBytes;

Error failure(const std::string& path) { return invalid(path + ": " + std::strerror(errno)); }

// The default place belongs to the daemon's user.
Error unreadable(const std::string& path) {
  Error error = failure(path);
  if (errno == EACCES) error.reason.append("; --token-file PATH chooses another place");
  return error;
}

bool is_token(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<std::string> random_token() {
  std::array<unsigned char, kBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return failure("getrandom");
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back("0123456789abcdef"[byte >> 4]);
    text.push_back("0123456789abcdef"[byte & 15]);
  }
  return text;
}

Result<std::string> read_token(int fd, const std::string& path) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) return failure(path);
  if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) {
    return invalid(path + ": must be a file of this user that no one else can read");
  }
  std::array<char, kDigits + 2> bytes{};
  const ssize_t size = ::read(fd, bytes.data(), bytes.size());
  if (size < 0) return failure(path);
  std::string text(bytes.data(), static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.pop_back();
  if (!is_token(text)) return invalid(path + ": has no token; remove it, and a new one is made");
  return text;
}

}  // namespace

Result<std::string> read_or_make_token(const std::string& path) {
  const Fd old(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (old.valid()) return read_token(old.get(), path);
  if (errno != ENOENT) return unreadable(path);
  auto made = random_token();
  if (!made) return made;
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return unreadable(path);
  const std::string line = made.value() + "\n";
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    const Error error = failure(path);
    ::unlink(path.c_str());
    return error;
  }
  return made;
}

}  // namespace tallyfs::web
