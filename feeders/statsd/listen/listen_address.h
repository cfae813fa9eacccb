// Where the feeder listens: `udp:ADDRESS:PORT`, `tcp:ADDRESS:PORT`, `unixgram:PATH` or `unix:PATH`,
// with IPv6 addresses in brackets. Values and pure functions.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tallyfs::statsd {

enum class Transport : std::uint8_t { kUdp, kTcp, kUnixDatagram, kUnixStream };

constexpr bool is_datagram(Transport transport) {
  return transport == Transport::kUdp || transport == Transport::kUnixDatagram;
}
constexpr bool is_unix(Transport transport) {
  return transport == Transport::kUnixDatagram || transport == Transport::kUnixStream;
}

struct ListenAddress {
  Transport transport = Transport::kUdp;
  std::string path{};           // of Unix sockets
  sockaddr_storage address{};   // of the others
  socklen_t address_size = 0;
};

// kInvalid with the reason.
Result<ListenAddress> parse_listen_address(std::string_view text);
// The address as the command line has it.
std::string to_text(const ListenAddress& address);
// `ADDRESS:PORT`.
std::string to_text(const sockaddr_storage& address);

// The addresses from which datagrams and connections are taken. Loopback always is.
class AllowList {
 public:
  // `CIDR,...`, or `any`. kInvalid with the reason.
  static Result<AllowList> parse(std::string_view text);
  AllowList() = default;

  bool allows(const sockaddr_storage& address) const;
  bool empty() const { return !allows_any_ && networks_.empty(); }

 private:
  struct Network {
    std::string address;  // 16 bytes; IPv4 as IPv6
    unsigned bits = 0;
  };
  static Result<Network> parse_network(std::string_view text);

  bool allows_any_ = false;
  std::vector<Network> networks_;
};

bool is_loopback(const sockaddr_storage& address);

}  // namespace tallyfs::statsd
