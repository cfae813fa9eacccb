// An event of an EventSet: its definition, and the switches, filters and triggers that are set on
// it. The parts of the EventSet share these entries; each part says which members it changes.
// Confined to the EventSet's lock. What is behind a shared_ptr is immutable and shared with copies
// that are being rendered; the last of these frees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/demand.h"
#include "core/tracing/filter/filter.h"
#include "core/tracing/format/synthetic.h"
#include "core/tracing/print/wording.h"
#include "core/tracing/set/trigger.h"

namespace tallyfs::tracing {

inline constexpr std::string_view kSyntheticSystem = "synthetic";

// For free entries: empty, and shared by all of them.
std::shared_ptr<const EventFormat> no_format();
std::shared_ptr<const std::string> no_text();

// How the records of an event change the lists of processes, see PidFollower. Each offset is that
// of a process id in a record, in bytes.
struct Follows {
  enum class What { kFork, kExit };
  What what = What::kFork;
  std::uint32_t parent_at = 0;
  std::uint32_t subject_at = 0;  // the child, or the process that ends
};

struct DefinedEvent {
  // --- EventTable
  bool defined = false;  // else the entry is free
  bool built_in = false;
  std::string system;
  std::shared_ptr<const EventFormat> format = no_format();  // never nullptr
  std::shared_ptr<const std::string> format_text = no_text();
  std::shared_ptr<const Wording> wording;  // the kernel's, if this is an event of the kernel
  std::shared_ptr<const FieldsDefinition> fields;  // of user events and synthetic events
  std::shared_ptr<const std::uint16_t> own_id;     // of the same events; reserves it in EventIds
  std::uint32_t fixed_bytes = 0;  // the least size of a record: the end of its last field
  // The offset of the process that is switched to or woken, which is not the one that runs.
  std::optional<std::uint32_t> subject_at;
  std::uint32_t generation = 0;  // how often the entry was used

  // --- EventSwitches
  bool enabled = false;       // by a person
  bool soft_enabled = false;  // as enable_event and disable_event triggers have set it

  // --- EventFilters
  std::string filter_text;
  std::string filter_error;  // shown by the filter file instead
  std::optional<Filter> filter;

  // --- TriggerStore
  std::uint32_t waiting = 0;  // enable_event and disable_event triggers of other events
  std::uint32_t referrers =
      0;  // triggers of other events that name this one, actions that trace it
  std::vector<std::unique_ptr<Trigger>> triggers;  // newest first

  // --- PidFollower
  std::optional<Follows> follows;

  // --- Demands
  Demand told;  // the demand at the last take_changed()

  // True for user events and synthetic events, false for the kernel's.
  bool is_of_a_program() const { return fields != nullptr; }
  bool is_synthetic() const { return system == kSyntheticSystem; }
  // True if a person may enable the event.
  bool is_listed() const { return defined && !built_in; }
  // True if its records are traced, or will be once a trigger switches it on.
  bool is_traced() const { return enabled || waiting > 0; }
  bool is_on() const { return built_in || (waiting > 0 ? soft_enabled : enabled); }
  bool in_use() const {
    return enabled || waiting > 0 || referrers > 0 || !triggers.empty() || follows.has_value();
  }
  void enable(bool on) { enabled = soft_enabled = on; }
};

}  // namespace tallyfs::tracing
