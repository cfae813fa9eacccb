#include "feeders/tcp/tcp_connections.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

namespace tallyfs {
namespace {

// TCP_ESTABLISHED of the kernel's states, which its header for user space does not name.
constexpr std::uint32_t kEstablished = 1u << 1;

void take_ends(const inet_diag_msg& message, Connection& connection) {
  connection.is_v6 = message.idiag_family == AF_INET6;
  connection.cookie = std::uint64_t{message.id.idiag_cookie[1]} << 32 | message.id.idiag_cookie[0];
  static_assert(sizeof message.id.idiag_src == sizeof connection.local);
  std::memcpy(connection.local.data(), message.id.idiag_src, sizeof connection.local);
  std::memcpy(connection.remote.data(), message.id.idiag_dst, sizeof connection.remote);
  connection.local_port = ntohs(message.id.idiag_sport);
  connection.remote_port = ntohs(message.id.idiag_dport);
}

void take_info(const tcp_info& info, Connection& connection) {
  connection.rtt_us = info.tcpi_rtt;
  connection.cwnd_segments = info.tcpi_snd_cwnd;
  connection.retransmits = info.tcpi_total_retrans;
  connection.delivery_bytes_per_s = info.tcpi_delivery_rate;
}

}  // namespace

void read_connection(std::span<const char> message, TcpConnections::Scan& scan) {
  if (message.size() < sizeof(inet_diag_msg)) return;
  std::optional<tcp_info> info;
  each_attribute(message, sizeof(inet_diag_msg), [&](auto type, std::span<const char> value) {
    if (type == INET_DIAG_INFO) info = load_from<tcp_info>(value);
  });
  if (!info) return;
  if (scan.connections.size() >= TcpConnections::kConnectionsMax) {
    scan.left_out += 1;
    return;
  }
  Connection& connection = scan.connections.emplace_back();
  take_ends(load_from<inet_diag_msg>(message), connection);
  take_info(*info, connection);
}

Result<void> TcpConnections::scan_family(std::uint8_t family, Scan& scan) {
  inet_diag_req_v2 request{};
  request.sdiag_family = family;
  request.sdiag_protocol = IPPROTO_TCP;
  request.idiag_ext = 1u << (INET_DIAG_INFO - 1);
  request.idiag_states = kEstablished;
  return dump_.ask(request, [&](std::span<const char> message) { read_connection(message, scan); });
}

Result<void> TcpConnections::scan(Scan& scan) {
  scan.connections.clear();
  scan.left_out = 0;
  if (const auto done = scan_family(AF_INET, scan); !done) return done;
  return scan_family(AF_INET6, scan);
}

}  // namespace tallyfs
