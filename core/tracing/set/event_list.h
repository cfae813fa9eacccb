// Names of events, as available_events and set_event show them. Values; an EventList is immutable
// once it is shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/record.h"

namespace tallyfs::tracing {

struct ListedEvent {
  EventNumber number = 0;
  std::string system, name;
};
// Ordered by system and name.
using EventList = std::vector<ListedEvent>;

// Events of a shared list, with a mark for each that is chosen.
struct ChosenEvents {
  std::shared_ptr<const EventList> list;
  std::vector<bool> chosen;  // as long as the list
};

// Lines `SYSTEM:EVENT`.
std::string event_list_text(const EventList& events);
std::string event_list_text(const ChosenEvents& events);

}  // namespace tallyfs::tracing
