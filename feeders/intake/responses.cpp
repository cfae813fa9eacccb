#include "feeders/intake/responses.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "feeders/intake/response_address.h"

namespace tallyfs {
namespace {

std::size_t room_for_responses(int fd) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  ::getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size);
  return static_cast<std::size_t>(bytes);
}

std::string name_of(const Origin& origin) {
  const char* const name = origin.address.sun_path;
  const std::size_t size = origin.address_size - offsetof(sockaddr_un, sun_path);
  return {name, *name == '\0' ? size : ::strnlen(name, size)};
}

// The feeder has closed its socket or its channel: the response could not have been read.
bool is_closed(int error) { return error == ECONNREFUSED || error == EPIPE || error == ECONNRESET; }

bool send_from(int fd, const msghdr& header) {
  return ::sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

}  // namespace

Responses::Responses(const Ways& ways, uid_t owner, const Clock& clock, std::uint64_t epoch)
    : fd_(ways.fd),
      channels_(ways.channels),
      epoch_(epoch),
      sockets_(ways.sock_diag),
      unread_(owner, room_for_responses(fd_), clock,
              [this](const UnixSockets::Visit& visit) { return look_at_unread(visit); }),
      gathered_(epoch) {}

// The kernel has a bound of its own on what it does not tell.
void Responses::look_at_unread(const UnixSockets::Visit& visit) {
  (void)sockets_.each(visit);
  if (channels_) channels_->each(visit);
}

bool Responses::add(const wire::Response& response) {
  gathered_.response(response);
  return gathered_.size() < kBytes;
}

void Responses::add_alone(const wire::Response& response, int attached) {
  send();
  gathered_.response(response);
  send_with(attached);
}

void Responses::send_with(int attached) {
  if (gathered_.empty()) return;
  const auto channel = channels_ ? channels_->find(*to_) : nullptr;
  if (channel || to_->bound()) send_or_drop(channel, attached);
  gathered_.clear(epoch_);
}

void Responses::send_or_drop(const AnswerChannels::Shared& channel, int attached) {
  const std::string_view bytes = gathered_.bytes();
  if (!unread_.may_send(to_->uid, bytes.size())) {
    counts_.over_share += 1;
    return;
  }
  // sendmsg() does not change it.
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof attached)> control{};
  if (attached >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof attached);
    std::memcpy(CMSG_DATA(rights), &attached, sizeof attached);
  }
  if (channel ? send_from(channel->fd(), header) : send_to_address(header)) {
    unread_.sent(to_->uid, channel ? AnswerChannels::key_of(*to_) : name_of(*to_), bytes.size());
  } else if (!is_closed(errno)) {
    counts_.dropped += 1;
  }
}

bool Responses::send_to_address(msghdr& header) const {
  auto to = ResponseAddress::find(*to_);
  if (!to) {
    errno = EPERM;
    return false;
  }
  sockaddr_un address = to->address();
  header.msg_name = &address;
  header.msg_namelen = to->size();
  return send_from(fd_, header);
}

}  // namespace tallyfs
