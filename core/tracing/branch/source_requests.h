// The effect of a change of an instance on the sources: which sources have to be asked again.
// Values; they are made under the lock of Tracing's State and used after it is released.
#pragma once

#include <vector>

#include "core/tracing/branch/event_offers.h"

namespace tallyfs::tracing {

struct SourceRequests {
  std::vector<EventSource*> sources;
  bool asks = false;         // for more than before, or for something else
  bool undelivered = false;  // for an event that no source delivers
  // Events that are on and whose source will offer them again soon: it is asked for them then.
  std::vector<EventPath> expected;
  EventSource* expected_from = nullptr;

  // Enters the changed demands of the instance into the routes. Called with the lock held.
  void enter(TracingInstance& instance, const EventOffers& offers, EventRoutes& routes);
};

}  // namespace tallyfs::tracing
