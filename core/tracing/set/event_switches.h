// Which events are enabled: `enable` of an event, of a system and of all, and set_event.
// Confined to the EventSet's lock; what is copied is a value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/set/event_table.h"

namespace tallyfs::tracing {

// The content of a file `enable`.
struct EnableState {
  bool on = false, off = false;  // both: some events are on and some are off
  bool waits = false;            // enable_event or disable_event triggers decide

  // "0\n", "1\n" or "X\n", with '*'.
  std::string text() const;
};

class EventSwitches {
 public:
  explicit EventSwitches(EventTable& events) : events_(events) {}

  EnableState state(EventNumber event) const;
  // The state of a system; that of all events if the name is empty.
  EnableState state(std::string_view system) const;
  // "0" or "1".
  Result<void> write(EventNumber event, std::string_view text);
  Result<void> write(std::string_view system, std::string_view text);

  // set_event. Words `SYS:EVENT`, `SYS:*`, `EVENT`, `*:*`, each with '!' to disable; kInvalid if
  // nothing matches.
  ChosenEvents chosen() const;
  Result<void> write_set_event(std::string_view text);
  void truncate_set_event();

  // The events that a person has enabled, and how to restore them when a write is undone.
  std::vector<EventNumber> enabled() const;
  void restore(const std::vector<EventNumber>& events);

 private:
  EventTable& events_;
};

}  // namespace tallyfs::tracing
