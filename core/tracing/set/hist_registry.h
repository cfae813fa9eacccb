// The histograms of an EventSet: hist commands, and the parts of other histograms that a command
// may use: named histograms, variables, hidden histograms.
// Confined to the EventSet's lock; HistCopy is a value that any thread may render.
// Limits: hist_bytes_max bytes that all histograms may grow to.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/tracing/command/trigger_command.h"
#include "core/tracing/hist/hist_compiler.h"
#include "core/tracing/hist/hist_copy.h"
#include "core/tracing/set/named_events.h"
#include "core/tracing/set/trace_store.h"
#include "core/tracing/set/trigger_store.h"

namespace tallyfs::tracing {

class HistRegistry final : private HistCatalog {
 public:
  HistRegistry(EventTable& events, const NamedEvents& named, TriggerStore& triggers,
               TraceStore& trace, std::size_t hist_bytes_max)
      : events_(events),
        named_(named),
        triggers_(triggers),
        trace_(trace),
        hist_bytes_max_(hist_bytes_max) {}

  // A hist command for the event's trigger file.
  Checked<void> write(EventNumber event, const TriggerCommand& command);
  // Sets a saved trigger as write() does, without entries. Hidden histograms are triggers like
  // others here.
  Checked<Trigger*> restore(EventNumber event, const SavedTrigger& saved);
  // nullptr: there is nothing to remove. kBusy: its variables are referenced.
  Checked<void> remove(Trigger* trigger);

  HistCopy copy(EventNumber event) const;       // empty without a histogram
  std::uint64_t hits(EventNumber event) const;  // changes whenever the copy does: for poll()
  // The bytes that all defined histograms may grow to.
  std::size_t bytes() const;

 private:
  Trigger* find_same(const DefinedEvent& event, const HistPlan& plan, std::string_view name,
                     std::string_view filter) const;
  Trigger* find_named(std::string_view name) const;
  static void change(Trigger& same, const HistCommand& command);
  // saved: nullptr for a command that was written now.
  Checked<Trigger*> set(EventNumber event, const TriggerCommand& command, const HistCommand& hist,
                        const SavedTrigger* saved);
  Checked<Trigger*> add(HistCompiler& compiler, const HistCommand& command,
                        std::unique_ptr<Trigger> trigger, const SavedTrigger* saved);
  Checked<void> compile_actions(HistCompiler& compiler, const Trigger& trigger);
  void set_table(Trigger& trigger, const Trigger* named, const HistPlan& plan,
                 std::uint64_t expiry_ns);

  bool has_event(std::string_view system, std::string_view event) const override;
  std::vector<Variable> variables(std::string_view system, std::string_view event,
                                  std::string_view name) const override;
  std::optional<Synthetic> synthetic(std::string_view name) const override;
  Checked<Variable> field_variable(std::string_view system, std::string_view event,
                                   std::string_view field, const HistPlan& like) override;

  EventTable& events_;
  const NamedEvents& named_;
  TriggerStore& triggers_;
  TraceStore& trace_;
  const std::size_t hist_bytes_max_;
  const Trigger* owner_in_making_ = nullptr;  // of hidden histograms
};

// Compiles the filter of a trigger; an empty text means no filter.
Checked<void> compile_filter(const DefinedEvent& event, std::string_view text, Trigger& trigger);

}  // namespace tallyfs::tracing
