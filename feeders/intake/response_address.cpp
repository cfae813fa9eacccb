#include "feeders/intake/response_address.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "program/cached_file.h"

namespace tallyfs {

namespace {

bool is_socket_of(const Fd& file, uid_t uid) {
  struct statx status {};
  return ::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_UID,
                 &status) == 0 &&
         S_ISSOCK(status.stx_mode) && status.stx_uid == uid;
}

}  // namespace

std::optional<ResponseAddress> ResponseAddress::find(const Origin& origin) {
  if (!origin.bound()) return std::nullopt;
  const char* const path = origin.address.sun_path;
  if (*path == '\0') return ResponseAddress(origin.address, origin.address_size, Fd());
  if (*path != '/') return std::nullopt;
  // The kernel gives a path of full length without the zero behind it.
  const std::string whole(path, ::strnlen(path, sizeof origin.address.sun_path));
  // The sender names the path. The file of a socket that is in use is cached.
  Fd held = open_cached(whole, O_NOFOLLOW);
  if (!held.valid() || !is_socket_of(held, origin.uid)) return std::nullopt;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string name = "/proc/self/fd/" + std::to_string(held.get());
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  return ResponseAddress(address, sizeof address, std::move(held));
}

}  // namespace tallyfs
