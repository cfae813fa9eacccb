// What is behind EventSet; its parts are in event_set_*.cpp, each for the files it serves.
// Confined to the EventSet's lock. Events and triggers keep their places in memory as long as they
// exist.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/event/filter/filter.h"
#include "core/event/format/synthetic.h"
#include "core/event/hist/hist_compiler.h"
#include "core/event/print/print_format.h"
#include "core/event/set/event_set.h"
#include "core/event/set/trigger.h"
#include "core/event/trace/trace_buffer.h"

namespace tallyfs {

inline constexpr std::string_view kSyntheticSystem = "synthetic";

// An event, or the free place of one.
struct DefinedEvent {
  bool defined = false;
  bool built_in = false;
  std::string system;
  EventFormat format;
  std::string format_text;
  std::optional<FieldsDefinition> fields;  // of user events and synthetic ones
  // How the kernel words it, looked for when it is first shown; shared with copies that are being
  // rendered. nullptr: nobody knows.
  std::shared_ptr<const PrintFormat> print;
  bool is_print_known = false;
  std::uint32_t fixed_bytes = 0;
  std::uint32_t generation = 0;  // how often the place was used
  bool enabled = false;          // by a person
  std::uint32_t waiting = 0;     // enable_event and disable_event triggers of others
  bool soft_enabled = false;     // what those made of it
  std::uint32_t referrers = 0;   // actions that trace it
  std::string filter_text;
  std::string filter_error;  // what the filter file shows instead
  std::optional<Filter> filter;
  std::vector<std::unique_ptr<Trigger>> triggers;  // newest first
  Demand told;                                     // what take_changed_demands() saw last

  bool is_synthetic() const { return system == kSyntheticSystem; }
  // Among those that there are for people to enable.
  bool is_listed() const { return defined && !built_in; }
  // Its records are traced, or will be when a trigger says so.
  bool is_traced() const { return enabled || waiting > 0; }
  bool is_on() const { return built_in || (waiting > 0 ? soft_enabled : enabled); }
  bool in_use() const { return enabled || waiting > 0 || referrers > 0 || !triggers.empty(); }
};

struct EventSet::State final : public HistCatalog {
  explicit State(const Limits& given);

  // --- event_set.cpp
  Result<EventNumber> define(std::string_view system, EventFormat format, std::string format_text);
  Result<EventNumber> define(std::string_view system, FieldsDefinition fields,
                            std::string_view command);
  // Everything that is set on it goes, and what refers to that.
  void strip(EventNumber number);
  std::vector<std::pair<EventNumber, Trigger*>> with_referrers(EventNumber number) const;
  Result<void> remove(EventNumber number);
  std::optional<EventNumber> find(std::string_view system, std::string_view name) const;
  DefinedEvent& at(EventNumber number) { return *events[number]; }
  const DefinedEvent& at(EventNumber number) const { return *events[number]; }
  std::string full_name(EventNumber number) const;  // "sched:sched_switch"

  // --- event_set_files.cpp
  Checked<void> set_filter(DefinedEvent& event, std::string_view text);
  Demand demand(const DefinedEvent& event) const;
  // What its filters, triggers and readers need of a record, and those of the synthetic events that
  // it causes. seen: whose needs are in it already.
  void add_needs(const DefinedEvent& event, Demand& demand,
                 std::vector<const DefinedEvent*>& seen) const;
  TraceCopy copy(TraceBuffer records) const;
  static std::shared_ptr<const PrintFormat> print_format(DefinedEvent& event);

  // --- event_set_synthetic.cpp
  Result<void> write_synthetic(std::string_view text);
  Result<void> write_dynamic(std::string_view text);
  Result<void> add_synthetic(std::string_view definition, std::string_view command);
  Result<void> remove_synthetic(std::string_view name, std::string_view command);

  // --- event_set_triggers.cpp
  Result<void> write_trigger(EventNumber number, std::string_view text);
  Checked<void> write_other(EventNumber number, const TriggerCommand& command);
  Result<void> remove_trigger(EventNumber number, const TriggerCommand& command);
  Checked<void> remove_other(EventNumber number, const TriggerCommand& command);
  Checked<void> find_target(std::string_view& parameters, Trigger& trigger) const;
  Checked<void> parse_other(const TriggerCommand& command, Trigger& trigger) const;
  Checked<void> compile_filter(const DefinedEvent& event, std::string_view text,
                               Trigger& trigger) const;
  void remove_trigger(Trigger& trigger);
  static bool is_referenced(const Trigger& trigger);

  // --- event_set_hist.cpp
  Checked<void> write_hist(EventNumber number, const TriggerCommand& command);
  Trigger* find_same(const DefinedEvent& event, const HistPlan& plan, std::string_view name,
                     std::string_view filter) const;
  Trigger* find_named(std::string_view name) const;
  Checked<void> remove_hist(Trigger* same);
  Checked<void> change_hist(Trigger& same, const HistCommand& command);
  Checked<void> add_hist(DefinedEvent& event, HistCompiler& compiler, const HistCommand& command,
                         std::unique_ptr<Trigger> trigger);
  void refer(const HistPlan& plan, int change);
  void drop_hidden(const Trigger* owner);
  std::size_t hist_bytes() const;

  bool has_event(std::string_view system, std::string_view event) const override;
  std::vector<Variable> variables(std::string_view system, std::string_view event,
                                  std::string_view name) const override;
  std::optional<Synthetic> synthetic(std::string_view name) const override;
  Checked<Variable> field_variable(std::string_view system, std::string_view event,
                                   std::string_view field, const HistPlan& like) override;

  // --- event_set_feed.cpp
  void feed(const EventRecord& record, std::size_t depth);
  // As set_event_pid and tracing_cpumask have it.
  bool is_traced(const EventRecord& record) const;
  void act(Trigger& trigger, const EventRecord& record, std::size_t depth);
  void run_actions(const Trigger& trigger, const EventRecord& record, std::size_t depth);
  void run_action(const Action& action, const Trigger& trigger, const EventRecord& record,
                  std::size_t depth);
  void trace_synthetic(const Action& action, const EventRecord& record, std::size_t depth);
  void take_snapshot();
  void make_snapshot();  // an empty one, if there is none

  // What one depth of synthetic events within synthetic events works with.
  struct Level {
    HistUpdate update;
    std::string bytes;
  };

  const Limits limits;
  Counts counts;
  std::vector<std::unique_ptr<DefinedEvent>> events;
  std::map<std::pair<std::string, std::string>, EventNumber, std::less<>> by_name;
  std::vector<EventNumber> free;  // places of events that were removed
  std::vector<Level> levels;
  std::size_t trigger_count = 0;
  const Trigger* owner_in_making = nullptr;  // of hidden histograms
  bool tracing = true;
  std::map<std::string, std::string, std::less<>> system_filters;  // as last written
  std::vector<std::int32_t> pids,
      notrace_pids;                 // of set_event_pid, set_event_notrace_pid, in order
  std::vector<bool> left_out_cpus;  // of tracing_cpumask; beyond: none is
  TraceBuffer trace;
  std::optional<TraceBuffer> snapshot;
  std::uint16_t next_id = 0;
};

// Trims white space on both sides.
std::string_view without_blanks(std::string_view text);
// Of a file that is still open when its event is gone.
Error gone(std::string_view command);
// The Error of a write to a file that is the location.
Error refused(const Fault& fault, std::string_view location, std::string_view command);

}  // namespace tallyfs
