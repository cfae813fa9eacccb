// The feeder of the kernel's scheduling events without its orders: traces what is wanted, in an
// instance of its own that is there only as long as something is. What is wanted changes in place,
// event by event and filter by filter: what is wanted before and after is recorded all the time.
//
// Confined to one thread.
#pragma once

#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/model/wanted_events.h"
#include "feeders/kernel/event_shipper.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/recording.h"

namespace tallyfs {

class LatencyTracing {
 public:
  // Shipper and clock outlive it.
  LatencyTracing(EventShipper& shipper, const Clock& clock, RecordingOwner owner = {})
      : shipper_(shipper), clock_(clock), owner_(owner) {}
  ~LatencyTracing() { end(); }

  // From now on what is wanted, without the wakeups of some tasks. kNoAccess, kNoDevice: it cannot
  // be had; what was traced before is then traced on.
  Result<void> want(const WantedEvents& wanted, const std::vector<pid_t>& without);
  // What was wanted of a predecessor has been said: what is left of it besides goes.
  void drop_leftovers();
  // Has the exits of system calls traced of tasks whose switches the kernel leaves out, as far as
  // the records so far tell. Called now and then.
  void adapt();

  // The recording and its sink; nullptr: nothing is wanted.
  Recording* recording() { return running_ ? &*running_ : nullptr; }
  EventSink& sink() { return shipper_; }

 private:
  Result<void> begin();
  Result<void> change(const std::vector<TracefsInstance::Event>& events);
  Result<void> record(const TracefsInstance::Event& event);
  void end();

  EventShipper& shipper_;
  const Clock& clock_;
  RecordingOwner owner_;
  WantedEvents wanted_;
  std::vector<pid_t> without_;
  std::vector<pid_t> exits_of_;
  bool has_exits_ = true;                       // as far as is known, this kernel can trace them
  std::vector<TracefsInstance::Event> events_;  // that are on
  std::optional<Recording> running_;
};

}  // namespace tallyfs
