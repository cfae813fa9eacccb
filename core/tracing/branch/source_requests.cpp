#include "core/tracing/branch/source_requests.h"

#include <algorithm>

namespace tallyfs::tracing {

void SourceRequests::enter(TracingInstance& instance, const EventOffers& offers,
                           EventRoutes& routes) {
  for (const EventNumber number : instance.set.demands.take_changed()) {
    const bool on = instance.set.demands.of(number).on;
    const auto name = instance.set.events.name(number);
    EventPath path(name.system, name.name);
    const OfferedEvent* const offered = offers.find(path);
    if (!offered || !offered->source) {
      const bool is_expected = offers.is_expected(path);
      undelivered |= on && !is_expected;
      if (!is_expected) continue;
      expected_from = offers.expected_from();
      if (offers.has_id(path, offered->source_id)) {
        routes.set_target(*expected_from, offered->source_id, {&instance, number}, on);
      }
      if (on) expected.push_back(std::move(path));
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

}  // namespace tallyfs::tracing
