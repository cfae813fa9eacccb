#include "program/sock_diag/socket_dump.h"

#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <string>

namespace tallyfs {
namespace {

Error failure(int error) { return invalid(std::string("sock_diag: ") + std::strerror(error)); }

Result<void> send_request(int fd, std::span<const std::byte> request) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + request.size());
  header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  const std::array<iovec, 2> parts = {
      iovec{&header, sizeof header}, iovec{const_cast<std::byte*>(request.data()), request.size()}};
  if (::writev(fd, parts.data(), parts.size()) < 0) return failure(errno);
  return {};
}

}  // namespace

Result<SocketDump::State> SocketDump::read(std::span<const char> bytes, const Visit& visit) {
  while (bytes.size() >= sizeof(nlmsghdr)) {
    const auto header = load_from<nlmsghdr>(bytes);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) {
      return failure(EBADMSG);
    }
    const auto body = bytes.first(header.nlmsg_len).subspan(sizeof header);
    bytes = behind(bytes, header.nlmsg_len);
    if (header.nlmsg_type == NLMSG_DONE) return State::kDone;
    if (header.nlmsg_type == NLMSG_ERROR) return failure(-load_from<nlmsgerr>(body).error);
    if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY) visit(body);
  }
  return State::kGoesOn;
}

Result<void> SocketDump::ask_with(std::span<const std::byte> request, const Visit& visit) {
  // Messages that an earlier dump left unread would be taken for the answer to this one: they are
  // read first, or the socket is a new one.
  if (passed_ != kNone) {
    while (::recv(passed_, buffer_.data(), buffer_.size(), MSG_DONTWAIT) >= 0) {
    }
    return ask_on(passed_, request, visit);
  }
  const Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (!fd.valid()) return failure(errno);
  return ask_on(fd.get(), request, visit);
}

Result<void> SocketDump::ask_on(int fd, std::span<const std::byte> request, const Visit& visit) {
  if (const auto asked = send_request(fd, request); !asked) return asked;
  for (;;) {
    const ssize_t size = ::recv(fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failure(errno);
    const auto datagram = std::span<const char>(buffer_).first(static_cast<std::size_t>(size));
    const auto state = read(datagram, visit);
    if (!state) return state.error();
    if (state.value() == State::kDone) return {};
  }
}

}  // namespace tallyfs
