// Takes datagrams off the socket, several at a time, into buffers that are there from the start:
// kBatch of wire::kDatagramBytesMax each, of which the kernel backs only what was ever used.
// Does not wait, but for ClosingLimit::kLongest where senders can attach descriptors.
// Confined to the thread that has the intake's turn.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <span>

#include "core/wire/binary.h"

namespace tallyfs {

// The sender of a datagram, as the kernel vouches for it.
struct Origin {
  pid_t pid = 0;
  uid_t uid = 65534;  // the unprivileged user, until the kernel names the sender's
  sockaddr_un address{};
  socklen_t address_size = 0;  // of an unbound sender, which cannot be answered, no path

  bool bound() const { return address_size > sizeof(sa_family_t); }
};

// Enters what the kernel says of a received message's sender; leaves the rest as it is.
void read_credentials(msghdr& header, Origin& origin);

struct Datagram {
  std::span<char> bytes;  // good until the next receive(), 8-byte aligned
  Origin origin;
  bool truncated = false;    // it was longer than a buffer; what there is of it means nothing
  bool fds_refused = false;  // it had descriptors attached, or more control data than wanted
};

class Receiver {
 public:
  // A sender that waits for room in the queue is woken once for as many, which costs more than to
  // take them.
  static constexpr std::size_t kBatch = 32;

  // Receives from this socket, which outlives it.
  explicit Receiver(int fd);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  // What waits in the socket, at_most <= kBatch; empty if nothing does.
  std::span<const Datagram> receive(std::size_t at_most = kBatch);
  // Drops the next one, of which nothing is copied. False: there is none.
  bool discard();

 private:
  // Room for the credentials and for nothing else: descriptors that a sender attaches find no
  // place, and the kernel closes them instead of handing them to us.
  using Control = std::array<char, CMSG_SPACE(sizeof(ucred))>;

  int receive_into_headers(std::size_t at_most);

  const int fd_;
  const bool closes_descriptors_;
  char* memory_ = nullptr;
  std::array<Control, kBatch> control_;
  std::array<iovec, kBatch> vectors_;
  std::array<mmsghdr, kBatch> headers_;
  std::array<Datagram, kBatch> datagrams_;
  std::size_t used_ = kBatch;  // headers that the kernel may have written since they were set
};

}  // namespace tallyfs
