// The events that a trigger command may name: all, or those of programs and synthetic ones alone,
// for a member of --write-group. Confined to the EventSet's lock.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "core/tracing/command/trigger_command.h"
#include "core/tracing/set/event_table.h"

namespace tallyfs::tracing {

class NamedEvents {
 public:
  enum class Scope { kAll, kOfPrograms };

  explicit NamedEvents(const EventTable& events) : events_(events) {}

  // nullopt: there is none of that name in the scope.
  std::optional<EventNumber> find(std::string_view system, std::string_view name) const {
    const auto number = events_.find(system, name);
    return number && hides(events_.at(*number)) ? std::nullopt : number;
  }
  // Whether an event that the command names is out of its scope, which is noted.
  bool hides(const DefinedEvent& event) const {
    if (scope_ == Scope::kAll || event.is_of_a_program()) return false;
    has_hidden_ = true;
    return true;
  }
  // Whether the command, or a line that a trigger shows, names an event that is out of the scope,
  // which is noted: enable_event:ftrace:print, hist:keys=pid:l=lat-ftrace.print.$ts. The name of a
  // histogram and the texts of a filter name no event.
  bool hides_one_of(const TriggerCommand& command) const;
  // The scope of the commands that follow.
  void begin(Scope scope) {
    scope_ = scope;
    has_hidden_ = false;
  }
  // Whether the command has named one out of its scope.
  bool has_hidden() const { return has_hidden_; }

 private:
  bool hides(std::string_view system, std::string_view name) const;
  bool hides_one_of_part(std::string_view part) const;

  const EventTable& events_;
  Scope scope_ = Scope::kAll;
  mutable bool has_hidden_ = false;
};

}  // namespace tallyfs::tracing
