// The source of the kernel's scheduling events. It is told which events are wanted.
#pragma once

#include <functional>

#include "core/base/result.h"
#include "core/model/wanted_events.h"

namespace tallyfs {

// Called from any thread, with no lock of the caller's held.
class KernelSource {
 public:
  virtual ~KernelSource() = default;

  // Has the events fed that wanted() says, which it may call several times, also later: what it
  // said last is what counts. Waits for the feeder, at most some seconds. kNoDevice: there is no
  // feeder, or this kernel has no such events; kNoAccess: that takes rights which the feeder has
  // not.
  virtual Result<void> want(const std::function<WantedEvents()>& wanted) = 0;
  // Has what the kernel recorded before this call sent to the socket; gives up soon.
  virtual void drain() = 0;
};

}  // namespace tallyfs
