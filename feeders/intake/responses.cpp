#include "feeders/intake/responses.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

#include "feeders/intake/response_address.h"

namespace tallyfs {
namespace {

std::size_t room_for_responses(int fd) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  ::getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size);
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Responses::Responses(int fd, uid_t owner, const Clock& clock, std::uint64_t epoch, int sock_diag)
    : fd_(fd),
      epoch_(epoch),
      sockets_(sock_diag),
      unread_(owner, room_for_responses(fd), clock,
              [this](const UnixSockets::Visit& visit) { return sockets_.each(visit); }),
      gathered_(epoch) {}

void Responses::add(const wire::Response& response) {
  gathered_.response(response);
  if (gathered_.size() >= kBytes) send();
}

void Responses::add_alone(const wire::Response& response, int attached) {
  send();
  gathered_.response(response);
  send_with(attached);
}

void Responses::send_with(int attached) {
  if (gathered_.empty()) return;
  if (to_->bound()) send_or_drop(gathered_.bytes(), attached);
  gathered_.clear(epoch_);
}

void Responses::send_or_drop(std::string_view bytes, int attached) {
  if (!unread_.may_send(*to_, bytes.size())) {
    counts_.over_share += 1;
  } else if (send_to_origin(bytes, attached)) {
    unread_.sent(*to_, bytes.size());
  } else {
    counts_.dropped += 1;
  }
}

bool Responses::send_to_origin(std::string_view bytes, int attached) const {
  auto to = ResponseAddress::find(*to_);
  if (!to) return false;
  // sendmsg() changes neither.
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  sockaddr_un address = to->address();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof attached)> control{};
  msghdr header{};
  header.msg_name = &address;
  header.msg_namelen = to->size();
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (attached >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof attached);
    std::memcpy(CMSG_DATA(rights), &attached, sizeof attached);
  }
  return ::sendmsg(fd_, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

}  // namespace tallyfs
