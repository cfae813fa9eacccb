// The tracing directory as an engine: events and their formats, the triggers set on them, the
// histograms that these fill, synthetic events, and traced records. One EventSet is one tracing
// instance (the kernel's manual "Event Histograms"; grammar: TRIGGERS.md). It knows nothing of
// sockets, files or the mount. Texts go in and out, records come in, and demands.take_changed()
// gives the demands on the sources of events.
//
// Each part has one duty, and a class and a header of its own. Their use:
//   * an event is defined in `events`, by the kernel's format text or by fields like
//     `u64 lat; pid_t pid`, and known by its number from then on;
//   * a text that is written into a file goes to the write...() of the part that keeps the file's
//     content, which replies with an Error for error_log;
//   * a file is read in two steps: the part gives a copy, a value; the text is made of the copy,
//     outside the lock;
//   * after each write, demands.take_changed() names the events whose source must be notified;
//   * records are fed in the order of their times. Synthetic events come into being within feed().
//
// Confined to its holder's lock, as are all parts; copies are values that any thread may render.
//
// Limits (Limits, and those of the kernel in TRIGGERS.md): an excess is refused with kNoSpace or
// counted in Counts, which the tree shows.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/tracing/set/demands.h"
#include "core/tracing/set/event_filters.h"
#include "core/tracing/set/event_switches.h"
#include "core/tracing/set/event_table.h"
#include "core/tracing/set/hist_registry.h"
#include "core/tracing/set/pid_follower.h"
#include "core/tracing/set/record_feed.h"
#include "core/tracing/set/synthetic_events.h"
#include "core/tracing/set/trace_selection.h"
#include "core/tracing/set/trace_store.h"
#include "core/tracing/set/trigger_commands.h"
#include "core/tracing/set/trigger_store.h"

namespace tallyfs::tracing {

struct EventLimits {
  std::size_t events_max = 65'536;
  std::size_t triggers_max = 4096;            // of all events together
  std::size_t hist_bytes_max = 512ull << 20;  // the bytes that all histograms may grow to
  std::size_t trace_bytes_max = 4ull << 20;   // bytes for `trace`, and for `snapshot`
  std::size_t pids_max = 1024;                // in set_event_pid, set_event_notrace_pid
  std::size_t synthetic_depth_max = 8;        // synthetic events that cause synthetic events
};

class EventSet {
 public:
  using Limits = EventLimits;

  EventSet() : EventSet(Limits()) {}
  // ids: see EventTable.
  explicit EventSet(const Limits& limits, std::shared_ptr<EventIds> ids = nullptr);
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;

  // events.define_event() with priority over any other definition: an event that is in use with
  // another definition is redefined as well. All that is set on it is removed, and the triggers
  // that reference that. Triggers of other events that only name the event stay.
  Result<EventNumber> take_over_event(std::string_view system, std::string_view format);
  // The event is defined otherwise than when it was saved: by another kernel. All that is set on it
  // is set again, with the entries of its histograms. Returns what does not fit any more, which is
  // removed.
  Result<std::vector<Error>> redefine_event(std::string_view system, std::string_view format);
  // excluded: the task of a switch that is not shown. The record counts only for triggers whose
  // keys name the other task, and that one only.
  void feed(const EventRecord& record, SwitchSide excluded = SwitchSide::kNone) {
    feed_.feed(record, excluded);
  }
  EventCounts counts() const { return feed_.counts(); }

  EventTable events;
  EventSwitches switches;     // enable, set_event
  EventFilters filters;       // filter
  SyntheticEvents synthetic;  // synthetic_events, dynamic_events
  TraceSelection selection;   // set_event_pid, tracing_cpumask
  PidFollower follower;       // options/event-fork
  TraceStore trace;           // trace, snapshot, tracing_on
  TriggerStore triggers;      // trigger: what is set
  NamedEvents named;          // those that a command may name
  HistRegistry hists;         // hist
  TriggerCommands commands;   // trigger: what is written
  Demands demands;

 private:
  RecordFeed feed_;
};

}  // namespace tallyfs::tracing
