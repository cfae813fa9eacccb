// SIGTERM and SIGINT as something to poll for, so that a feeder's loop ends where it stands and its
// destructors clean up. SIGHUP ends it, too, or has it read its settings again. Create it before
// the first thread, which would not block the signals otherwise.
#pragma once

#include <utility>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

class StopSignal {
 public:
  enum class Hangup { kStops, kReloads };
  // kNoSpace: no descriptor was left for it.
  static Result<StopSignal> create(Hangup hangup = Hangup::kStops);

  // Becomes readable when one of the signals arrives, and stays so until it is read.
  int fd() const { return fd_.get(); }
  // Drains what has arrived.
  void read();
  bool is_stopped() const { return is_stopped_; }
  // Whether SIGHUP has arrived since the last call, if it reloads.
  bool take_reload();

 private:
  StopSignal(Fd fd, Hangup hangup) : fd_(std::move(fd)), hangup_(hangup) {}

  Fd fd_;
  Hangup hangup_;
  bool is_stopped_ = false;
  bool wants_reload_ = false;
};

}  // namespace tallyfs
