#include "feeders/client/socket_path.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tally {

std::string find_socket_path(const std::string& option) {
  const auto environment = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (!option.empty()) return option;
  if (const auto given = environment("TALLY_SOCKET"); !given.empty()) return std::string(given);
  if (::geteuid() == 0) return "/run/tallyfs/socket";
  const auto runtime = environment("XDG_RUNTIME_DIR");
  return runtime.empty() ? std::string() : std::string(runtime) + "/tallyfs/socket";
}

}  // namespace tally
