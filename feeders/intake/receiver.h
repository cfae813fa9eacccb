// Takes datagrams off the socket, several at a time, into slots that are there from the start:
// kBatch of wire::kDatagramBytesMax each, of which the kernel backs only what was ever used. The
// slots may be in a memory that outlives the process, in which another one finds what was received.
// Does not wait, but for ClosingLimit::kLongest when senders attach descriptors.
// Confined to the thread that has the intake's turn.
#pragma once

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/fd.h"
#include "core/wire/binary.h"
#include "feeders/intake/origin.h"

namespace tallyfs {

class AnswerChannels;
class InputJournal;
struct DatagramRecord;

// Enters what the kernel says of a received message's sender; leaves the rest as it is.
void read_credentials(msghdr& header, Origin& origin);

struct Datagram {
  std::span<char> bytes;  // good until the next receive(), 8-byte aligned
  Origin origin;
  bool truncated = false;    // it was longer than a buffer; what there is of it means nothing
  bool fds_refused = false;  // it had descriptors attached that are no answer channel
  DatagramRecord* record = nullptr;  // in the journal; nullptr: it is not there
  std::uint64_t record_place = 0;
};

class Receiver {
 public:
  // A sender that waits for room in the queue is woken once for as many, which costs more than to
  // take them.
  static constexpr std::size_t kBatch = 32;

  // Receives from this socket. channels: what descriptors are offered to; without it, all are
  // refused. Both outlive it.
  explicit Receiver(int fd, AnswerChannels* channels = nullptr);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  // From now on into the slots of the journal, which outlives this, and gets each batch.
  void receive_into(InputJournal& journal);
  static const std::size_t kSlotsBytes;
  // The datagrams that a process which died has received into such slots, its last batch, if it
  // is later than `known`. Their bytes stay there.
  static std::vector<Datagram> left_in(std::span<std::byte> slots, std::uint64_t known);
  static std::uint64_t batch_in(std::span<std::byte> slots);
  // The number of the batch that was received last.
  std::uint64_t batch() const { return slots_->batch.load(std::memory_order_relaxed); }

  // Receives what is queued in the socket, at_most <= kBatch; empty if nothing is.
  std::span<const Datagram> receive(std::size_t at_most = kBatch);
  // Drops the next one, of which nothing is copied. False: there is none.
  bool discard();

 private:
  // Room for the credentials, and for one descriptor where that may be a channel. Others that a
  // sender attaches find no place, and the kernel closes them instead of handing them to us.
  static constexpr std::size_t kCredentialsBytes = CMSG_SPACE(sizeof(ucred));
  static constexpr std::size_t kWithDescriptorBytes = kCredentialsBytes + CMSG_LEN(sizeof(int));
  struct Control {
    alignas(cmsghdr) std::array<char, kCredentialsBytes + CMSG_SPACE(sizeof(int))> bytes;
  };

  // What the kernel writes.
  struct Slots {
    std::atomic<std::uint64_t> batch{0};
    std::array<Control, kBatch> control;
    std::array<sockaddr_un, kBatch> addresses;
    std::array<mmsghdr, kBatch> headers;  // msg_len is 0 until the datagram was received
  };

  void use(std::byte* memory);
  int receive_into_headers(std::size_t at_most);
  void take_control(msghdr& header, Datagram& datagram);
  void take_descriptor(msghdr& header, Datagram& datagram);

  const int fd_;
  AnswerChannels* const channels_;
  InputJournal* journal_ = nullptr;  // nullptr: the slots are this process's own
  std::byte* memory_ = nullptr;
  Slots* slots_ = nullptr;
  std::array<iovec, kBatch> vectors_;
  std::array<Datagram, kBatch> datagrams_;
  std::size_t used_ = kBatch;  // headers that the kernel may have written since they were set
};

}  // namespace tallyfs
