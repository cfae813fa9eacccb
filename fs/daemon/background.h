// Moves the daemon into the background without hiding a failed start: the command returns when the
// daemon can be used, or with the reason why not. Called before any thread exists.
#pragma once

#include "core/base/fd.h"

namespace tallyfs {

// The background half of the process. The starting process waits until ready() was called (exit
// status 0), or until this half ended without that call (its own status).
class Background {
 public:
  // Forks. Returns in the child only; the parent waits and exits.
  static Background enter();

  // Ends the parent's wait, and detaches from the terminal.
  void ready();

 private:
  explicit Background(Fd pipe) : pipe_(std::move(pipe)) {}
  Fd pipe_;
};

}  // namespace tallyfs
