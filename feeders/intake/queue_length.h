// net.unix.max_dgram_qlen, raised for the moment in which a socket is made: the kernel copies it
// into the socket there and then, and nowhere can it be changed or read later.
#pragma once

#include "core/base/fd.h"

namespace tally {

class QueueLength {
 public:
  // Raises the setting to wanted, if it is lower and we may. Another daemon that does the same
  // waits (flock on the setting's file), so that neither puts back the other's number.
  explicit QueueLength(unsigned wanted);
  // Puts it back.
  ~QueueLength();
  QueueLength(const QueueLength&) = delete;
  QueueLength& operator=(const QueueLength&) = delete;

  // What a socket made now will have.
  unsigned granted() const { return granted_; }
  // The setting as it is; 10, the kernel's own default, where it cannot be read.
  static unsigned current();

 private:
  Fd setting_;
  unsigned before_ = 0;
  unsigned granted_ = 0;
};

}  // namespace tally
