#include "feeders/tcp/sock_diag.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace tally {
namespace {

// TCP_ESTABLISHED of the kernel's states, which its header for user space does not name.
constexpr std::uint32_t kEstablished = 1u << 1;

Error failure(const std::string& what, int error) {
  return {ErrorCode::kInvalid, what + ": " + std::strerror(error)};
}

template <typename T>
T load(std::span<const char> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

// An older kernel's has fewer fields; those that it lacks are 0.
void take_info(std::span<const char> bytes, Connection& connection) {
  const auto info = load<tcp_info>(bytes);
  connection.rtt_us = info.tcpi_rtt;
  connection.cwnd_segments = info.tcpi_snd_cwnd;
  connection.retransmits = info.tcpi_total_retrans;
  connection.delivery_bytes_per_s = info.tcpi_delivery_rate;
}

// Behind the message come attributes. False: without a tcp_info it is none of ours.
bool take_connection(std::span<const char> bytes, Connection& connection) {
  if (bytes.size() < sizeof(inet_diag_msg)) return false;
  const auto message = load<inet_diag_msg>(bytes);
  connection.is_v6 = message.idiag_family == AF_INET6;
  connection.cookie =
      std::uint64_t{message.id.idiag_cookie[1]} << 32 | message.id.idiag_cookie[0];
  static_assert(sizeof message.id.idiag_src == sizeof connection.local);
  std::memcpy(connection.local.data(), message.id.idiag_src, sizeof connection.local);
  std::memcpy(connection.remote.data(), message.id.idiag_dst, sizeof connection.remote);
  connection.local_port = ntohs(message.id.idiag_sport);
  connection.remote_port = ntohs(message.id.idiag_dport);
  bytes = bytes.subspan(std::min(bytes.size(), aligned(sizeof message)));
  while (bytes.size() >= sizeof(nlattr)) {
    const auto attribute = load<nlattr>(bytes);
    if (attribute.nla_len < sizeof attribute || attribute.nla_len > bytes.size()) return false;
    if (attribute.nla_type == INET_DIAG_INFO) {
      take_info(bytes.first(attribute.nla_len).subspan(sizeof attribute), connection);
      return true;
    }
    bytes = bytes.subspan(std::min(bytes.size(), aligned(attribute.nla_len)));
  }
  return false;
}

}  // namespace

Result<DumpState> read_dump(std::span<const char> bytes, std::uint32_t sequence,
                            SockDiag::Dump& dump) {
  while (bytes.size() >= sizeof(nlmsghdr)) {
    const auto header = load<nlmsghdr>(bytes);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) {
      return failure("the kernel's answer", EBADMSG);
    }
    const auto body = bytes.first(header.nlmsg_len).subspan(sizeof header);
    bytes = bytes.subspan(std::min(bytes.size(), aligned(header.nlmsg_len)));
    if (header.nlmsg_seq != sequence) continue;
    if (header.nlmsg_type == NLMSG_DONE) return DumpState::kDone;
    if (header.nlmsg_type == NLMSG_ERROR) {
      return failure("sock_diag", -load<nlmsgerr>(body).error);
    }
    Connection connection;
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || !take_connection(body, connection)) continue;
    if (dump.connections.size() < SockDiag::kConnectionsMax) {
      dump.connections.push_back(connection);
    } else {
      dump.left_out += 1;
    }
  }
  return DumpState::kGoesOn;
}

Result<SockDiag> SockDiag::open() {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!fd.valid()) return failure("cannot ask the kernel for its connections", errno);
  return SockDiag(std::move(fd));
}

Result<void> SockDiag::ask(std::uint8_t family) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.header.nlmsg_seq = ++sequence_;
  message.request.sdiag_family = family;
  message.request.sdiag_protocol = IPPROTO_TCP;
  message.request.idiag_ext = 1u << (INET_DIAG_INFO - 1);
  message.request.idiag_states = kEstablished;
  if (::send(fd_.get(), &message, sizeof message, 0) < 0) return failure("sock_diag", errno);
  return {};
}

Result<void> SockDiag::dump_family(std::uint8_t family, Dump& dump) {
  if (const auto asked = ask(family); !asked) return asked;
  for (;;) {
    const ssize_t size = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failure("sock_diag", errno);
    const std::span<const char> bytes(buffer_.data(), static_cast<std::size_t>(size));
    const auto state = read_dump(bytes, sequence_, dump);
    if (!state) return state.error();
    if (state.value() == DumpState::kDone) return {};
  }
}

Result<void> SockDiag::dump(Dump& dump) {
  dump.connections.clear();
  dump.left_out = 0;
  if (const auto done = dump_family(AF_INET, dump); !done) return done;
  return dump_family(AF_INET6, dump);
}

}  // namespace tally
