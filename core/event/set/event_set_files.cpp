// The files of events and of systems that are neither triggers nor synthetic events: enable,
// filter, format, set_event; and what is asked of the sources.
#include <algorithm>

#include "core/base/text.h"
#include "core/event/set/event_set_state.h"

namespace tallyfs {
namespace {

constexpr std::string_view kNoSystemFilter =
    "### global filter ###\n"
    "# Use this to set filters for multiple events.\n"
    "# Only events with the given fields will be affected.\n"
    "# If no events are modified, an error message will be displayed here\n";

Error not_zero_or_one(std::string_view location, std::string_view text) {
  return refused({fault::kZeroOrOne}, location, text);
}

// 0 or 1 as a decimal number of C: 01 is one, 0x1 is none.
std::optional<bool> parse_switch(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (!text.empty() && text != "1") return std::nullopt;
  return !text.empty();
}

void enable(DefinedEvent& event, bool on) {
  event.enabled = on;
  event.soft_enabled = on;
}

// Which events `SYS:EVENT`, `SYS:`, `SYS` or `EVENT` means, with globs.
bool names(std::string_view pattern, const DefinedEvent& event) {
  const std::size_t colon = pattern.find(':');
  if (colon == pattern.npos) {
    return glob_matches(pattern, event.system) || glob_matches(pattern, event.format.name);
  }
  const std::string_view name = pattern.substr(colon + 1);
  return glob_matches(pattern.substr(0, colon), event.system) &&
         (name.empty() || glob_matches(name, event.format.name));
}

}  // namespace

std::string EventSet::render_format(EventNumber event) const {
  return state_->at(event).format_text;
}

std::string EventSet::render_id(EventNumber event) const {
  return std::to_string(state_->at(event).format.id) + "\n";
}

std::string EventSet::render_enable(EventNumber number) const {
  const DefinedEvent& event = state_->at(number);
  return std::string(event.is_on() ? "1" : "0") + (event.waiting > 0 ? "*\n" : "\n");
}

Result<void> EventSet::write_enable(EventNumber event, std::string_view text) {
  text = without_blanks(text);
  if (!state_->at(event).is_listed()) return gone(text);
  const auto on = parse_switch(text);
  if (!on) return not_zero_or_one("enable:" + state_->full_name(event), text);
  enable(state_->at(event), *on);
  return {};
}

std::string EventSet::render_enable(std::string_view system) const {
  bool on = false, off = false, waits = false;
  for (const auto& event : state_->events) {
    if (!event->is_listed() || (!system.empty() && event->system != system)) continue;
    (event->is_on() ? on : off) = true;
    waits |= event->waiting > 0;
  }
  return std::string(on && off ? "X" : on ? "1" : "0") + (waits ? "*\n" : "\n");
}

Result<void> EventSet::write_enable(std::string_view system, std::string_view text) {
  text = without_blanks(text);
  const auto on = parse_switch(text);
  if (!on) return not_zero_or_one("enable:" + std::string(system), text);
  for (const auto& event : state_->events) {
    if (event->is_listed() && (system.empty() || event->system == system)) enable(*event, *on);
  }
  return {};
}

Checked<void> EventSet::State::set_filter(DefinedEvent& event, std::string_view text) {
  event.filter.reset();
  event.filter_text.clear();
  event.filter_error.clear();
  if (text == "0") return {};
  auto filter = Filter::compile(text, event.format);
  if (!filter) {
    event.filter_error = std::string(text) + "\n" + std::string(filter.error().at, ' ') +
                         "^\nparse_error: " + std::string(filter.error().reason) + "\n";
    return filter.error();
  }
  event.filter = std::move(filter.value());
  event.filter_text = text;
  return {};
}

std::string EventSet::render_filter(EventNumber number) const {
  const DefinedEvent& event = state_->at(number);
  if (!event.filter_error.empty()) return event.filter_error;
  return (event.filter_text.empty() ? "none" : event.filter_text) + "\n";
}

Result<void> EventSet::write_filter(EventNumber number, std::string_view text) {
  text = without_blanks(text);
  DefinedEvent& event = state_->at(number);
  if (!event.defined) return gone(text);
  const auto set = state_->set_filter(event, text);
  if (set) return {};
  return refused(set.error(), "event filter parse error", text);
}

Result<void> EventSet::write_filter(std::string_view system, std::string_view text) {
  text = without_blanks(text);
  bool taken = false;
  for (const auto& event : state_->events) {
    if (!event->defined || event->system != system) continue;
    if (text != "0" && !Filter::compile(text, event->format)) continue;
    taken = state_->set_filter(*event, text).has_value() || taken;
  }
  if (taken) {
    // Only for systems that exist, so there are no more of them than events.
    state_->system_filters[std::string(system)] = text == "0" ? "" : text;
    return {};
  }
  return refused({fault::kBadSystemFilter}, "event filter parse error", text);
}

std::string EventSet::render_system_filter(std::string_view system) const {
  const auto at = state_->system_filters.find(system);
  if (at != state_->system_filters.end() && !at->second.empty()) return at->second + "\n";
  return std::string(kNoSystemFilter);
}

std::string EventSet::render_available_events() const {
  std::string text;
  for (const EventName& event : events()) {
    if (!state_->at(event.number).is_listed()) continue;
    text.append(event.system).append(":").append(event.name).append("\n");
  }
  return text;
}

std::string EventSet::render_set_event() const {
  std::string text;
  for (const EventName& event : events()) {
    const DefinedEvent& defined = state_->at(event.number);
    if (!defined.is_listed() || !defined.is_on()) continue;
    text.append(event.system).append(":").append(event.name).append("\n");
  }
  return text;
}

Result<void> EventSet::write_set_event(std::string_view text) {
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    const bool off = token->text.starts_with('!');
    const std::string_view pattern = off ? token->text.substr(1) : token->text;
    bool found = false;
    for (const auto& event : state_->events) {
      if (!event->is_listed() || !names(pattern, *event)) continue;
      enable(*event, !off);
      found = true;
    }
    if (!found) {
      return refused({fault::kNoSuchEvent, std::string(token->text)}, "set_event", text);
    }
  }
  return {};
}

void EventSet::truncate_set_event() {
  for (const auto& event : state_->events) enable(*event, false);
}

std::vector<EventNumber> EventSet::enabled_events() const {
  std::vector<EventNumber> enabled;
  for (EventNumber number = 0; number < state_->events.size(); ++number) {
    if (state_->at(number).enabled) enabled.push_back(number);
  }
  return enabled;
}

void EventSet::restore_enabled(const std::vector<EventNumber>& events) {
  for (EventNumber number = 0; number < state_->events.size(); ++number) {
    DefinedEvent& event = state_->at(number);
    const bool was = std::ranges::binary_search(events, number);
    if (event.defined && event.enabled != was) enable(event, was);
  }
}

Demand EventSet::State::demand(const DefinedEvent& event) const {
  Demand demand;
  if (!event.is_listed() || event.is_synthetic()) return demand;
  std::vector<std::string_view> filters;
  if (event.is_traced()) filters.push_back(event.filter_text);
  for (const auto& trigger : event.triggers) filters.push_back(trigger->filter_text);
  demand.on = !filters.empty();
  std::vector<const DefinedEvent*> seen;
  add_needs(event, demand, seen);
  const bool common = demand.on && std::ranges::count(filters, filters.front()) ==
                                       static_cast<std::ptrdiff_t>(filters.size());
  if (common) demand.filter = filters.front();
  return demand;
}

void EventSet::State::add_needs(const DefinedEvent& event, Demand& demand,
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
      if (action.kind == ActionKind::kTrace) add_needs(at(action.synthetic), demand, seen);
    }
  }
}

Demand EventSet::demand(EventNumber event) const { return state_->demand(state_->at(event)); }

std::vector<EventNumber> EventSet::take_changed_demands() {
  std::vector<EventNumber> changed;
  for (EventNumber number = 0; number < state_->events.size(); ++number) {
    DefinedEvent& event = state_->at(number);
    Demand now = state_->demand(event);
    if (now == event.told) continue;
    event.told = std::move(now);
    changed.push_back(number);
  }
  return changed;
}

}  // namespace tallyfs
