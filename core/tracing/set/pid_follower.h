// options/event-fork: children of a listed process are entered into set_event_pid and
// set_event_notrace_pid, and processes that end leave the lists. It is done by the records of
// sched:sched_process_fork and sched:sched_process_exit, the kernel's or a program's.
// Confined to the EventSet's lock.
#pragma once

#include "core/tracing/set/event_table.h"
#include "core/tracing/set/trace_selection.h"

namespace tallyfs::tracing {

class PidFollower {
 public:
  PidFollower(EventTable& events, TraceSelection& selection)
      : events_(events), selection_(selection) {}

  // kInvalid: one of the two events is not defined, or has no field with the process.
  Result<void> set_on(bool on);
  // For an event with DefinedEvent::follows.
  void follow(const DefinedEvent& event, const EventRecord& record) {
    follow(*event.follows, record);
  }

 private:
  void follow(const Follows& follows, const EventRecord& record);
  Result<void> find(std::string_view event, std::string_view parent, std::string_view subject,
                    Follows::What what);

  EventTable& events_;
  TraceSelection& selection_;
};

}  // namespace tallyfs::tracing
