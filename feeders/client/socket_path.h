// Where a feeder finds the daemon's socket.
#pragma once

#include <string>

namespace tallyfs {

struct SocketPath {
  enum class From { kOption, kEnvironment, kDefault };
  std::string path;
  std::string fallback{};  // to be tried where no daemon serves the first; empty: none
  From from = From::kOption;

  // "PATH" or "PATH or FALLBACK"
  std::string text() const { return fallback.empty() ? path : path + " or " + fallback; }
  // Advice for a message that no daemon serves the socket.
  std::string hint() const;
};

// `option` if it is not empty, else $TALLY_SOCKET, else that of the system's daemon,
// /run/tallyfs/socket; before it, for others than root, that of their own,
// $XDG_RUNTIME_DIR/tallyfs/socket.
SocketPath find_socket_path(const std::string& option);

}  // namespace tallyfs
