// All established TCP connections of this network namespace, as `ss -ti` shows them.
//
// Confined to one thread. At most kConnectionsMax are kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "feeders/tcp/connection.h"
#include "program/sock_diag/socket_dump.h"

namespace tallyfs {

class TcpConnections {
 public:
  static constexpr std::size_t kConnectionsMax = 65'536;

  struct Scan {
    std::vector<Connection> connections;
    std::uint64_t left_out = 0;  // beyond kConnectionsMax
  };
  // Takes the place of what is in `look`. kInvalid with what the kernel said.
  Result<void> scan(Scan& scan);

 private:
  Result<void> scan_family(std::uint8_t family, Scan& scan);

  SocketDump dump_;
};

// One connection's message; without a tcp_info it is passed over.
void read_connection(std::span<const char> message, TcpConnections::Scan& scan);

}  // namespace tallyfs
