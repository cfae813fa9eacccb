#include "core/branch/tracing/source_orders.h"

#include <algorithm>

namespace tallyfs {

void SourceOrders::enter(TracingInstance& instance, const EventOffers& offers,
                         EventRoutes& routes) {
  for (const EventNumber number : instance.set.demands.take_changed()) {
    const bool on = instance.set.demands.of(number).on;
    const auto name = instance.set.events.name(number);
    const OfferedEvent* const offered =
        offers.find({std::string(name.system), std::string(name.name)});
    if (!offered || !offered->source) {
      undelivered |= on;
      continue;
    }
    routes.set_target(*offered->source, offered->source_id, {&instance, number}, on);
    asks |= on;
    if (std::ranges::find(sources, offered->source) == sources.end()) {
      sources.push_back(offered->source);
    }
  }
  routes.note_asked();
}

}  // namespace tallyfs
