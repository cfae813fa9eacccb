#include "core/tracing/set/event_filters.h"

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

constexpr char kFilterLocation[] = "event filter parse error";
constexpr std::string_view kNoSystemFilter =
    "### global filter ###\n"
    "# Use this to set filters for multiple events.\n"
    "# Only events with the given fields will be affected.\n"
    "# If no events are modified, an error message will be displayed here\n";

}  // namespace

Error bad_filter(std::string_view filter, const EventFormat& format) {
  const auto compiled = Filter::compile(filter, format);
  return compiled.error().in(kFilterLocation, std::string(filter));
}

std::string FilterState::text() const {
  if (!error.empty()) return error;
  return (filter.empty() ? "none" : filter) + "\n";
}

Checked<void> EventFilters::set(DefinedEvent& event, std::string_view text) {
  event.filter.reset();
  event.filter_text.clear();
  event.filter_error.clear();
  if (text == "0") return {};
  auto filter = Filter::compile(text, *event.format);
  if (!filter) {
    event.filter_error = std::string(text) + "\n" + std::string(filter.error().at, ' ') +
                         "^\nparse_error: " + std::string(filter.error().reason) + "\n\n";
    return filter.error();
  }
  event.filter = std::move(filter.value());
  event.filter_text = text;
  return {};
}

FilterState EventFilters::state(EventNumber number) const {
  const DefinedEvent& event = events_.at(number);
  return {.filter = event.filter_text, .error = event.filter_error};
}

Result<void> EventFilters::write(EventNumber number, std::string_view text) {
  text = trimmed(text);
  DefinedEvent& event = events_.at(number);
  if (!event.defined) return event_gone(text);
  if (set(event, text)) return {};
  return bad_filter(text, *event.format);
}

Result<void> EventFilters::write(std::string_view system, std::string_view text) {
  text = trimmed(text);
  bool taken = false;
  for (const auto& event : events_.entries()) {
    if (!event->defined || event->system != system) continue;
    if (text != "0" && !Filter::compile(text, *event->format)) continue;
    taken = set(*event, text).has_value() || taken;
  }
  if (taken) {
    by_system_[std::string(system)] = text == "0" ? "" : text;
    return {};
  }
  return Fault{fault::kBadSystemFilter}.in(kFilterLocation, std::string(text));
}

void EventFilters::restore(std::string_view system, std::string_view text) {
  if (events_.has_system(system)) by_system_[std::string(system)] = text;
}

std::string EventFilters::of_system(std::string_view system) const {
  const auto found = by_system_.find(system);
  return found == by_system_.end() ? std::string() : found->second;
}

std::string EventFilters::system_text(const std::string& filter) {
  return filter.empty() ? std::string(kNoSystemFilter) : filter + "\n";
}

}  // namespace tallyfs::tracing
