#include "feeders/statsd/listen/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::statsd {
namespace {

constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

template <typename T>
T* as(sockaddr_storage& address) {
  return reinterpret_cast<T*>(&address);
}
template <typename T>
const T* as(const sockaddr_storage& address) {
  return reinterpret_cast<const T*>(&address);
}

// The 16 bytes of an address, IPv4 as IPv6 has it.
std::string bytes_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    const in6_addr& ip = as<sockaddr_in6>(address)->sin6_addr;
    return {reinterpret_cast<const char*>(&ip), sizeof ip};
  }
  const in_addr& ip = as<sockaddr_in>(address)->sin_addr;
  return std::string(kMapped).append(reinterpret_cast<const char*>(&ip), sizeof ip);
}

// An address of either family without its port.
std::optional<sockaddr_storage> parse_ip(const std::string& text) {
  sockaddr_storage address{};
  address.ss_family = AF_INET;
  if (::inet_pton(AF_INET, text.c_str(), &as<sockaddr_in>(address)->sin_addr) == 1) return address;
  address.ss_family = AF_INET6;
  if (::inet_pton(AF_INET6, text.c_str(), &as<sockaddr_in6>(address)->sin6_addr) == 1) {
    return address;
  }
  return std::nullopt;
}

Result<void> parse_ip_and_port(std::string_view text, ListenAddress& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return invalid("it is no ADDRESS:PORT");
  std::string_view ip = text.substr(0, colon);
  const bool has_brackets = ip.size() > 2 && ip.front() == '[' && ip.back() == ']';
  if (has_brackets) ip = ip.substr(1, ip.size() - 2);
  const auto address = parse_ip(std::string(ip));
  if (!address || (address->ss_family == AF_INET6) != has_brackets) {
    return invalid("it has no address as 127.0.0.1 or [::1]");
  }
  const auto port = parse_unsigned(text.substr(colon + 1));
  if (!port || *port > 65'535) return invalid("its port is not 0 to 65535");
  out.address = *address;
  // sin_port and sin6_port are at one place.
  as<sockaddr_in>(out.address)->sin_port = htons(static_cast<std::uint16_t>(*port));
  out.address_size = address->ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  return {};
}

std::string_view scheme_of(Transport transport) {
  switch (transport) {
    case Transport::kUdp:
      return "udp:";
    case Transport::kTcp:
      return "tcp:";
    case Transport::kUnixDatagram:
      return "unixgram:";
    case Transport::kUnixStream:
      break;
  }
  return "unix:";
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  for (const auto transport : {Transport::kUdp, Transport::kTcp, Transport::kUnixDatagram,
                               Transport::kUnixStream}) {
    const std::string_view scheme = scheme_of(transport);
    if (!text.starts_with(scheme)) continue;
    address.transport = transport;
    const std::string_view rest = text.substr(scheme.size());
    if (is_unix(transport)) {
      if (!rest.starts_with('/')) return invalid("its path does not begin with '/'");
      address.path = rest;
      return address;
    }
    if (auto done = parse_ip_and_port(rest, address); !done) return done.error();
    return address;
  }
  return invalid("it begins with none of udp: tcp: unixgram: unix:");
}

std::string to_text(const ListenAddress& address) {
  const std::string scheme(scheme_of(address.transport));
  return scheme + (is_unix(address.transport) ? address.path : to_text(address.address));
}

std::string to_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const std::string port = std::to_string(ntohs(as<sockaddr_in>(address)->sin_port));
  if (address.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &as<sockaddr_in6>(address)->sin6_addr, text, sizeof text);
    return std::string("[").append(text).append("]:").append(port);
  }
  ::inet_ntop(AF_INET, &as<sockaddr_in>(address)->sin_addr, text, sizeof text);
  return std::string(text).append(":").append(port);
}

Result<AllowList> AllowList::parse(std::string_view text) {
  AllowList list;
  list.allows_any_ = text == "any";
  while (!text.empty() && !list.allows_any_) {
    const std::size_t end = std::min(text.find(','), text.size());
    auto network = parse_network(text.substr(0, end));
    if (!network) return network.error();
    list.networks_.push_back(std::move(network.value()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

Result<AllowList::Network> AllowList::parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_ip(std::string(text.substr(0, slash)));
  if (!address) {
    return invalid(std::string("'").append(text).append("' is no network as 10.0.0.0/8"));
  }
  const unsigned most = address->ss_family == AF_INET ? 32 : 128;
  const auto bits = slash == text.npos ? most : parse_unsigned(text.substr(slash + 1));
  if (!bits || *bits > most) {
    return invalid(std::string("'").append(text).append("' has a prefix that is too long"));
  }
  return Network{bytes_of(*address), static_cast<unsigned>(*bits) + 128 - most};
}

bool AllowList::allows(const sockaddr_storage& address) const {
  if (allows_any_ || is_loopback(address)) return true;
  const std::string bytes = bytes_of(address);
  return std::any_of(networks_.begin(), networks_.end(), [&bytes](const Network& network) {
    const std::size_t whole = network.bits / 8;
    if (bytes.compare(0, whole, network.address, 0, whole) != 0) return false;
    const unsigned shift = 8 - network.bits % 8;
    return shift == 8 || (static_cast<unsigned char>(bytes[whole]) >> shift) ==
                             (static_cast<unsigned char>(network.address[whole]) >> shift);
  });
}

bool is_loopback(const sockaddr_storage& address) {
  const std::string bytes = bytes_of(address);
  constexpr std::size_t kFirst = kMapped.size();
  if (bytes.compare(0, kFirst, kMapped) == 0) return bytes[kFirst] == 127;
  return bytes.compare(0, 15, std::string(15, '\0')) == 0 && bytes[15] == 1;
}

}  // namespace tallyfs::statsd
