// The demands on the sources of an EventSet's events. They follow from the events that are enabled
// and from the filters and triggers that are set, not from readers or switches in shared memory.
// Confined to the EventSet's lock.
#pragma once

#include <vector>

#include "core/model/demand.h"
#include "core/tracing/set/event_table.h"

namespace tallyfs::tracing {

class Demands {
 public:
  explicit Demands(EventTable& events) : events_(events) {}

  // Empty for a synthetic, built-in or removed event: no source delivers it.
  Demand of(EventNumber event) const { return of(events_.at(event)); }
  // Events whose demand has changed since the last call, each once.
  std::vector<EventNumber> take_changed();

 private:
  Demand of(const DefinedEvent& event) const;
  // Adds stack and comm if the trace, the filters or the triggers of the event need them. Does the
  // same for the synthetic events that it causes. seen: events whose needs are included already.
  void add_needs(const DefinedEvent& event, Demand& demand,
                 std::vector<const DefinedEvent*>& seen) const;

  EventTable& events_;
};

}  // namespace tallyfs::tracing
