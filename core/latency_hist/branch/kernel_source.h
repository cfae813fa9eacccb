// The source of the kernel's scheduling events: its feeder is told here which are wanted.
#pragma once

#include <functional>

#include "core/base/call_context.h"
#include "core/base/result.h"
#include "core/model/wanted_events.h"

namespace tallyfs::latency_hist {

// Called from any thread, with no lock of the caller's held.
class KernelSource {
 public:
  virtual ~KernelSource() = default;

  // Has the events fed that wanted() returns. wanted() may be called several times, also later; the
  // last result counts. Waits for the feeder while it is at work. kNoDevice: there is no
  // feeder, or this kernel has no such events; kNoAccess: the feeder lacks the rights; kTimedOut;
  // kInterrupted: the call was cancelled.
  virtual Result<void> want(const std::function<WantedEvents()>& wanted,
                            const CancellationToken& cancel) = 0;
  // Has what the kernel recorded before this call sent to the socket; gives up soon, or when the
  // call is cancelled.
  virtual void drain(const CancellationToken& cancel) = 0;
};

}  // namespace tallyfs::latency_hist
