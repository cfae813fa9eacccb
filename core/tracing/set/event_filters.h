// The filters of what is traced: `filter` of an event and of a system.
// Confined to the EventSet's lock; what is copied is a value.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/tracing/set/event_table.h"

namespace tallyfs::tracing {

// The content of a file `filter` of an event.
struct FilterState {
  std::string filter;  // empty: none
  std::string error;   // shown instead of the filter

  // "none\n", or the filter, or the error of the last one.
  std::string text() const;
};

class EventFilters {
 public:
  explicit EventFilters(EventTable& events) : events_(events) {}

  FilterState state(EventNumber event) const;
  // "0" removes the filter.
  Result<void> write(EventNumber event, std::string_view text);

  // The last filter that was written for the system; empty: none.
  std::string of_system(std::string_view system) const;
  using BySystem = std::map<std::string, std::string, std::less<>>;
  const BySystem& by_system() const { return by_system_; }
  // Sets the text that of_system() returns; the events have their filters already. Does nothing if
  // the system has no events.
  void restore(std::string_view system, std::string_view text);
  static std::string system_text(const std::string& filter);
  // Sets the filter on all events of the system that have its fields.
  Result<void> write(std::string_view system, std::string_view text);

 private:
  static Checked<void> set(DefinedEvent& event, std::string_view text);

  EventTable& events_;
  // Only of systems that exist, so there are no more of them than events.
  BySystem by_system_;
};

// The refusal of a filter that does not compile.
Error bad_filter(std::string_view filter, const EventFormat& format);

}  // namespace tallyfs::tracing
