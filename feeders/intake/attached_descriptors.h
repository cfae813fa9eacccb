// Descriptors that senders attach to datagrams (SCM_RIGHTS), which the daemon does not want.
//
// Since Linux 6.16 the kernel refuses such a datagram, and its sender is told. Before, it closes
// them in the thread that receives the datagram, on its way out of the kernel. That may wait: for
// data of a socket that its peer does not read, as long as SO_LINGER says. Such a wait ends when a
// signal comes, and those that follow it do not begin. To receive them and have another thread
// close them would be worse: a close(2) waits for the file system of a sender's own (FUSE), and no
// signal ends that.
#pragma once

#include <chrono>

namespace tallyfs {

// From now on, if the kernel can.
void refuse_descriptors(int socket);
bool refuses_descriptors(int socket);

// As long as it exists, this thread is sent a signal after kLongest and again, which does nothing
// but end waits of the kernel's. Confined to a thread.
class ClosingLimit {
 public:
  static constexpr std::chrono::milliseconds kLongest{1};

  ClosingLimit();
  ~ClosingLimit();
  ClosingLimit(const ClosingLimit&) = delete;
  ClosingLimit& operator=(const ClosingLimit&) = delete;
};

}  // namespace tallyfs
