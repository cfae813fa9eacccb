// The demands on the sources of an EventSet's events. They follow from the switches, filters and
// triggers that are set.
// Confined to the EventSet's lock.
#pragma once

#include <vector>

#include "core/event/set/demand.h"
#include "core/event/set/event_table.h"

namespace tallyfs {

class Demands {
 public:
  explicit Demands(EventTable& events) : events_(events) {}

  Demand of(EventNumber event) const { return of(events_.at(event)); }
  // Events whose demand has changed since the last call, each once.
  std::vector<EventNumber> take_changed();

 private:
  Demand of(const DefinedEvent& event) const;
  // Adds the parts of a record that the event's filters, triggers and readers need, and the needs
  // of the synthetic events that it causes. seen: events whose needs are included already.
  void add_needs(const DefinedEvent& event, Demand& demand,
                 std::vector<const DefinedEvent*>& seen) const;

  EventTable& events_;
};

}  // namespace tallyfs
