#include "feeders/intake/response_address.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace tallyfs {

std::optional<ResponseAddress> ResponseAddress::find(const Origin& origin) {
  if (!origin.bound()) return std::nullopt;
  const char* const path = origin.address.sun_path;
  if (*path == '\0') return ResponseAddress(origin.address, origin.address_size, Fd());
  if (*path != '/') return std::nullopt;
  // The kernel gives a path of full length without the zero behind it.
  const std::string whole(path, ::strnlen(path, sizeof origin.address.sun_path));
  Fd held(::open(whole.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!held.valid() || ::fstat(held.get(), &status) != 0) return std::nullopt;
  if (!S_ISSOCK(status.st_mode) || status.st_uid != origin.uid) return std::nullopt;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string name = "/proc/self/fd/" + std::to_string(held.get());
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  return ResponseAddress(address, sizeof address, std::move(held));
}

}  // namespace tallyfs
