// A message with a descriptor attached (SCM_RIGHTS).
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstring>
#include <string_view>

namespace tallyfs {

// As send(), over a connected socket.
inline ssize_t send_with(int to, std::string_view bytes, int attached) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};  // sendmsg() does not change it
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof attached)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof attached);
  std::memcpy(CMSG_DATA(rights), &attached, sizeof attached);
  return ::sendmsg(to, &header, 0);
}

}  // namespace tallyfs
