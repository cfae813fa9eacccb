// SIGTERM and SIGINT as something to poll for, so that a feeder's loop ends where it stands and
// its destructors clean up. Create it before the first thread, which would not block the signals
// otherwise.
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

class StopSignal {
 public:
  // kNoSpace: no descriptor was left for it.
  static Result<StopSignal> create();

  // Becomes readable, and stays so, when one of the signals arrives.
  int fd() const { return fd_.get(); }

 private:
  explicit StopSignal(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace tallyfs
