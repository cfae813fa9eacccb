// The path of a record through an EventSet: tracing, then the event's triggers in turn, their
// actions, and the synthetic events that these cause.
//
// Confined to the EventSet's lock. Triggers are compiled when they are set: feed() parses nothing,
// allocates only for a key that is new, and makes no virtual call.
// Limits: depth_max synthetic events that cause synthetic events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tracing/format/task_fields.h"
#include "core/tracing/set/event_table.h"
#include "core/tracing/set/pid_follower.h"
#include "core/tracing/set/trace_selection.h"
#include "core/tracing/set/trace_store.h"

namespace tallyfs::tracing {

// Bounds that were reached, and records that could not be used, since the set was made.
struct EventCounts {
  std::uint64_t records = 0;
  std::uint64_t records_short = 0;    // fewer bytes than the event's fixed fields
  std::uint64_t records_unknown = 0;  // of an event that is not defined
  std::uint64_t synthetic = 0;
  std::uint64_t synthetic_cut = 0;      // beyond depth_max
  std::uint64_t records_of_others = 0;  // left out by set_event_pid or tracing_cpumask
  std::uint64_t trace_overwritten = 0;
};

class RecordFeed {
 public:
  RecordFeed(EventTable& events, const TraceSelection& selection, PidFollower& follower,
             TraceStore& trace, std::size_t depth_max)
      : events_(events),
        selection_(selection),
        follower_(follower),
        trace_(trace),
        levels_(depth_max + 1) {}

  // Records come in the order of their times. excluded: see EventSet::feed().
  void feed(const EventRecord& record, SwitchSide excluded) { feed(record, excluded, 0); }
  EventCounts counts() const;

 private:
  // The working memory of one level of synthetic events that cause synthetic events.
  struct Level {
    HistUpdate update;
    std::string bytes;
  };

  void feed(const EventRecord& record, SwitchSide excluded, std::size_t depth);
  void trace(const DefinedEvent& event, const EventRecord& record);
  void act(Trigger& trigger, const EventRecord& record);
  void run_actions(const Trigger& trigger, const EventRecord& record, std::size_t depth);
  void run_action(const Action& action, const Trigger& trigger, const EventRecord& record,
                  std::size_t depth);
  // Stores the new value that the action tracks. False: the action does nothing for this record.
  bool track(const Action& action, const HistUpdate& update);
  void take_snapshot(const Action& action, const Trigger& trigger, const EventRecord& record,
                     const HistUpdate& update);
  static void save(const Trigger& trigger, const EventRecord& record, const HistUpdate& update);
  void trace_synthetic(const Action& action, const EventRecord& record, std::size_t depth);

  EventTable& events_;
  const TraceSelection& selection_;
  PidFollower& follower_;
  TraceStore& trace_;
  EventCounts counts_;
  std::vector<Level> levels_;
};

}  // namespace tallyfs::tracing
