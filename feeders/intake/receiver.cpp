#include "feeders/intake/receiver.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "feeders/intake/answer_channels.h"
#include "feeders/intake/attached_descriptors.h"

namespace tallyfs {
namespace {

// Buffers start at different places of their pages, so that small datagrams, which use only the
// start of each, do not push each other out of the same few cache lines.
constexpr std::size_t kStagger = 256;
constexpr std::size_t kStride = wire::kDatagramBytesMax + 4096 + kStagger;
constexpr std::size_t kMemory = kStride * Receiver::kBatch;

// Where there is room for one, the kernel attaches no more.
Fd attached_to(msghdr& header) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
    return Fd(fd);
  }
  return Fd();
}

}  // namespace

void read_credentials(msghdr& header, Origin& origin) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
    origin.pid = credentials.pid;
    origin.uid = credentials.uid;
  }
}

Receiver::Receiver(int fd, AnswerChannels* channels) : fd_(fd), channels_(channels) {
  void* const mapped = ::mmap(nullptr, kMemory, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    std::fprintf(stderr, "tallyfs: no address space for the receive buffers\n");
    std::abort();
  }
  memory_ = static_cast<char*>(mapped);
  for (std::size_t i = 0; i < kBatch; ++i) {
    vectors_[i] = {memory_ + i * kStride, wire::kDatagramBytesMax};
    headers_[i] = {};
    headers_[i].msg_hdr.msg_name = &datagrams_[i].origin.address;
    headers_[i].msg_hdr.msg_iov = &vectors_[i];
    headers_[i].msg_hdr.msg_iovlen = 1;
    headers_[i].msg_hdr.msg_control = control_[i].bytes.data();
  }
}

Receiver::~Receiver() { ::munmap(memory_, kMemory); }

// Not by the C library's function: ThreadSanitizer notes the descriptors that it brings, and does
// not see their close (descriptor_closer.h): the next use of the number is a race then.
int Receiver::receive_into_headers(std::size_t at_most) {
  const ClosingLimit limit;
  return static_cast<int>(::syscall(SYS_recvmmsg, fd_, headers_.data(), at_most,
                                    MSG_DONTWAIT | MSG_CMSG_CLOEXEC, nullptr));
}

bool Receiver::discard() {
  const ClosingLimit limit;
  return ::recv(fd_, nullptr, 0, MSG_DONTWAIT) >= 0;
}

void Receiver::take_control(msghdr& header, Datagram& datagram) {
  read_credentials(header, datagram.origin);
  datagram.fds_refused = (header.msg_flags & MSG_CTRUNC) != 0;
  if (header.msg_controllen > kCredentialsBytes) take_descriptor(header, datagram);
  if (channels_ && datagram.origin.pid == 0) {
    datagram.origin.pid = channels_->number_of(datagram.origin);
  }
}

void Receiver::take_descriptor(msghdr& header, Datagram& datagram) {
  Fd attached = attached_to(header);
  if (!attached.valid()) return;
  // One of several is no channel, nor is one with a datagram of which nothing is taken.
  const bool may_be = !datagram.fds_refused && !datagram.truncated;
  const std::span<char> bytes = may_be ? datagram.bytes : std::span<char>();
  datagram.fds_refused = !channels_->offer(datagram.origin, bytes, std::move(attached));
}

std::span<const Datagram> Receiver::receive(std::size_t at_most) {
  const bool takes_descriptors = channels_ && channels_->may_receive(kBatch);
  for (mmsghdr& each : std::span(headers_).first(used_)) {
    each.msg_hdr.msg_namelen = sizeof(sockaddr_un);
    each.msg_hdr.msg_controllen = takes_descriptors ? kWithDescriptorBytes : kCredentialsBytes;
  }
  const int count = receive_into_headers(at_most);
  // One at which it failed, too.
  used_ = std::min(static_cast<std::size_t>(std::max(count, 0)) + 1, kBatch);
  if (count <= 0) return {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    msghdr& header = headers_[i].msg_hdr;
    Datagram& datagram = datagrams_[i];
    datagram.bytes = {static_cast<char*>(vectors_[i].iov_base), headers_[i].msg_len};
    datagram.origin.address_size = header.msg_namelen;
    datagram.origin.pid = 0;
    datagram.origin.uid = Origin{}.uid;
    datagram.truncated = (header.msg_flags & MSG_TRUNC) != 0;
    take_control(header, datagram);
  }
  return std::span(datagrams_).first(static_cast<std::size_t>(count));
}

}  // namespace tallyfs
