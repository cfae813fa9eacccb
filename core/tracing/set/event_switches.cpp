#include "core/tracing/set/event_switches.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

Error not_zero_or_one(std::string location, std::string_view text) {
  return Fault{fault::kZeroOrOne}.in(std::move(location), std::string(text));
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

// Whether `SYS:EVENT`, `SYS:`, `SYS` or `EVENT`, with globs, means the event.
bool names(std::string_view pattern, const DefinedEvent& event) {
  const std::size_t colon = pattern.find(':');
  if (colon == pattern.npos) {
    return glob_matches(pattern, event.system) || glob_matches(pattern, event.format->name);
  }
  const std::string_view name = pattern.substr(colon + 1);
  return glob_matches(pattern.substr(0, colon), event.system) &&
         (name.empty() || glob_matches(name, event.format->name));
}

}  // namespace

std::string EnableState::text() const {
  return std::string(on && off ? "X" : on ? "1" : "0") + (waits ? "*\n" : "\n");
}

EnableState EventSwitches::state(EventNumber number) const {
  const DefinedEvent& event = events_.at(number);
  return {.on = event.is_on(), .off = !event.is_on(), .waits = event.waiting > 0};
}

EnableState EventSwitches::state(std::string_view system) const {
  EnableState state;
  for (const auto& event : events_.entries()) {
    if (!event->is_listed() || (!system.empty() && event->system != system)) continue;
    (event->is_on() ? state.on : state.off) = true;
    state.waits |= event->waiting > 0;
  }
  return state;
}

Result<void> EventSwitches::write(EventNumber event, std::string_view text) {
  text = trimmed(text);
  if (!events_.at(event).is_listed()) return event_gone(text);
  const auto on = parse_switch(text);
  if (!on) return not_zero_or_one("enable:" + events_.full_name(event), text);
  events_.at(event).enable(*on);
  return {};
}

Result<void> EventSwitches::write(std::string_view system, std::string_view text) {
  text = trimmed(text);
  const auto on = parse_switch(text);
  if (!on) {
    std::string location = "enable";
    if (!system.empty()) location.append(":").append(system);
    return not_zero_or_one(std::move(location), text);
  }
  for (const auto& event : events_.entries()) {
    if (event->is_listed() && (system.empty() || event->system == system)) event->enable(*on);
  }
  return {};
}

ChosenEvents EventSwitches::chosen() const {
  ChosenEvents chosen{.list = events_.listed(), .chosen = {}};
  chosen.chosen.reserve(chosen.list->size());
  for (const ListedEvent& event : *chosen.list) {
    chosen.chosen.push_back(events_.at(event.number).is_on());
  }
  return chosen;
}

Result<void> EventSwitches::write_set_event(std::string_view text) {
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    const bool off = token->text.starts_with('!');
    const std::string_view pattern = off ? token->text.substr(1) : token->text;
    bool found = false;
    for (const auto& event : events_.entries()) {
      if (!event->is_listed() || !names(pattern, *event)) continue;
      event->enable(!off);
      found = true;
    }
    if (found) continue;
    return Fault{fault::kNoSuchEvent, std::string(token->text)}.in("set_event", std::string(text));
  }
  return {};
}

void EventSwitches::truncate_set_event() {
  for (const auto& event : events_.entries()) event->enable(false);
}

std::vector<EventNumber> EventSwitches::enabled() const {
  std::vector<EventNumber> enabled;
  for (EventNumber number = 0; number < events_.size(); ++number) {
    if (events_.at(number).enabled) enabled.push_back(number);
  }
  return enabled;
}

void EventSwitches::restore(const std::vector<EventNumber>& events) {
  for (EventNumber number = 0; number < events_.size(); ++number) {
    DefinedEvent& event = events_.at(number);
    const bool was = std::ranges::binary_search(events, number);
    if (event.defined && event.enabled != was) event.enable(was);
  }
}

}  // namespace tallyfs::tracing
