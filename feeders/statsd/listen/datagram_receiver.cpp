#include "feeders/statsd/listen/datagram_receiver.h"

#include <linux/sock_diag.h>

namespace tallyfs::statsd {

namespace {

// Packets at the same place of a page each would have the same few lines of a CPU's cache. With
// the bytes of a usual packet between them, 64 packets lie side by side there.
constexpr std::size_t kPacketStride = kPacketBytesMax + 23 * 64;

}  // namespace

// Not zeroed: the kernel backs only the pages that packets reach.
DatagramReceiver::DatagramReceiver()
    : bytes_(std::make_unique_for_overwrite<char[]>(kBatch * kPacketStride)) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    vectors_[i] = {bytes_.get() + i * kPacketStride, kPacketBytesMax};
    headers_[i].msg_hdr = {.msg_name = &senders_[i], .msg_iov = &vectors_[i], .msg_iovlen = 1};
  }
}

bool DatagramReceiver::receive(int fd, const ListenAddress& listener, const AllowList& allow,
                               PacketSink& sink) {
  for (mmsghdr& header : headers_) {
    header.msg_hdr.msg_namelen = is_unix(listener.transport) ? 0 : sizeof(sockaddr_storage);
    header.msg_hdr.msg_flags = 0;
  }
  const int count = ::recvmmsg(fd, headers_.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (count <= 0) return false;
  sink.begin_batch();
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) take(i, listener, allow, sink);
  sink.end_batch();
  return static_cast<std::size_t>(count) == kBatch;
}

void DatagramReceiver::take(std::size_t at, const ListenAddress& listener, const AllowList& allow,
                            PacketSink& sink) {
  const mmsghdr& header = headers_[at];
  const Sender sender{listener, is_unix(listener.transport) ? nullptr : &senders_[at]};
  if (sender.address && !allow.allows(*sender.address)) {
    sink.lose(Loss::kDenied, sender);
  } else if ((header.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
    sink.lose(Loss::kTruncated, sender);
  } else {
    sink.take({static_cast<const char*>(vectors_[at].iov_base), header.msg_len}, sender);
  }
}

std::uint32_t count_kernel_drops(int fd) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return 0;
  return memory[SK_MEMINFO_DROPS];
}

}  // namespace tallyfs::statsd
