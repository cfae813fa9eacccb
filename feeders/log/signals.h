// SIGTERM and SIGINT, which end the feeder, and SIGHUP, which has it read its rules again, as
// something to poll for. Create it before the first thread, which would not block them otherwise.
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs::logs {

class Signals {
 public:
  // kNoSpace: no descriptor was left for it.
  static Result<Signals> create();

  int fd() const { return fd_.get(); }
  // Takes what has come.
  void read();
  bool is_stopped() const { return is_stopped_; }
  // Whether SIGHUP has come since the last call.
  bool take_reload();

 private:
  explicit Signals(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
  bool is_stopped_ = false;
  bool wants_reload_ = false;
};

}  // namespace tallyfs::logs
