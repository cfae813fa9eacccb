// The synthetic events of an EventSet: synthetic_events and dynamic_events.
// Confined to the EventSet's lock; a copy is a list of immutable definitions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/set/event_table.h"

namespace tallyfs::tracing {

// Whether a line of dynamic_events is `p:NAME PLACE` or the like: a definition of a probe.
bool is_probe_definition(std::string_view command);

class SyntheticEvents {
 public:
  using Definitions = std::vector<std::shared_ptr<const FieldsDefinition>>;

  explicit SyntheticEvents(EventTable& events) : events_(events) {}

  Definitions definitions() const;
  // The text of synthetic_events and of dynamic_events.
  static std::string text(const Definitions& definitions);
  static std::string dynamic_text(const Definitions& definitions);

  // Takes lines of synthetic_events: `NAME FIELDS`, `!NAME`; and of dynamic_events.
  Result<void> write(std::string_view line);
  Result<void> write_dynamic(std::string_view line);
  // Adds the event as write() of its definition's text would.
  Result<void> add(std::shared_ptr<const FieldsDefinition> fields, std::string_view command);
  // O_TRUNC: removes all events. kBusy if one is in use; then no event is removed.
  Result<void> truncate();
  // Whether the event of that name is in use; "*": whether any is.
  bool is_used(std::string_view name) const;

 private:
  Result<void> parse_and_add(std::string_view definition, std::string_view command);
  Result<void> remove(std::string_view name, std::string_view command);

  EventTable& events_;
};

}  // namespace tallyfs::tracing
