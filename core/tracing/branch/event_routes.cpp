#include "core/tracing/branch/event_routes.h"

#include <algorithm>

namespace tallyfs::tracing {
namespace {

bool has_targets(const EventRoute& route) { return !route.targets.empty(); }

void remove_targets(EventRoute& route, const TracingInstance& instance) {
  std::erase_if(route.targets, [&](const EventTarget& each) { return each.instance == &instance; });
}

WantedEvent wanted_event(std::uint32_t source_id, const std::vector<EventTarget>& targets) {
  const EventTarget& first = targets.front();
  WantedEvent event{source_id, first.instance->set.demands.of(first.number)};
  for (const auto& [instance, number] : targets) {
    const Demand also = instance->set.demands.of(number);
    event.demand.stack |= also.stack;
    event.demand.comm |= also.comm;
    if (also.filter != event.demand.filter) event.demand.filter.clear();
  }
  return event;
}

}  // namespace

const EventRoutes::BySourceId* EventRoutes::of(const EventSource& source) const {
  const auto found = routes_.find(&source);
  return found == routes_.end() ? nullptr : &found->second;
}

std::vector<WantedEvent> EventRoutes::wanted(EventSource& source) const {
  std::vector<WantedEvent> all;
  const BySourceId* const by_id = of(source);
  if (!by_id) return all;
  for (std::uint32_t id = 0; id < by_id->size(); ++id) {
    const auto& targets = (*by_id)[id].targets;
    if (!targets.empty()) all.push_back(wanted_event(id, targets));
  }
  return all;
}

bool EventRoutes::is_asked(EventSource& source, const TracingInstance* instance) const {
  const BySourceId* const by_id = of(source);
  const auto is_meant = [instance](const EventTarget& target) {
    return !instance || target.instance == instance;
  };
  return by_id && std::ranges::any_of(*by_id, [&](const EventRoute& route) {
           return std::ranges::any_of(route.targets, is_meant);
         });
}

bool EventRoutes::is_prompt_asked_by(const TracingInstance* instance) const {
  return std::ranges::any_of(sources_, [&](EventSource* source) {
    return !source->is_late() && is_asked(*source, instance);
  });
}

std::vector<EventSource*> EventRoutes::asked_by(const TracingInstance& instance) const {
  std::vector<EventSource*> asked;
  for (const auto& [source, by_id] : routes_) {
    if (is_asked(*source, &instance)) asked.push_back(source);
  }
  return asked;
}

std::set<TracingInstance*> EventRoutes::fed_by(const EventSource& source) const {
  std::set<TracingInstance*> fed;
  const BySourceId* const by_id = of(source);
  if (!by_id) return fed;
  for (const EventRoute& route : *by_id) {
    for (const EventTarget& target : route.targets) fed.insert(target.instance);
  }
  return fed;
}

std::set<TracingInstance*> EventRoutes::fed_by(const EventSource& source,
                                               std::uint32_t source_id) const {
  std::set<TracingInstance*> fed;
  const BySourceId* const by_id = of(source);
  if (!by_id || source_id >= by_id->size()) return fed;
  for (const EventTarget& target : (*by_id)[source_id].targets) fed.insert(target.instance);
  return fed;
}

bool EventRoutes::may_be_overtaken() const {
  return is_late_asked_ || std::ranges::any_of(sources_, &EventSource::is_from_several);
}

void EventRoutes::note_asked() {
  is_late_asked_ = is_prompt_asked_ = false;
  for (const auto& [source, by_id] : routes_) {
    if (!std::ranges::any_of(by_id, has_targets)) continue;
    (source->is_late() ? is_late_asked_ : is_prompt_asked_) = true;
  }
}

EventRoute& EventRoutes::renew(EventSource& source, std::uint32_t source_id) {
  if (std::ranges::find(sources_, &source) == sources_.end()) sources_.push_back(&source);
  BySourceId& by_id = routes_[&source];
  if (by_id.size() <= source_id) by_id.resize(source_id + std::size_t{1});
  return by_id[source_id] = {};
}

void EventRoutes::set_target(EventSource& source, std::uint32_t source_id,
                             const EventTarget& target, bool on) {
  const auto found = routes_.find(&source);
  // The source has gone meanwhile: its next offer leads to all that want the event.
  if (found == routes_.end() || source_id >= found->second.size()) return;
  EventRoute& route = found->second[source_id];
  remove_targets(route, *target.instance);
  if (on) route.targets.push_back(target);
}

void EventRoutes::remove(EventSource& source) {
  routes_.erase(&source);
  std::erase(sources_, &source);
}

void EventRoutes::remove(const TracingInstance& instance) {
  for (auto& [source, by_id] : routes_) {
    for (EventRoute& route : by_id) remove_targets(route, instance);
  }
}

}  // namespace tallyfs::tracing
