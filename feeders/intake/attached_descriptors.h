// Descriptors that senders attach to datagrams (SCM_RIGHTS). One may be a channel for answers
// (answer_channels.h). The kernel closes those beyond in the thread that receives the datagram, on
// its way out of the kernel. That may wait: for data of a socket that its peer does not read, as
// long as SO_LINGER says. Such a wait ends when a signal comes, and those that follow it do not
// begin.
#pragma once

#include <chrono>

namespace tallyfs {

// Since Linux 6.16 a socket may refuse them, as those of older daemons do: this one does not.
void accept_descriptors(int socket);

// As long as it exists, this thread takes a signal each kLongest, which does nothing but end waits
// of the kernel's. At other times the signal is blocked. Confined to a thread.
class ClosingLimit {
 public:
  // A datagram's descriptors delay the thread so long, half of Intake::kTurnMax. The timer runs in
  // such waits alone, so that a shorter period would save time, but no more than that half.
  static constexpr std::chrono::milliseconds kLongest{1};

  ClosingLimit();
  ~ClosingLimit();
  ClosingLimit(const ClosingLimit&) = delete;
  ClosingLimit& operator=(const ClosingLimit&) = delete;
};

}  // namespace tallyfs
