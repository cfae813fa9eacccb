#include "fs/keeper/descriptor_queue.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace tallyfs {
namespace {

// Of one message; the kernel takes 253.
constexpr std::size_t kAtOnce = 250;

struct Message {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kAtOnce * sizeof(int))> control{};
  msghdr header{};

  explicit Message(std::size_t descriptors) {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
  }
};

Error no_queue(const char* what) {
  return {ErrorCode::kNoSpace, std::string(what).append(": ").append(std::strerror(errno))};
}

void append(const cmsghdr& rights, std::vector<Fd>& all) {
  const std::size_t count = (rights.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&rights) + i * sizeof fd, sizeof fd);
    all.emplace_back(fd);
  }
}

}  // namespace

Result<DescriptorQueue> DescriptorQueue::create() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return no_queue("cannot make a socket for descriptors");
  }
  return DescriptorQueue(Fd(ends[0]), Fd(ends[1]));
}

Result<void> DescriptorQueue::put(std::span<const int> descriptors) const {
  while (!descriptors.empty()) {
    const auto some = descriptors.first(std::min(descriptors.size(), kAtOnce));
    Message message(some.size());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(some.size_bytes());
    std::memcpy(CMSG_DATA(rights), some.data(), some.size_bytes());
    if (::sendmsg(in_.get(), &message.header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      if (errno == EINTR) continue;
      return no_queue("descriptors cannot be handed over");
    }
    descriptors = descriptors.subspan(some.size());
  }
  return {};
}

std::vector<Fd> DescriptorQueue::take() const {
  std::vector<Fd> all;
  for (;;) {
    Message message(kAtOnce);
    const ssize_t got =
        ::recvmsg(out_.get(), &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    for (cmsghdr* each = CMSG_FIRSTHDR(&message.header); each;
         each = CMSG_NXTHDR(&message.header, each)) {
      if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_RIGHTS) append(*each, all);
    }
  }
}

}  // namespace tallyfs
