#include "feeders/tcp/connection.h"

#include <arpa/inet.h>

namespace tallyfs {
namespace {

std::string end_of(bool is_v6, const std::array<std::uint8_t, 16>& address, std::uint16_t port) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(is_v6 ? AF_INET6 : AF_INET, address.data(), text, sizeof text);
  const std::string number = std::to_string(port);
  return is_v6 ? "[" + std::string(text) + "]:" + number : std::string(text) + ":" + number;
}

}  // namespace

std::string name_of(const Connection& connection) {
  return end_of(connection.is_v6, connection.local, connection.local_port) + "-" +
         end_of(connection.is_v6, connection.remote, connection.remote_port);
}

}  // namespace tallyfs
