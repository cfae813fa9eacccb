// Passes changes of the kernel's feeder (tally-feed-tracefs) on to the branches: a feeder that
// arrives offers events, a feeder that ends leaves a gap, and a refusal goes to the error log.
//
// The OrderedFeeder calls it on its listening thread, and `left_out` on any thread. All objects
// that it refers to outlive those threads.
#pragma once

#include <functional>
#include <string>

#include "core/base/clock.h"
#include "core/tree/barrier.h"
#include "core/tree/error_log.h"
#include "fs/daemon/branches.h"
#include "fs/daemon/kernel_feeder/ordered_feeder.h"

namespace tallyfs {

class KernelEvents {
 public:
  KernelEvents(Branches& branches, Barrier& intake, ErrorLog& errors, const Clock& clock)
      : branches_(branches), intake_(intake), errors_(errors), clock_(clock) {}

  // ready: see OrderedFeeder::Listeners.
  OrderedFeeder::Listeners listeners(std::function<void()> ready);

 private:
  bool arrived(const std::string& without_events);
  void gone(const std::string& reason);
  void refused(OrderedFeeder::Asked what, const Error& error);

  Branches& branches_;
  Barrier& intake_;
  ErrorLog& errors_;
  const Clock& clock_;
};

}  // namespace tallyfs
