// The files of events and of the whole set that are neither triggers nor synthetic events: enable,
// filter, format, set_event, trace and snapshot; and what is asked of the sources.
#include <algorithm>

#include "core/base/text.h"
#include "core/event/event_set_state.h"

namespace tally {
namespace {

constexpr std::string_view kNoSnapshot =
    "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n# Snapshot commands:\n"
    "# echo 0 > snapshot : Clears and frees snapshot buffer\n"
    "# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
    "#                      Takes a snapshot of the main buffer.\n"
    "# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)\n"
    "#                      (Doesn't have to be '2' works with any number that\n"
    "#                       is not a '0' or '1')\n";

constexpr std::string_view kNoSystemFilter =
    "### global filter ###\n"
    "# Use this to set filters for multiple events.\n"
    "# Only events with the given fields will be affected.\n"
    "# If no events are modified, an error message will be displayed here\n";

Refusal not_zero_or_one(std::string_view location, std::string_view text) {
  return refused({fault::kZeroOrOne}, location, text);
}

bool is_switch(std::string_view text) { return text == "0" || text == "1"; }

void enable(DefinedEvent& event, std::string_view text) {
  event.enabled = text == "1";
  event.soft_enabled = event.enabled;
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

Reply<void> EventSet::write_enable(EventNumber event, std::string_view text) {
  text = without_blanks(text);
  if (!state_->at(event).is_listed()) return gone(text);
  if (!is_switch(text)) return not_zero_or_one("enable:" + state_->full_name(event), text);
  enable(state_->at(event), text);
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

Reply<void> EventSet::write_enable(std::string_view system, std::string_view text) {
  text = without_blanks(text);
  if (!is_switch(text)) return not_zero_or_one("enable:" + std::string(system), text);
  for (const auto& event : state_->events) {
    if (event->is_listed() && (system.empty() || event->system == system)) enable(*event, text);
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
    const auto& [reason, column] = filter.error();
    event.filter_error = std::string(text) + "\n" + std::string(column, ' ') +
                         "^\nparse_error: " + std::string(reason) + "\n";
    return Fault{reason};
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

Reply<void> EventSet::write_filter(EventNumber number, std::string_view text) {
  text = without_blanks(text);
  DefinedEvent& event = state_->at(number);
  if (!event.defined) return gone(text);
  if (state_->set_filter(event, text)) return {};
  const auto wrong = Filter::compile(text, event.format).error();
  return Refusal{Error{ErrorCode::kInvalid, std::string(wrong.reason), wrong.at},
                 "event filter parse error", std::string(text)};
}

Reply<void> EventSet::write_filter(std::string_view system, std::string_view text) {
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

Reply<void> EventSet::write_set_event(std::string_view text) {
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    const bool off = token->text.starts_with('!');
    const std::string_view pattern = off ? token->text.substr(1) : token->text;
    bool found = false;
    for (const auto& event : state_->events) {
      if (!event->is_listed() || !names(pattern, *event)) continue;
      enable(*event, off ? "0" : "1");
      found = true;
    }
    if (!found) {
      return refused({fault::kNoSuchEvent, std::string(token->text)}, "set_event", text);
    }
  }
  return {};
}

void EventSet::truncate_set_event() {
  for (const auto& event : state_->events) enable(*event, "0");
}

std::string EventSet::render_set_event_pid() const {
  std::string text;
  for (const std::int32_t pid : state_->pids) text.append(std::to_string(pid)).append("\n");
  return text;
}

Reply<void> EventSet::write_set_event_pid(std::string_view text) {
  std::vector<std::int32_t> pids = state_->pids;
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    const auto pid = parse_unsigned(token->text);
    if (!pid || *pid > 0x7fffffff) {
      return refused({fault::kBadPid, std::string(token->text)}, "set_event_pid", text);
    }
    const auto number = static_cast<std::int32_t>(*pid);
    const auto at = std::ranges::lower_bound(pids, number);
    if (at == pids.end() || *at != number) pids.insert(at, number);
    if (pids.size() > state_->limits.pids_max) {
      return refused({fault::kTooManyPids, std::string(token->text), ErrorCode::kNoSpace},
                     "set_event_pid", text);
    }
  }
  state_->pids = std::move(pids);
  return {};
}

void EventSet::truncate_set_event_pid() { state_->pids.clear(); }

TraceCopy EventSet::State::copy(const TraceBuffer& records) const {
  TraceCopy copy(records);
  for (const auto& [number, generation] : records.events()) {
    const DefinedEvent& event = at(number);
    if (event.defined && event.generation == generation) {
      copy.add(number, generation, event.format,
               event.built_in ? TraceBuffer::Style::kMarker : TraceBuffer::Style::kFields);
    }
  }
  return copy;
}

bool EventSet::tracing_on() const { return state_->tracing; }
void EventSet::start_tracing() { state_->tracing = true; }
void EventSet::stop_tracing() { state_->tracing = false; }

TraceCopy EventSet::copy_trace() const { return state_->copy(state_->trace); }
void EventSet::clear_trace() { state_->trace.clear(); }

TraceCopy EventSet::copy_snapshot() const {
  if (!state_->snapshot) return TraceCopy(std::string(kNoSnapshot));
  return state_->copy(*state_->snapshot);
}
void EventSet::take_snapshot() { state_->take_snapshot(); }
void EventSet::clear_snapshot() { state_->snapshot.reset(); }

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
    if (event.defined && event.enabled != was) enable(event, was ? "1" : "0");
  }
}

Demand EventSet::State::demand(const DefinedEvent& event) const {
  Demand demand;
  if (!event.is_listed() || event.is_synthetic()) return demand;
  const bool traced = event.enabled || event.waiting > 0;
  std::vector<std::string_view> filters;
  if (traced) filters.push_back(event.filter_text);
  for (const auto& trigger : event.triggers) {
    filters.push_back(trigger->filter_text);
    demand.stack |= trigger->kind == TriggerKind::kStacktrace;
    if (!trigger->plan) continue;
    demand.stack |= trigger->plan->needs_stack;
    demand.comm |= trigger->plan->needs_comm;
  }
  demand.on = !filters.empty();
  const bool common = demand.on && std::ranges::count(filters, filters.front()) ==
                                       static_cast<std::ptrdiff_t>(filters.size());
  if (common) demand.filter = filters.front();
  return demand;
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

}  // namespace tally
