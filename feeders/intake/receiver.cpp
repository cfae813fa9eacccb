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
#include "feeders/intake/input_journal.h"

namespace tallyfs {
namespace {

// Buffers start at different places of their pages, so that small datagrams, which use only the
// start of each, do not push each other out of the same few cache lines.
constexpr std::size_t kStagger = 256;
constexpr std::size_t kStride = wire::kDatagramBytesMax + 4096 + kStagger;
constexpr std::size_t kBuffersAt = 16384;
constexpr std::size_t kMemory = kBuffersAt + kStride * Receiver::kBatch;

char* buffer_of(std::byte* memory, std::size_t slot) {
  return reinterpret_cast<char*>(memory) + kBuffersAt + slot * kStride;
}

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
  use(static_cast<std::byte*>(mapped));
}

Receiver::~Receiver() {
  if (!journal_) ::munmap(memory_, kMemory);
}

const std::size_t Receiver::kSlotsBytes = kMemory;

void Receiver::use(std::byte* memory) {
  static_assert(sizeof(Slots) <= kBuffersAt);
  memory_ = memory;
  slots_ = new (memory) Slots;
  used_ = kBatch;
  for (std::size_t i = 0; i < kBatch; ++i) {
    vectors_[i] = {buffer_of(memory, i), wire::kDatagramBytesMax};
    slots_->headers[i] = {};
    msghdr& header = slots_->headers[i].msg_hdr;
    header.msg_name = &slots_->addresses[i];
    header.msg_iov = &vectors_[i];
    header.msg_iovlen = 1;
    header.msg_control = slots_->control[i].bytes.data();
  }
}

// What was received before is taken in. The kernel would lose a datagram that it copies into a
// buffer which this process has not mapped yet, if it is killed meanwhile: all are mapped before
// the first use, and locked as far as they may be (RLIMIT_MEMLOCK of a user is 8 MiB).
void Receiver::receive_into(InputJournal& journal) {
  ::munmap(memory_, kMemory);
  journal_ = &journal;
  use(journal.slots().data());
  slots_->batch = journal.last_batch();
  (void)::mlock2(memory_, kBuffersAt, 0);
  for (std::size_t i = 0; i < kBatch; ++i) {
    std::byte* const buffer = reinterpret_cast<std::byte*>(buffer_of(memory_, i));
    if (::mlock2(buffer, wire::kDatagramBytesMax, 0) == 0) continue;
    (void)::madvise(buffer, wire::kDatagramBytesMax, MADV_POPULATE_WRITE);  // Linux 5.14
  }
}

std::uint64_t Receiver::batch_in(std::span<std::byte> slots) {
  return reinterpret_cast<const Slots*>(slots.data())->batch;
}

// Its pointers are of that process.
std::vector<Datagram> Receiver::left_in(std::span<std::byte> slots, std::uint64_t known) {
  std::vector<Datagram> left;
  auto& received = *reinterpret_cast<Slots*>(slots.data());
  if (received.batch <= known) return left;
  for (std::size_t i = 0; i < kBatch; ++i) {
    mmsghdr& each = received.headers[i];
    const std::size_t size = each.msg_len;
    const bool is_sound = size <= wire::kDatagramBytesMax &&
                          each.msg_hdr.msg_namelen <= sizeof(sockaddr_un) &&
                          each.msg_hdr.msg_controllen <= sizeof(Control);
    if (size == 0 || !is_sound) continue;
    each.msg_hdr.msg_control = received.control[i].bytes.data();
    Datagram datagram{.bytes = {buffer_of(slots.data(), i), size}, .origin = {}};
    datagram.origin.address = received.addresses[i];
    datagram.origin.address_size = each.msg_hdr.msg_namelen;
    datagram.truncated = (each.msg_hdr.msg_flags & MSG_TRUNC) != 0;
    read_credentials(each.msg_hdr, datagram.origin);
    left.push_back(datagram);
  }
  return left;
}

// Not by the C library's function: ThreadSanitizer notes the descriptors that it brings, and does
// not see their close (descriptor_closer.h): the next use of the number is a race then.
int Receiver::receive_into_headers(std::size_t at_most) {
  const ClosingLimit limit;
  return static_cast<int>(::syscall(SYS_recvmmsg, fd_, slots_->headers.data(), at_most,
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
  for (mmsghdr& each : std::span(slots_->headers).first(used_)) {
    each.msg_len = 0;
    each.msg_hdr.msg_namelen = sizeof(sockaddr_un);
    each.msg_hdr.msg_controllen = takes_descriptors ? kWithDescriptorBytes : kCredentialsBytes;
  }
  slots_->batch.store(batch() + 1, std::memory_order_release);
  const int count = receive_into_headers(at_most);
  // One at which it failed, too.
  used_ = std::min(static_cast<std::size_t>(std::max(count, 0)) + 1, kBatch);
  if (count <= 0) return {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    msghdr& header = slots_->headers[i].msg_hdr;
    Datagram& datagram = datagrams_[i];
    datagram.bytes = {static_cast<char*>(vectors_[i].iov_base), slots_->headers[i].msg_len};
    datagram.record = nullptr;
    datagram.origin.address_size = header.msg_namelen;
    std::memcpy(&datagram.origin.address, &slots_->addresses[i], header.msg_namelen);
    datagram.origin.pid = 0;
    datagram.origin.uid = Origin{}.uid;
    datagram.truncated = (header.msg_flags & MSG_TRUNC) != 0;
    take_control(header, datagram);
  }
  const auto received = std::span(datagrams_).first(static_cast<std::size_t>(count));
  if (journal_) journal_->append(received, batch());
  return received;
}

}  // namespace tallyfs
