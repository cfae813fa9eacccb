// Carries out the commands of events/SYSTEM/EVENT/trigger of all kinds, those of histograms by a
// HistRegistry. Confined to the EventSet's lock.
#pragma once

#include <string_view>

#include "core/tracing/command/trigger_command.h"
#include "core/tracing/set/hist_registry.h"

namespace tallyfs::tracing {

class TriggerCommands {
 public:
  TriggerCommands(EventTable& events, NamedEvents& named, TriggerStore& triggers,
                  HistRegistry& hists, TraceStore& trace)
      : events_(events), named_(named), triggers_(triggers), hists_(hists), trace_(trace) {}

  // text: one command, which a leading '!' makes a removal; white space around it is ignored.
  // kNotPermitted: the command is for an event outside the scope, or names one.
  Result<void> write(EventNumber event, std::string_view text,
                     NamedEvents::Scope scope = NamedEvents::Scope::kAll);
  // O_TRUNC: removes all triggers of the event, except those that name an event outside the scope.
  void truncate(EventNumber event, NamedEvents::Scope scope);
  // Sets a saved trigger again, with its hidden histograms, but without entries of histograms. It
  // fails as its command would; then nothing is set.
  Checked<Trigger*> restore(const SavedTrigger& saved);

 private:
  Result<void> carry_out(EventNumber event, const TriggerCommand& command);
  Result<void> remove(EventNumber event, const TriggerCommand& command);
  Trigger* find_shown(EventNumber event, TriggerKind kind, std::string_view shown) const;
  Checked<Trigger*> restore_one(const SavedTrigger& saved);
  // serial: see TriggerStore::add().
  Checked<Trigger*> add_other(EventNumber event, const TriggerCommand& command,
                              std::uint64_t serial = 0);
  Checked<void> remove_other(EventNumber event, const TriggerCommand& command);
  Checked<void> find_target(std::string_view& parameters, Trigger& trigger) const;
  Checked<void> parse_other(const TriggerCommand& command, Trigger& trigger) const;

  EventTable& events_;
  NamedEvents& named_;
  TriggerStore& triggers_;
  HistRegistry& hists_;
  TraceStore& trace_;
};

}  // namespace tallyfs::tracing
