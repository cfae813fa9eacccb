// net.unix.max_dgram_qlen, set for the moment in which a socket is made: the kernel copies it
// into the socket there and then, and nowhere can it be changed or read later.
#pragma once

#include <chrono>
#include <optional>

#include "core/base/fd.h"

namespace tallyfs {

class QueueLength {
 public:
  // Another daemon that does the same is waited for (flock on the setting's file), so that neither
  // puts back the other's number; but not for long, since any process may lock that file. The other
  // daemon needs it for a read and a write of /proc. This is the most by which a start or an end is
  // late.
  static constexpr std::chrono::milliseconds kWaitMax{500};

  // Sets it, if we may and it is lower.
  explicit QueueLength(unsigned wanted);
  // Puts it back.
  ~QueueLength();
  QueueLength(const QueueLength&) = delete;
  QueueLength& operator=(const QueueLength&) = delete;

  // Returns the length that a socket made now has; nullopt if it is not in our hands.
  std::optional<unsigned> granted() const { return granted_; }
  // The setting as it is; 10, the kernel's own default, where it cannot be read.
  static unsigned current();

 private:
  Fd setting_;
  unsigned before_ = 0;
  std::optional<unsigned> granted_;
};

}  // namespace tallyfs
