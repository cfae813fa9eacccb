// The events of an EventSet, by number and by name, with their formats.
// Confined to the EventSet's lock. Events keep their place in memory as long as the table exists.
// Limits: events_max events.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/tracing/set/defined_event.h"
#include "core/tracing/set/event_ids.h"
#include "core/tracing/set/event_list.h"

namespace tallyfs::tracing {

// A kernel's format, read once for the tables of all instances, which share it.
struct SharedFormat {
  std::shared_ptr<const EventFormat> format;
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const Wording> wording;

  // kInvalid: no format.
  static Result<SharedFormat> parse(std::string_view text);
};

class EventTable {
 public:
  // Views that last until an event is defined or removed.
  struct EventName {
    EventNumber number;
    std::string_view system;
    std::string_view name;
  };

  // ids: shared by the tables of all instances, which give an event the same id; nullptr: this one
  // has ids of its own.
  explicit EventTable(std::size_t events_max, std::shared_ptr<EventIds> ids = nullptr)
      : events_max_(events_max), ids_(ids ? std::move(ids) : std::make_shared<EventIds>()) {}

  // --- Definitions. A system is 1 to 64 letters, digits or '_', and not `synthetic`.
  // kInvalid: no format; kNoSpace; kExists: defined otherwise, and in use (else it is redefined,
  // and keeps its number).
  Result<EventNumber> define_event(std::string_view system, std::string_view format);
  Result<EventNumber> define_event(std::string_view system, const SharedFormat& format);
  // A user's event, in the grammar of synthetic events: `lat u64 lat; pid_t pid`. Records are laid
  // out as format() says. kInvalid, kNoSpace, kExists likewise.
  Result<EventNumber> define_fields(std::string_view system, std::string_view definition);
  // An event without a source, as the kernel's own ftrace/print: it cannot be enabled, is in no
  // list of events, and its records are always traced. As define_event() otherwise.
  Result<EventNumber> define_built_in(std::string_view system, std::string_view format);
  // An event of any system. command: the text that a refusal repeats.
  Result<EventNumber> define(std::string_view system,
                             std::shared_ptr<const FieldsDefinition> fields,
                             std::string_view command);
  // kBusy: it has triggers, is enabled or referenced. Its number may be used again. Until then
  // writes for it are refused with kNotFound, and its texts are empty.
  Result<void> remove(EventNumber event);

  // --- Look-up.
  std::optional<EventNumber> find(std::string_view system, std::string_view name) const;
  // All events, or those of a system, by system and name.
  std::vector<EventName> names() const;
  std::vector<EventName> names(std::string_view system) const;
  // The events that a person may enable, by system and name. All callers share one list until the
  // next definition or removal.
  std::shared_ptr<const EventList> listed();
  bool has_system(std::string_view system) const;
  EventName name(EventNumber event) const;
  std::string full_name(EventNumber event) const;  // "sched:sched_switch"
  const EventFormat& format(EventNumber event) const { return *at(event).format; }
  std::shared_ptr<const std::string> format_text(EventNumber event) const {
    return at(event).format_text;
  }
  SharedFormat shared_format(EventNumber event) const {
    return {at(event).format, at(event).format_text, at(event).wording};
  }
  // nullptr: it was not defined by its fields.
  std::shared_ptr<const FieldsDefinition> fields(EventNumber event) const {
    return at(event).fields;
  }
  bool is_built_in(EventNumber event) const { return at(event).built_in; }
  bool is_of_a_program(EventNumber event) const { return at(event).is_of_a_program(); }
  bool in_use(EventNumber event) const { return at(event).in_use(); }

  // --- For the other parts of the EventSet: every entry, free ones included.
  EventNumber size() const { return static_cast<EventNumber>(entries_.size()); }
  DefinedEvent& at(EventNumber number) { return *entries_[number]; }
  const DefinedEvent& at(EventNumber number) const { return *entries_[number]; }
  const std::vector<std::unique_ptr<DefinedEvent>>& entries() const { return entries_; }

 private:
  Result<EventNumber> define(std::string_view system, const SharedFormat& format);
  EventNumber take_entry();

  const std::size_t events_max_;
  const std::shared_ptr<EventIds> ids_;  // the last table frees it
  std::vector<std::unique_ptr<DefinedEvent>> entries_;
  std::map<std::pair<std::string, std::string>, EventNumber, std::less<>> by_name_;
  std::vector<EventNumber> free_;            // entries of events that were removed
  std::shared_ptr<const EventList> listed_;  // nullptr: it has to be made again
};

// The refusal of a write into a file that is still open when its event is gone.
Error event_gone(std::string_view command);

}  // namespace tallyfs::tracing
