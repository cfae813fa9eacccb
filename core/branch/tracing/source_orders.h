// What a change of an instance means for the sources: which of them have to be asked again.
// Values; they are carried from under the lock of Tracing's State to where it is not held.
#pragma once

#include <vector>

#include "core/branch/tracing/event_offers.h"

namespace tallyfs {

struct SourceOrders {
  std::vector<EventSource*> sources;
  bool asks = false;         // for more than before, or for something else
  bool undelivered = false;  // for an event that no source delivers

  // Enters the demands of the instance that have changed into the routes. Under the lock.
  void enter(TracingInstance& instance, const EventOffers& offers, EventRoutes& routes);
};

}  // namespace tallyfs
