// Going into the background without lying: the command returns when the daemon can be used, or
// when it is known why not. Before any thread.
#pragma once

#include "core/base/fd.h"

namespace tallyfs {

// The background half of the process. The starting process waits until ready() was called (exit
// status 0), or this half ended without it (its own status).
class Background {
 public:
  // Forks. Returns in the child only; the parent waits and exits.
  static Background enter();

  // Lets the parent go, and lets go of the terminal.
  void ready();

 private:
  explicit Background(Fd pipe) : pipe_(std::move(pipe)) {}
  Fd pipe_;
};

}  // namespace tallyfs
