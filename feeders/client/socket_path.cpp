#include "feeders/client/socket_path.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tallyfs {

SocketPath find_socket_path(const std::string& option) {
  // A program with more rights than its caller is not told by the caller where to send.
  const auto environment = [](const char* name) -> std::string_view {
    const char* value = ::secure_getenv(name);
    return value ? value : "";
  };
  if (!option.empty()) return {option};
  if (const auto given = environment("TALLY_SOCKET"); !given.empty()) return {std::string(given)};
  const std::string of_the_system = "/run/tallyfs/socket";
  const auto runtime = environment("XDG_RUNTIME_DIR");
  if (::geteuid() == 0 || runtime.empty()) return {of_the_system};
  return {std::string(runtime) + "/tallyfs/socket", of_the_system};
}

}  // namespace tallyfs
