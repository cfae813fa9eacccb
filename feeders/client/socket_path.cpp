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
  using From = SocketPath::From;
  if (!option.empty()) return {.path = option};
  if (const auto given = environment("TALLY_SOCKET"); !given.empty()) {
    return {.path = std::string(given), .from = From::kEnvironment};
  }
  const std::string of_the_system = "/run/tallyfs/socket";
  const auto runtime = environment("XDG_RUNTIME_DIR");
  if (::geteuid() == 0 || runtime.empty()) {
    return {.path = of_the_system, .from = From::kDefault};
  }
  return {std::string(runtime) + "/tallyfs/socket", of_the_system, From::kDefault};
}

std::string SocketPath::hint() const {
  switch (from) {
    case From::kEnvironment:
      return "TALLY_SOCKET names it: is that the --socket of a tallyfs that runs?";
    case From::kDefault:
      return "start tallyfs, or set TALLY_SOCKET to its --socket";
    case From::kOption:
      break;
  }
  return "is that the --socket of a tallyfs that runs?";
}

}  // namespace tallyfs
