#include "feeders/intake/unix_sockets.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace tally {
namespace {

Error failure(int error) {
  return {ErrorCode::kInvalid, std::string("sock_diag: ") + std::strerror(error)};
}

template <typename T>
T load(std::span<const char> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

std::span<const char> behind(std::span<const char> bytes, std::size_t size) {
  return bytes.subspan(std::min(bytes.size(), aligned(size)));
}

// Behind the message come attributes.
void take_socket(std::span<const char> bytes, const UnixSockets::Visit& visit) {
  std::string_view name;
  auto inbox = UnixSockets::Inbox::kEmpty;
  for (bytes = behind(bytes, sizeof(unix_diag_msg)); bytes.size() >= sizeof(nlattr);) {
    const auto attribute = load<nlattr>(bytes);
    if (attribute.nla_len < sizeof attribute || attribute.nla_len > bytes.size()) return;
    const auto value = bytes.first(attribute.nla_len).subspan(sizeof attribute);
    if (attribute.nla_type == UNIX_DIAG_NAME) name = {value.data(), value.size()};
    if (attribute.nla_type == UNIX_DIAG_RQLEN && load<unix_diag_rqlen>(value).udiag_rqueue != 0) {
      inbox = UnixSockets::Inbox::kHasUnread;
    }
    bytes = behind(bytes, attribute.nla_len);
  }
  const bool is_path = !name.empty() && name.front() != '\0';
  if (is_path) name = name.substr(0, name.find('\0'));
  if (!name.empty()) visit(name, inbox);
}

}  // namespace

Result<bool> read_unix_sockets(std::span<const char> bytes, const UnixSockets::Visit& visit) {
  while (bytes.size() >= sizeof(nlmsghdr)) {
    const auto header = load<nlmsghdr>(bytes);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) {
      return failure(EBADMSG);
    }
    const auto body = bytes.first(header.nlmsg_len).subspan(sizeof header);
    bytes = behind(bytes, header.nlmsg_len);
    if (header.nlmsg_type == NLMSG_DONE) return true;
    if (header.nlmsg_type == NLMSG_ERROR) return failure(-load<nlmsgerr>(body).error);
    if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY) take_socket(body, visit);
  }
  return false;
}

Result<void> UnixSockets::ask() {
  // A new one each time: what an earlier look left unread would be taken for an answer to this.
  fd_ = Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (!fd_.valid()) return failure(errno);
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.request.sdiag_family = AF_UNIX;
  message.request.udiag_states = ~0u;
  message.request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN;
  if (::send(fd_.get(), &message, sizeof message, 0) < 0) return failure(errno);
  return {};
}

// The kernel answers while it is asked, so that nothing here waits.
Result<void> UnixSockets::each(const Visit& visit) {
  if (const auto asked = ask(); !asked) return asked;
  for (;;) {
    const ssize_t size = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failure(errno);
    const auto last = read_unix_sockets(
        std::span<const char>(buffer_).first(static_cast<std::size_t>(size)), visit);
    if (!last) return last.error();
    if (last.value()) break;
  }
  fd_.reset();
  return {};
}

}  // namespace tally
