#include "core/tracing/set/demands.h"

#include <algorithm>

namespace tallyfs::tracing {

Demand Demands::of(const DefinedEvent& event) const {
  Demand demand;
  if (!event.is_listed() || event.is_synthetic()) return demand;
  std::vector<std::string_view> filters;
  if (event.is_traced()) filters.push_back(event.filter_text);
  for (const auto& trigger : event.triggers) filters.push_back(trigger->filter_text);
  if (event.follows) filters.emplace_back();
  demand.on = !filters.empty();
  std::vector<const DefinedEvent*> seen;
  add_needs(event, demand, seen);
  const bool common = demand.on && std::ranges::count(filters, filters.front()) ==
                                       static_cast<std::ptrdiff_t>(filters.size());
  if (common) demand.filter = filters.front();
  return demand;
}

void Demands::add_needs(const DefinedEvent& event, Demand& demand,
                        std::vector<const DefinedEvent*>& seen) const {
  if (std::ranges::find(seen, &event) != seen.end()) return;
  seen.push_back(&event);
  demand.comm |= event.is_traced() || (event.filter && event.filter->uses_comm());
  for (const auto& trigger : event.triggers) {
    const bool traces = trigger->kind == TriggerKind::kStacktrace;
    demand.stack |= traces;
    demand.comm |= traces || (trigger->filter && trigger->filter->uses_comm());
    if (!trigger->plan) continue;
    demand.stack |= trigger->plan->needs_stack;
    demand.comm |= trigger->plan->needs_comm;
    for (const Action& action : trigger->plan->actions) {
      if (action.kind == ActionKind::kTrace) add_needs(events_.at(action.synthetic), demand, seen);
    }
  }
}

std::vector<EventNumber> Demands::take_changed() {
  std::vector<EventNumber> changed;
  for (EventNumber number = 0; number < events_.size(); ++number) {
    DefinedEvent& event = events_.at(number);
    Demand now = of(event);
    if (now == event.told) continue;
    event.told = std::move(now);
    changed.push_back(number);
  }
  return changed;
}

}  // namespace tallyfs::tracing
