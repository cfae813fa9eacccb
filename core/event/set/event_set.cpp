#include "core/event/set/event_set.h"

#include <utility>

namespace tallyfs {

EventSet::EventSet(const Limits& limits, std::shared_ptr<EventIds> ids)
    : events(limits.events_max, std::move(ids)),
      switches(events),
      filters(events),
      synthetic(events),
      selection(limits.pids_max),
      follower(events, selection),
      trace(events, limits.trace_bytes_max),
      triggers(events, limits.triggers_max),
      hists(events, triggers, trace, limits.hist_bytes_max),
      commands(events, triggers, hists, trace),
      demands(events),
      feed_(events, selection, follower, trace, limits.synthetic_depth_max) {}

Result<EventNumber> EventSet::take_over_event(std::string_view system, std::string_view format) {
  const auto parsed = parse_event_format(format);
  if (!parsed) return parsed.error();
  const auto known = events.find(system, parsed.value().name);
  if (!known || system == kSyntheticSystem || *events.format_text(*known) == format) {
    return events.define_event(system, format);
  }
  triggers.strip(*known);
  DefinedEvent& event = events.at(*known);
  // Triggers that name the event keep their reference, but another source delivers the event.
  const auto waiting = std::exchange(event.waiting, 0);
  const auto referrers = std::exchange(event.referrers, 0);
  const Demand told = event.told;
  const bool is_followed = std::exchange(event.follows, std::nullopt).has_value();
  const auto defined = events.define_event(system, format);
  event.waiting = waiting;
  event.referrers = referrers;
  event.told = told;
  // Its fields lie elsewhere now.
  if (is_followed) (void)follower.set_on(true);
  return defined;
}

}  // namespace tallyfs
