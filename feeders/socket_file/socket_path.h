// A path that a Unix socket is to be bound to: its address, and the file of a process that is gone,
// which is removed. Pure but for the file.
#pragma once

#include <sys/un.h>

#include <string>

#include "core/base/result.h"

namespace tallyfs {

// kInvalid: the path is empty or too long.
Result<sockaddr_un> socket_address(const std::string& path);

// Removes the file of a socket that no process holds. type: SOCK_DGRAM or SOCK_STREAM, as the new
// socket's. kBusy: it is in use. kInvalid: the file is no socket, or cannot be removed.
Result<void> clear_stale_socket(const std::string& path, int type);

// Binds, so that the file has the permissions from the moment it is there. kInvalid.
Result<void> bind_socket_file(int fd, const std::string& path, unsigned permissions);

}  // namespace tallyfs
