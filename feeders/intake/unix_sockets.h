// The Unix sockets of this machine, as the kernel's sock_diag tells of them: what they are called,
// and whether something waits in them to be read. Sees the sockets of its own network namespace.
//
// Confined to one thread.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "program/sock_diag/socket_dump.h"

namespace tallyfs {

class UnixSockets {
 public:
  enum class Inbox { kEmpty, kHasUnread };
  // name: as bind(2) was given it, from sun_path on; without the zero behind a path.
  using Visit = std::function<void(std::string_view name, Inbox inbox)>;

  // passed: as SocketDump's.
  explicit UnixSockets(int passed = SocketDump::kNone) : dump_(passed) {}

  // Visits each socket that has a name. kInvalid with what the system said.
  Result<void> each(const Visit& visit);

 private:
  SocketDump dump_;
};

// One socket's message; without a name it is passed over.
void read_unix_socket(std::span<const char> message, const UnixSockets::Visit& visit);

}  // namespace tallyfs
